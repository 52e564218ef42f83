"""`memman install` and `uninstall`: wire the agents, the launcher and the scheduler, or undo that; memories stay."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial

import click

from memman.commands.config import abbreviated
from memman.commands.person import asking, confirm, refuse_agents
from memman.commands.place import chosen as current
from memman.commands.place import standing
from memman.commands.printing import complain, printed, text
from memman.commands.verb import json_option, verb
from memman.config.command import launcher_path
from memman.config.env import NETWORK, Settings, change_all, shell_only
from memman.config.keys import KEYS
from memman.config.launcher import forget_others, in_cache, kept_path, lay, link, remove, stay
from memman.config.places import data_dir, make_private, refuse_shared
from memman.config.providers import AGENTS, AUTO, LLMS
from memman.config.stores import names
from memman.hot.prime import knows
from memman.integrations import codex, openclaw
from memman.integrations.clients import ALL, TARGETS, chosen, nanoclaw_root
from memman.integrations.installer import (
    InstallRecord,
    Step,
    Undo,
    entries,
    leave_folders,
    locked,
    plan,
    plan_undo,
    switched_off,
    undo,
    wire,
)
from memman.integrations.target import File, Target, Wiring
from memman.llm.agent.clients import CLIENTS, here, sentence
from memman.llm.agent.process import find
from memman.model.errors import BadConfig, MemmanError
from memman.providers.chosen import outdated
from memman.scheduler import control

_SANDBOX = """\
Allow commands in Codex's sandbox to write to {}? Without it, notes that the agent makes itself are refused in
`workspace-write`, and turns are captured all the same. With it, what runs there can change memman's settings and
launcher too"""
target_option = click.option(
    "--target",
    "names",
    multiple=True,
    type=click.Choice([*TARGETS, ALL]),
    help="One agent; may be repeated. Default: all agents found on this machine.",
)
dry_option = click.option("--dry-run", is_flag=True, help="Print what would be done, and change nothing.")


@verb(store=False)
@target_option
@dry_option
@click.option("--no-wizard", is_flag=True, help="Do not ask for a provider or for access, even on a terminal.")
@click.option(
    "--agent-model",
    "model",
    type=click.Choice([AUTO, *AGENTS]),
    help="Use your own agent as the model, under its login; auto: the agent whose session made the note.",
)
@click.option(
    "--allow-conversation-access", "access", is_flag=True, help="Allow OpenClaw's plugin to see conversations."
)
@click.option(
    "--allow-sandbox",
    "sandbox",
    is_flag=True,
    help="Allow commands in Codex's sandbox to write to the data folder, including memman's settings and launcher.",
)
@click.option(
    "--checkout", default="", metavar="PATH", help="Path of the NanoClaw checkout; default: the current folder."
)
@click.option("--no-mcp", "no_mcp", is_flag=True, help="Set up hooks only, and remove memman's MCP server.")
@json_option
def install(
    names: tuple[str, ...],
    dry_run: bool,
    no_wizard: bool,
    model: str | None,
    access: bool,
    sandbox: bool,
    checkout: str,
    no_mcp: bool,
    as_json: bool = False,
) -> int:
    """Set up memman for your agents, and start the scheduler.

    Prints what it is about to do, then does it, and keeps the original of every file it changes. A file that cannot be
    read is left alone; the rest is done, and the exit code reports it.
    """
    data, targets = data_dir(), chosen(names)
    work = Work(data, as_json=as_json)
    refuse_shared(data)
    if not dry_run:
        stay(data)
    elif in_cache(sys.prefix):
        work.say(f"memman: keep a copy of it in {kept_path(data)}, since it runs from a cache")
    if TARGETS["nanoclaw"] in targets:
        nanoclaw_root(checkout)
    asks = sys.stdin.isatty() and sys.stdout.isatty() and not (no_wizard or dry_run or asking())
    shell = from_shell(data)
    settings = shell | taken_over(work, shell, asks=asks)
    if model:
        refuse_agents()
        settings |= by_agent(model)
    settings |= asked(data, settings) if asks else {}
    if asks and not access and openclaw.TARGET in targets and not openclaw.granted():
        access = click.confirm("Allow OpenClaw's plugin to see conversations? Without that, memman does nothing there")
    sandbox = _sandboxed(data, wished=sandbox, dry_run=dry_run, asks=asks and codex.TARGET in targets)
    wiring = Wiring(data, access, checkout, sandbox, not no_mcp)
    if model:
        _say_model(work, model)
    planned = work.plan(targets, wiring, settings)
    if dry_run:
        return work.end("dry run: nothing was changed")
    _agree(work, settings, shell)
    with locked(data):
        work.do(planned, wiring, settings)
    return work.end(*_history())


def _sandboxed(data: str, *, wished: bool, dry_run: bool, asks: bool) -> bool:
    """Whether commands in Codex's sandbox may write to the data folder: they may already, or a person agrees."""
    before = codex.sandboxed(data)
    if wished and not (dry_run or before):
        confirm(_SANDBOX.format(data) + ".")
    return wished or before or (asks and click.confirm(_SANDBOX.format(data)))


