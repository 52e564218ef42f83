"""`memman rule`: add, list, show, remove, snooze, test, promote, write."""

import os
from collections.abc import Callable
from typing import Any

import click

from memman.commands.person import confirm
from memman.commands.printing import (
    apart,
    as_data,
    complain,
    freshness,
    labelled,
    named,
    pairs,
    printed,
    short,
    table,
    text,
    when,
)
from memman.commands.verb import Group, data_options, place, store_option
from memman.config.places import split_lines
from memman.config.scope import PERSONAL
from memman.govern import rules as govern
from memman.model.plural import counted
from memman.model.rule import ACTIONS

Described = Callable[..., Any]


def described(command: Described) -> Described:
    """Add the options that say when a rule holds, and what it does."""
    options = (
        click.option("--when", metavar="tool=Bash", help="The tool that the rule is about; there is only the shell."),
        click.option("--match", metavar="WORDS", help="Words of the commands that the rule is about; * is any words."),
        click.option(
            "--do", "do", type=click.Choice(ACTIONS), help="Inform the agent (default), ask the user, or deny."
        ),
        click.option(
            "--scope", "within", metavar="SCOPE", help="personal, repository (default in one), or path:FOLDER."
        ),
        click.option("--until", metavar="TIME", help="When it ends: 2026-12-01, 2026-12-01T18:00, 2h, 7d, Friday."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.group(cls=Group)
@store_option
def rule() -> None:
    """Make and change rules: standing ones, and those that fire before a command."""


@rule.command()
@click.argument("said", metavar="TEXT")
@described
@data_options
def add(said: str, as_json: bool, **options: str | None) -> None:
    """Add a rule.

    Without --match every session begins with it. With --match it fires before an agent runs such a command.
    """
    _added(govern.drafted(place(), said, **_ending(options)), as_json=as_json)


@rule.command()
@click.argument("memory", metavar="ID")
@described
@data_options
def promote(memory: str, as_json: bool, **options: str | None) -> None:
    """Make a memory a rule; the memory stays."""
    _added(govern.promoted(place(), memory, **_ending(options)), as_json=as_json)


def _ending(options: dict[str, str | None]) -> dict[str, Any]:
    """Read when a rule ends, as `remember --until` does."""
    from memman.hot.moment import end

    until = options.pop("until")
    return {**options, "ends_at": None if until is None else end(until, "until")}


def _added(drafted: dict[str, Any], *, as_json: bool) -> None:
    about = [f"{name}: {said}" for name, said in _about(drafted).items() if said]
    confirm("Add this rule?", listed=[drafted["text"], *about])
    made = govern.add(place(), drafted)
    if not printed(made, as_json=as_json):
        table([_row(made)])


@rule.command("list")
@data_options
def list_(as_json: bool) -> None:
    """List the rules, the oldest first; * marks those that hold here."""
    records = govern.listed(place())
    if not printed(records, as_json=as_json):
        table([_row(record) for record in records])


@rule.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@data_options
def show(ids: tuple[str, ...], as_json: bool) -> None:
    """Show all details of rules."""
    records = govern.named(place(), ids)
    if not printed(records, as_json=as_json):
        apart(records, _print)


@rule.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@data_options
def remove(ids: tuple[str, ...], as_json: bool) -> None:
    """Remove rules."""
    records = govern.named(place(), ids)
    confirm("Remove these rules?" if len(records) > 1 else "Remove this rule?", listed=_listed(records))
    govern.remove(place(), [record["uid"] for record in records])
    if not printed(records, as_json=as_json):
        table([("removed", short(record["uid"]), record["text"]) for record in records])


@rule.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--for", "length", required=True, metavar="TIME", help="How long: 30m, 2h, 7d; 0m ends the pause.")
@data_options
def snooze(ids: tuple[str, ...], length: str, as_json: bool) -> None:
    """Have rules do nothing for a while."""
    until = govern.later(length)
    records = govern.named(place(), ids)
    confirm(f"Snooze until {when(until)}?", listed=_listed(records))
    records = govern.snooze(place(), [record["uid"] for record in records], until)
    if not printed(records, as_json=as_json):
        table([_row(record) for record in records])


@rule.command()
@click.argument("command", metavar="COMMAND")
@data_options
def test(command: str, as_json: bool) -> None:
    """Show which rules a command would fire here, the strictest first; nothing is run or counted."""
    records = govern.tested(place(), command)
    if as_json:
        as_data({"outcome": records[0]["action"] if records else None, "rules": records})
    elif records:
        table([(record["action"], short(record["uid"]), record["text"]) for record in records])
        if any("unread" in record for record in records):
            text("a part of the command is nested too deeply to be compared")
    else:
        text("no rule fires")


@rule.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--file", metavar="PATH", help="The file; otherwise the repository's AGENTS.md or CLAUDE.md.")
@click.option("--apply", "applied", is_flag=True, help="Write it, after a question.")
@store_option
def write(ids: tuple[str, ...], file: str | None, applied: bool) -> None:
    """Print a diff that adds rules or memories to AGENTS.md or CLAUDE.md; ID is a rule or a memory."""
    records = govern.texts(place(), ids)
    for one in filter(freshness, records):
        complain(named(one))
    change = govern.change([one["text"] for one in records], file)
    if not change.diff:
        text(f"{change.path} says so already")
    elif not applied:
        click.echo(change.diff, nl=False)
    else:
        confirm(f"Change {change.path}?", listed=split_lines(change.diff))
        govern.apply(change)
        text(f"changed {os.path.relpath(change.path)}")


def _print(record: dict[str, Any]) -> None:
    last = {"last fired": when(record["hit_at"]), "memory": record["memory"], "made": when(record["made_at"])}
    fired = {"fired": counted(record["hits"], "time") if record["pattern"] else ""}
    pairs({"rule": record["uid"], "text": record["text"]} | _about(record) | fired | last)


def _about(record: dict[str, Any]) -> dict[str, str]:
    """Return when a rule holds and what it does, by name."""
    return {
        "when": f"a command matches: {record['pattern']}" if record["pattern"] else "always, at a session's start",
        "does": record["action"] if record["pattern"] else "",
        "scope": record["repository"] + (f", folder {record['path']}" if record["path"] else "") or PERSONAL,
        "until": when(record["ends_at"]),
        "snoozed": when(record.get("snoozed_until")) if not record.get("in_force", True) else "",
        "from a memory": labelled(record["origin"]) if "origin" in record else "",
    }


def _row(record: dict[str, Any]) -> tuple[str, ...]:
    if record["in_force"]:
        state = f"until {when(record['ends_at'])}" if record["ends_at"] else ""
    else:
        over = record["ends_at"] and not (record["snoozed_until"] or 0) > record["ends_at"]
        state = f"ended {when(record['ends_at'])}" if over else f"snoozed until {when(record['snoozed_until'])}"
    does = f"{record['action']}: {record['pattern']}" if record["pattern"] else "standing"
    fired = counted(record["hits"], "hit") if record["pattern"] else ""
    scope = record["scope"] or PERSONAL
    return ("*" if record["here"] else "", short(record["uid"]), does, scope, state, fired, record["text"])


def _listed(records: list[dict[str, Any]]) -> list[str]:
    return [f"{short(record['uid'])}  {record['text']}" for record in records]
