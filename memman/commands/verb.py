"""What makes a verb of a function: its options, who may run it, and how what it returns is printed."""

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, ParamSpec, TypeVar

import click

from memman.config.places import kept_still
from memman.hot.grammar import EVERYWHERE, apply_global_options
from memman.model.verbs import AGENT_VERBS, ALLOWED, ASKED, LOOKING, PERSONS

if TYPE_CHECKING:
    from memman.commands.place import Place


# The command -> words that are no verbs of memman's.
_MEANT = {
    'recall "…"': "search find query ask lookup grep get",
    'remember "…"': "add save note learn put new create insert write",
    "forget ID": "delete del rm remove drop retire",
    "forget --undo ID": "unforget",
    "purge ID": "erase wipe",
    'replace ID "…"': "edit update change correct modify",
    "list": "ls memories facts notes all",
    "list --around ID": "timeline",
    "insights archive --least": "gc",
    "show ID": "cat view why history versions changes",
    'show --query "…"': "explain",
    "log learned": "learned",
    "log diff": "diff",
    "log sessions": "sessions",
    "log cost": "cost",
    "insights protect ID": "protect pin keep",
    "insights reinstate ID": "reinstate revert rollback",
    "install": "setup init enable wire hooks",
    "uninstall": "disable unwire",
    "status": "stats info stat state",
    "log worker": "logs",
    "lint": "audit quality",
    "doctor": "check health diagnose verify",
    "insights verify ID": "confirm renew",
    "config show": "settings configure env keys",
    "config set KEY VALUE": "set",
    "store list": "stores",
    "store use NAME": "use switch",
    "backup create": "dump snapshot",
    "backup restore ID": "restore",
    "scheduler drain": "drain run process flush",
    "scheduler start": "start resume",
    "scheduler stop": "stop pause",
    "scheduler serve": "serve daemon worker",
    "scheduler queue list": "queue pending",
    "scheduler queue retry --all": "retry",
    "scan --fix": "redact",
    "graph related ID": "related links edges",
}
# Verb of no group -> what groups call it.
_USUAL = {"delete": "remove", "rm": "remove", "ls": "list", "add": "create", "new": "create", "info": "show"}

MEANT = {word: command for command, words in _MEANT.items() for word in words.split()}

# What is looked for in another group than where it is.
_ELSEWHERE = {
    "insights review": "review list",
    "insights forget": "forget ID",
    "insights history": "show ID",
    "graph about": "list --about NAME",
    "review show": "show ID",
}


def meant(word: str, verbs: list[str], group: str = "") -> str:
    """Return the command that does what a word stands for, '' where nobody can tell. `group` is where it was asked."""
    if not group:
        return MEANT.get(word, "")
    if there := _ELSEWHERE.get(f"{group} {word}"):
        return there
    verb = _USUAL.get(word, "")
    return f"{group} {verb}" if verb in verbs else ""


_STORE = "memman.store"
P = ParamSpec("P")
R = TypeVar("R")


def said_store() -> str | None:
    """Return the store named on the command line, before or after the verb."""
    name: str | None = click.get_current_context().meta.get(_STORE)
    return name


def place() -> "Place":
    """Return the store that the command means."""
    from memman.commands.place import chosen
    from memman.hot.provenance import agent, session

    return chosen(said_store(), agent(), session())


def _say(ctx: click.Context, _: click.Parameter, name: str | None) -> None:
    if name is not None:
        ctx.meta[_STORE] = name