def _say_model(work: "Work", name: str) -> None:
    """Say what it means that an agent is the model, and warn where it is not there."""
    agents = [CLIENTS[name]] if name in CLIENTS else here()
    for client in agents:
        work.say(f"model: {sentence(client)}")
    if not any(find(client.program) for client in agents):
        complain(f"{name}: no program was found; until there is one the judge decides")


def _agree(work: "Work", settings: dict[str, str], shell: Mapping[str, str]) -> None:
    """Drop what the shell says of where text is sent and with whose key, unless a person agrees."""
    outward = {name: value for name, value in settings.items() if name in shell and KEYS[name].outward(value)}
    with work.trying(otherwise=lambda: [settings.pop(name) for name in outward]):
        if outward:
            said = [f"{name}={shown(name, value)}" for name, value in outward.items()]
            confirm(f"Use {', '.join(outward)} from this shell?", listed=said)


class Work:
    """What is installed or undone: what went wrong is said where it does, and the first of it is the exit code.

    With `as_json` what is said is printed at the end.
    """

    def __init__(self, data: str, *, as_json: bool = False) -> None:
        self.data, self.as_json = data, as_json
        self.code = 0
        self.said: list[str] = []
        self.wrong: list[str] = []

    def say(self, line: str) -> None:
        """Print a line, or keep it for the end."""
        self.said.append(line)
        if not self.as_json:
            text(line)

    def end(self, *lines: str) -> int:
        """Say the last lines, and return the exit code."""
        for line in lines:
            self.say(line)
        printed({"said": self.said, "wrong": self.wrong, "code": self.code}, as_json=self.as_json)
        return self.code

    @contextmanager
    def trying(self, *, otherwise: Callable[[], object] = bool) -> Iterator[None]:
        """Say what went wrong in a part of it, and go on with the rest; then do what is to be done `otherwise`."""
        try:
            yield
        except MemmanError as error:
            complain(str(error))
            self.wrong.append(str(error))
            self.code = self.code or error.exit_code
            otherwise()

    def tell(self, lines: list[str]) -> None:
        """Print what the scheduler has to say, each line once."""
        for line in lines:
            if f"scheduler: {line}" not in self.said:
                self.say(f"scheduler: {line}")

    def plan(self, targets: list[Target], wiring: Wiring, settings: dict[str, str]) -> list[tuple[Target, File]]:
        """Print what is to happen, and drop the settings that are wrong; return the files that can be worked on."""
        manifest, planned = InstallRecord(self.data), []
        for name, value in list(settings.items()):
            with self.trying(otherwise=partial(settings.pop, name)):
                admit(name, value)
                self.say(f"settings: {name}={shown(name, value)}")
        for name in outdated(Settings.load(self.data), settings):
            self.say(f"settings: unset {name}, which belonged to the previous provider")
        for target in targets:
            with self.trying():
                steps = [plan(manifest, file) for file in target.files(wiring)]
                planned += [(target, step.file) for step in steps]
                for step in steps:
                    _say(self, target, step)
        self.tell(control.plan(self.data))
        if not targets:
            self.say("no agent was found on this machine; `memman install --target NAME` sets one up anyway")
        return planned

    def do(self, planned: list[tuple[Target, File]], wiring: Wiring, settings: dict[str, str]) -> None:
        """Do what was planned."""
        make_private(self.data)
        lay(self.data)
        forget_others(self.data)
        link(self.data)
        with self.trying():
            if settings:
                gone = outdated(Settings.load(self.data), settings)
                change_all(self.data, {**dict.fromkeys(gone), **settings})
        manifest = InstallRecord(self.data)
        failed, changed = set[str](), set[str]()
        for target, file in planned:
            with self.trying(otherwise=partial(failed.add, target.name)):
                if wire(manifest, target, file).verb:
                    changed.add(target.name)
        with self.trying():
            self.tell(control.install(self.data))
        for target in dict.fromkeys(target for target, _ in planned):
            done = "set up" if target.name in changed else "was set up already"
            done = "set up only in part, see the error above" if target.name in failed else done
            self.say(f"{target.name}: {done}")
            off = [f"{says}: {step}" for says, step in switched_off(target)]
            for note in (*target.notes(wiring), *off):
                self.say(f"{target.name}: {note}")


