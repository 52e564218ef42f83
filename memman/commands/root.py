"""The table of verbs and the root command, which loads a verb's module when the verb is used."""

import importlib
import os
from typing import Any

import click

from memman import __version__
from memman.commands.verb import Group, everywhere, store_option

NAME = "memman"
COMPLETE = "_MEMMAN_COMPLETE"

# Verb -> (module below memman.commands, what `memman --help` says of it: the first line of its docstring).
VERBS: dict[str, tuple[str, str]] = {
    "install": ("install", "Set up memman for your agents, and start the scheduler"),
    "uninstall": ("install", "Remove memman from your agents and stop its scheduler; memories stay"),
    "remember": ("remember", "Save a note and print its id; the text is given as words, by a pipe, or with -"),
    "recall": ("remember", "Search memory for what answers a question"),
    "show": (
        "show",
        "Show everything about memories or queued notes: source, history, and what is related",
    ),
    "list": ("list", "List memories: the newest, those that may be out of date, or those worth least"),
    "replace": ("remember", "Save a note that replaces a memory"),
    "forget": ("forget", "Forget memories; --undo restores them"),
    "undo": (
        "undo",
        "Undo a note, a session, or everything since a time; an undo can itself be undone",
    ),
    "purge": ("purge", "Delete memories permanently: this cannot be undone"),
    "status": ("status", "Show the state of memory on one page"),
    "insights": ("insights", "Protect, verify, expire, report, archive and reinstate memories"),
    "review": (
        "review",
        "Decide about memories that wait for a person: held back, contradicted, or unconfirmed",
    ),
    "page": ("page", "Show and change memory in a browser"),
    "lint": (
        "lint",
        "Find contradictory, duplicate, stale, vague or over-long memories, and how to fix each",
    ),
    "wonder": ("lint", "List questions that memory could not answer here, and its doubtful and contradicted memories"),
    "consolidate": ("consolidate", "Merge memories that say the same, after a person has agreed"),
    "onboard": (
        "wiki",
        "Print what a new colleague or agent should know here: rules, preferences, topics, open questions",
    ),
    "reason": (
        "graph",
        "Explain why something is so: the answer, its causes, what it replaced, and who said it",
    ),
    "graph": ("graph", "Show the edges between memories, add one, or rebuild them"),
    "rule": ("rule", "Add and change rules: standing ones, and those that fire before a command"),
    "scope": ("scope", "Show and change where memories hold: everywhere, in a repository, or in a folder"),
    "store": ("store", "List, create, select, bind and remove stores"),
    "team": ("team", "Share a store through a Postgres server: members, and what each sees"),
    "migrate": (
        "team",
        "Move a store to a Postgres server, or back to this machine",
    ),
    "backup": ("backup", "Create, list, verify and restore backups"),
    "export": ("export", "Write a store's memories as JSON lines to a file or standard output"),
    "import": (
        "export",
        "Import memories from an export, another tool or a text file, after a preview",
    ),
    "bootstrap": ("bootstrap", "Learn from a repository's history, documents and earlier sessions"),
    "sync": (
        "sync",
        "Share one memory between your machines through an encrypted folder",
    ),
    "config": ("config", "Read and change the configuration"),
    "scheduler": ("scheduler", "Run and schedule drains, the background worker, and show the queue"),
    "doctor": ("doctor", "Check that everything works, and print how to fix what does not"),
    "repair": (
        "backup",
        "Rebuild a damaged store from its log and the last backup",
    ),
    "scan": ("scan", "Search everything stored for secrets; --fix removes them"),
    "log": ("log", "Show changes to memories, what was learned, by which sessions, and the cost"),
    "handover": ("handover", "Continue where the last session in this repository stopped"),
    "wiki": ("wiki", "Show memories by topic, or write them as a folder of Markdown pages"),
    "embed": ("embed", "Show and change the embedding model"),
    "hook": ("for_agents", "Handle an agent's hook event (JSON in, JSON or nothing out); never fails"),
    "mcp": ("for_agents", "Serve memory to an agent as tools of the Model Context Protocol"),
    "prime": ("for_agents", "Print the context that a new agent session starts with"),
    "guide": ("for_agents", "Print the instructions that agents get"),
    "version": ("help", "Print the version"),
    "self-update": ("help", "Print how memman was installed, and the command that updates it"),
    "completion": ("help", "Print the shell completion script"),
    "help": ("help", "Print this help, or the help of a verb"),
}

# The verbs of the first page of `memman --help`, which tells what each does; it only names the rest.
FIRST = """remember recall show list log replace forget undo purge review rule scope import export status doctor install
    config"""
MORE = {
    "More": """bootstrap handover store sync team backup embed migrate graph scheduler repair scan lint consolidate
        onboard reason uninstall insights page wiki wonder self-update""",
    "For agents and shells": "hook mcp prime guide version completion help",
}
# Set by `help --all`.
ALL = "memman.all"


class Verbs(Group):
    """The root command."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's own signature
        """Return the verbs in the order of the table."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002 - the same
        """Load a verb."""
        if name not in VERBS:
            return None
        module = importlib.import_module(f"memman.commands.{VERBS[name][0]}")
        command: click.Command = getattr(module, name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs from the table, loading none."""
        for title, verbs in {"Verbs": FIRST, **(MORE if ctx.meta.get(ALL) else {})}.items():
            with formatter.section(title):
                formatter.write_dl([(verb, VERBS[verb][1]) for verb in verbs.split()])
        if not ctx.meta.get(ALL):
            with formatter.section("More (explained by `memman help --all`)"):
                formatter.write_text(" ".join(" ".join(MORE.values()).split()))


@click.command(NAME, cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@store_option
@click.version_option(__version__, prog_name=NAME, message="%(prog)s %(version)s", help="Print the version and exit.")
def root() -> None:
    """Give coding agents a persistent memory.

    --store, --data-dir and --readonly may also follow the verb; if given twice, the last one wins.
    """


root.params += everywhere()


def invoke(args: list[str]) -> int:
    """Run a command line. Raises click's exceptions: `main` would turn a closed pipe into a failure."""
    if COMPLETE in os.environ:
        from click.shell_completion import shell_complete

        return shell_complete(root, {}, NAME, COMPLETE, os.environ[COMPLETE])
    with root.make_context(NAME, list(args) or ["--help"]) as ctx:
        result: Any = root.invoke(ctx)
    return result if isinstance(result, int) else 0