store_option = click.option(
    "--store",
    metavar="NAME",
    expose_value=False,
    callback=_say,
    help="Store to use.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
ids_argument = click.argument("ids", nargs=-1, required=True, metavar="ID...")
limit_option = click.option(
    "--limit", type=click.IntRange(1, 100_000), default=20, show_default=True, help="Maximum number of rows."
)

scope_option = click.option(
    "--scope", metavar="SCOPE", help="Show only this scope: here, personal, repository, path:FOLDER, a name, or all."
)


class Command(click.Command):
    """A command that is refused to an agent where it is a person's, and with --readonly where it writes."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run it."""
        admit(_path(ctx), ctx.params)
        return super().invoke(ctx)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return its options, with those that every verb has."""
        own = super().get_params(ctx)
        return own if any(param.name == "data_dir" for param in own) else [*own, *everywhere(hidden=True)]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Say in its help when it asks."""
        when = ASKED.get(_path(ctx))
        if when is not None:
            self.epilog = f"Asks for confirmation at the terminal{when and ', ' + when}."
        super().format_epilog(ctx, formatter)


class Told(NamedTuple):
    """What a verb says: a record, and what prints it."""

    record: Any
    show: Callable[[Any], object]


class Verb(Command, Generic[P, R]):
    """A command made of a function. Called, it is that function; run, it also asks before and prints what comes of it.

    `shows` prints what the function returns, unless --json is given. `asks` is called before it with the same values.
    `bar` is what a progress bar says, and what a person is told who interrupts it; the function is given `progress`.
    With `counts` it takes --limit, and a list that is longer says so; `counts` tells how many what it returns has.
    `none` is printed where it returns nothing. `code` makes the exit code of what it returns. A function without
    `shows` prints for itself and returns the code.
    With `store` the function's first value is the store that is meant, with `opened` that store opened to read. A
    function of several forms has `shows=Told`, and returns a `Told` each time.
    """

    def __init__(
        self,
        work: Callable[P, R],
        name: str,
        *,
        store: bool = True,
        opened: bool = False,
        shows: Callable[[Any], object] | None = None,
        asks: Callable[..., object] | None = None,
        bar: tuple[str, str] | None = None,
        counts: Callable[[Any], int] | None = None,
        none: str = "",
        code: Callable[[Any], int] | None = None,
        **more: Any,
    ) -> None:
        options = [
            *([limit_option] if counts else []),
            *([json_option] if shows else []),
            *([store_option] if store else []),
        ]
        for option in reversed(options):
            option(work)
        # click puts the options of a function here, the last first.
        params = work.__dict__.pop("__click_params__", [])[::-1]
        params.sort(key=lambda param: param.name in {"limit", "as_json", "store"})
        super().__init__(name, params=params, help=inspect.getdoc(work), **more)
        self.work, self.takes_store, self.opened, self.shows, self.asks, self.bar = (
            work,
            store,
            opened,
            shows,
            asks,
            bar,
        )
        self.counts, self.none, self.code = counts, none, code

    def __call__(self, *args: P.args, **given: P.kwargs) -> R:
        """Do the work, as nothing but a function."""
        return self.work(*args, **given)

    def invoke(self, ctx: click.Context) -> Any:
        """Run it from a command line."""
        admit(_path(ctx), ctx.params)
        given = dict(ctx.params)
        as_json = bool(self.shows and given.pop("as_json"))
        first = (place(),) if self.takes_store else ()
        if self.asks:
            self.asks(*first, **given)
        if self.opened:
            from memman.commands.place import opened

            with opened(*first) as store:
                record = self._done((store,), given)
        else:
            record = self._done(first, given)
        if self.shows:
            from memman.commands.printing import printed, text

            record, show = record if isinstance(record, Told) else (record, self.shows)
            if not printed(record, as_json=as_json):
                nothing = self.none and not (self.counts or len)(record)
                text(self.none) if nothing else show(record)
        if self.code:
            return self.code(record)
        return 0 if self.shows else record

    def _done(self, first: tuple[Any, ...], given: dict[str, Any]) -> Any:
        from memman.commands.printing import bar, listed

        work: Callable[..., Any] = self.work
        if self.counts:
            return listed(lambda most: work(*first, **given | {"limit": most}), given["limit"], self.counts)
        if not self.bar:
            return work(*first, **given)
        with bar(*self.bar) as progress:
            return work(*first, **given, progress=progress)


def verb(name: str = "", **how: Any) -> Callable[[Callable[P, R]], Verb[P, R]]:
    """Make a verb of a function and the click options that stand below; for what `how` may say see `Verb`."""
    return lambda work: Verb(work, name or work.__name__, **how)


class Group(click.Group):
    """A group of verbs whose mistakes are one line: the nearest verb is named, and a missing one is asked for."""

    command_class = Command

    def verb(self, name: str = "", **how: Any) -> Callable[[Callable[P, R]], Verb[P, R]]:
        """Make a verb of this group, as `verb` does."""

        def made(work: Callable[P, R]) -> Verb[P, R]:
            found = Verb(work, name or work.__name__, **how)
            self.add_command(found)
            return found

        return made

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the group's own options; without a verb, say which there are."""
        if not args and not ctx.resilient_parsing:
            ctx.fail(f"which one? {', '.join(self.list_commands(ctx))}")
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb that `args` begin with."""
        if self.get_command(ctx, args[0]) is None and not ctx.resilient_parsing:
            ctx.fail(_unknown(args[0], self.list_commands(ctx), _path(ctx)))
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's own signature
        """Return the verbs in the order they were written."""
        return list(self.commands)


def _path(ctx: click.Context) -> str:
    """Return the words of a command."""
    return ctx.command_path.partition(" ")[2]


def _unknown(word: str, verbs: list[str], group: str) -> str:
    from memman.config.command import runnable
    from memman.model.spelling import similar

    says = f"there is no verb {word[:40]!a}"
    if command := meant(word, verbs, group):
        return runnable(f"{says}; `memman {command}` does it")
    nearest = similar(word, verbs)
    return f"{says}; did you mean {nearest!r}?" if nearest else says


def admit(verb: str, given: dict[str, Any]) -> None:
    """Raise ReadOnly where a verb would write and nothing is to be written, ForPeople where an agent runs a person's.

    `given` are the values of its options and arguments.
    """
    special = any(given.get(name) for name in PERSONS.get(verb, ()))
    if kept_still() and (special or verb not in LOOKING):
        from memman.model.errors import ReadOnly

        raise ReadOnly(f"--readonly was given, and {verb} writes: nothing was done")
    if special or not (verb in AGENT_VERBS or verb in ALLOWED):
        from memman.commands.person import refuse_agents

        refuse_agents()


def everywhere(*, hidden: bool = False) -> list[click.Parameter]:
    """Make the options of every verb, --data-dir and --readonly."""
    return [
        click.Option(
            [flag],
            metavar=takes or None,
            is_flag=not takes,
            default=None,
            expose_value=False,
            is_eager=True,
            hidden=hidden,
            help=text,
            callback=_heard,
        )
        for flag, (_, takes, text) in EVERYWHERE.items()
    ]


def _heard(_ctx: click.Context, param: click.Parameter, value: str | bool | None) -> None:
    if value is not None and param.name:
        apply_global_options({param.name: value})