def _history() -> Iterator[str]:
    """Offer to read the history of this repository, where memory knows nothing of it."""
    place, here = current(), standing()
    if here.repository and not knows(place.data, place.name, here):
        yield "memory knows nothing of this repository yet: `memman bootstrap --dry-run` shows what its history says"


def _say(work: Work, target: Target, step: Step) -> None:
    path = step.file.path
    if not step.verb:
        if step.before is not None and step.base != step.before:
            work.say(f"{target.name}: {path} is up to date")
        return
    link = os.path.realpath(path)
    behind = f", a link to {link}" if os.path.islink(path) else ""
    kept = "" if step.base is None else f"; the original is kept in {work.data}/backups/settings"
    work.say(f"{target.name}: {step.verb} {path}{behind} ({step.file.what}){kept}")


# What install asks a person on a terminal, and what it takes from the shell: the model provider and its key.
_PROVIDERS = {
    "none": ("", LLMS["builtin"].help),
    "openrouter": ("openai", "OpenRouter"),
    **{name: (name, row.help) for name, row in LLMS.items() if row.by_http},
}
# Keys that memman 0.15 took: variable -> (who is asked with it, what it is for, the provider as a setting). Each names
# the one address that it goes to.
_VENDORS = {
    "OPENROUTER_API_KEY": ("OpenRouter", "MEMMAN_LLM_", "openai"),
    "VOYAGE_API_KEY": ("Voyage", "MEMMAN_EMBED_", "voyage"),
}
_TRIES = 3  # answers that will not do
_PROVIDER, _ENDPOINT, _KEY = "MEMMAN_LLM_PROVIDER", "MEMMAN_LLM_ENDPOINT", "MEMMAN_LLM_API_KEY"
_FAST, _SLOW = "MEMMAN_LLM_MODEL_FAST", "MEMMAN_LLM_MODEL_SLOW"
_COMMAND = "MEMMAN_LLM_COMMAND"


def from_shell(data: str) -> dict[str, str]:
    """Return the settings that the shell has and the env file has not: they are read at install and never after."""
    said = Settings.load(data).said
    found = {name: os.environ.get(name, "") for name in KEYS}
    return {name: value for name, value in found.items() if value and said.get(name) != value}


def offered(data: str, shell: Mapping[str, str]) -> dict[str, str]:
    """Return what else the shell has that may be used: variable -> what is done with it.

    Vendors' keys, but not where anything is said of their purpose already, nor for the vectors of a store that there
    is; and where a provider is chosen, a proxy and certificates.
    """
    settings, found = Settings.load(data), {}
    said = {*settings.said, *shell}
    for variable, (vendor, purpose, _) in _VENDORS.items():
        spoken_for = any(name.startswith(purpose) for name in said) or (vendor == "Voyage" and names(data))
        if os.environ.get(variable) and not spoken_for:
            found[variable] = f"from the next drain on, notes and memories are sent to {vendor}"
    if found or said & {_PROVIDER, _KEY, _ENDPOINT, "MEMMAN_EMBED_PROVIDER"}:
        found |= dict.fromkeys(shell_only(settings).values(), "drains use it to reach the provider")
    return found


def taken_over(work: Work, shell: Mapping[str, str], *, asks: bool) -> dict[str, str]:
    """Return the settings that other variables of the shell make: where a person agrees, or nobody can be asked."""
    headless = not (sys.stdin.isatty() or asking())
    settings: dict[str, str] = {}
    for variable, does in offered(work.data, shell).items():
        question = f"Use {variable} of this shell? Then {does}"
        taken = headless or (asks and click.confirm(question, default=False, err=True))
        work.say(f"settings: {variable} of this shell is " + (f"taken: {does}" if taken else "not used"))
        value = os.environ[variable].strip()
        if taken and variable in _VENDORS:
            _, purpose, provider = _VENDORS[variable]
            settings |= {f"{purpose}PROVIDER": provider, f"{purpose}API_KEY": value}
        elif taken:
            settings |= {name: value for name, variables in NETWORK.items() if variable in variables}
    return settings


def asked(data: str, settings: dict[str, str]) -> dict[str, str]:
    """Ask which model provider to use, unless that is known; return the settings that follow."""
    if any(name in settings or name in Settings.load(data).said for name in (_PROVIDER, _KEY, _ENDPOINT)):
        return {}
    agents = {client.name: sentence(client) for client in here()}
    for name, what in ({name: what for name, (_, what) in _PROVIDERS.items()} | agents).items():
        click.echo(f"  {name:<11} {what}", err=True)
    choice = click.prompt("Model provider", type=click.Choice([*_PROVIDERS, *agents]), default="none", err=True)
    if choice == "none":
        return {}
    if choice in agents:
        return by_agent(choice)
    answers = {_PROVIDER: _PROVIDERS[choice][0]}
    if choice == "openai":
        answers[_ENDPOINT] = _typed("Base URL (empty: no model)", _ENDPOINT)
        if not answers[_ENDPOINT]:
            return {}
    key = _typed("Key (not shown)", _KEY, hide=True)
    # The usual models are OpenRouter's; another endpoint has its own.
    model = _typed(f"Model (empty: {', '.join(LLMS[choice].models)})", _FAST) if choice == "openai" else ""
    return answers | ({_KEY: key} if key else {}) | ({_FAST: model, _SLOW: model} if model else {})


def by_agent(name: str) -> dict[str, str]:
    """Return the settings that make an agent the model, its program as it is found now."""
    program = find(CLIENTS[name].program) if name in CLIENTS else ""
    return {_PROVIDER: name} | ({_COMMAND: program} if program else {})


def admit(name: str, value: str) -> None:
    """Raise BadConfig for a value that will not do."""
    Settings({}).replaced({name: value})


def shown(name: str, value: str) -> str:
    """Return a value for the plan: of a secret its last characters, or the variable of the shell that holds it."""
    variable = next((one for one in (*_VENDORS, *NETWORK.get(name, ())) if os.environ.get(one) == value), "")
    return (f"${variable}" if variable else abbreviated(value)) if KEYS[name].secret else value


def _typed(question: str, name: str, *, hide: bool = False) -> str:
    """Ask for the value of a setting; '' for no answer, and for answers that will not do."""
    for _ in range(_TRIES):
        value: str = click.prompt(question, default="", show_default=False, hide_input=hide, err=True).strip()
        try:
            if value:
                admit(name, value)
        except BadConfig as error:
            click.echo(str(error), err=True)
        else:
            return value
    return ""


@verb(store=False)
@target_option
@dry_option
@click.option(
    "--checkout", default="", metavar="PATH", help="Path of the NanoClaw checkout; default: the current folder."
)
@json_option
def uninstall(names: tuple[str, ...] = (), checkout: str = "", *, dry_run: bool = False, as_json: bool = False) -> int:
    """Remove memman from your agents and stop its scheduler; memories stay.

    A file that was not changed since gets its original content back; from other files only memman's entries are
    removed. What could not be undone is reported, also by the exit code. With --target only that agent is undone,
    and the scheduler stays.
    """
    data, whole = data_dir(), not names or ALL in names
    picked = [target for name, target in TARGETS.items() if whole or name in names]
    wiring = Wiring(data, checkout=checkout)
    work = Work(data, as_json=as_json)
    if dry_run:
        _plan_undo(work, picked, wiring, whole=whole)
        return work.end("dry run: nothing was changed")
    if not os.path.isdir(data) and not entries(InstallRecord(data), picked, wiring):
        return work.end("nothing is installed")
    what = "" if whole else f" from {', '.join(target.name for target in picked)}"
    confirm(f"Remove memman{what}?")
    take_out(work, picked, wiring, whole=whole)
    work.say(f"memories and settings are kept in {data}")
    if os.path.isdir(kept := f"{data}/backups/settings"):
        work.say(f"the originals of changed files are kept in {kept}")
    return work.end()


def take_out(work: Work, picked: list[Target], wiring: Wiring, *, whole: bool) -> None:
    """Undo the agents, of the `whole` the scheduler and the launcher too."""
    with locked(work.data):
        manifest, names = InstallRecord(work.data), {target.name for target in picked}
        for entry in entries(manifest, picked, wiring):
            with work.trying():
                _say_undo(work, undo(manifest, entry, names))
        leave_folders(manifest)
        if whole:
            with work.trying():
                work.tell(control.uninstall(work.data))
        if whole and not InstallRecord(work.data).entries:
            remove(work.data)


def _plan_undo(work: Work, picked: list[Target], wiring: Wiring, *, whole: bool) -> None:
    manifest = InstallRecord(work.data)
    for entry in entries(manifest, picked, wiring):
        with work.trying():
            _say_undo(work, plan_undo(manifest, entry))
    if whole and os.path.exists(launcher_path(work.data)):
        kept = f" and {kept_path(work.data)}" * os.path.isdir(kept_path(work.data))
        work.say(f"remove the scheduler's units and {launcher_path(work.data)}{kept}")


def _say_undo(work: Work, step: Undo) -> None:
    if step.verb:
        work.say(f"{step.verb} {step.path}" + (f" ({step.said})" if step.said else ""))
