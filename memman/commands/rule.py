"""`memman rule`: constraints and lessons that a person sets, changes and takes away."""

import os
from collections.abc import Callable, Mapping, Sequence
from secrets import token_hex
from typing import Any

import click

from memman.clock import now_ms
from memman.commands.person import confirm
from memman.commands.place import SHORTEST, Place, Records, expected, opened, standing, steadily, writing
from memman.commands.printing import apart, labelled, pairs, short, table
from memman.commands.printing import text as say
from memman.commands.printing import when as moment
from memman.commands.verb import Group, ids_argument, store_option
from memman.config import scope, stores
from memman.config.schedule import refuse_stopped
from memman.config.scope import PERSONAL, label
from memman.hot.grammar import end
from memman.model import rule as model
from memman.model.errors import AmbiguousId, UnknownId, UsageError
from memman.model.plural import counted
from memman.model.records import Scope
from memman.model.shell import commands
from memman.store.sqlite import rules as sql
from memman.upkeep import rules as upkeep

_UNITS = {"m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_DIGITS = 6
_UID_BYTES = 16


def described(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say when a rule holds, and what it does."""
    options = (
        click.option("--match", metavar="WORDS", help="Words of the command to match; * matches any words."),
        click.option(
            "--do", "do", type=click.Choice(model.ACTIONS), help="Inform the agent (default), ask the user, or deny."
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
    """Add and change rules: standing ones, and those that fire before a command."""


@rule.verb(shows=lambda made: table([_row(made)]))
@click.argument("said", metavar="TEXT")
@described
def add(place: Place, said: str, **options: str | None) -> dict[str, Any]:
    """Add a rule.

    Without --match every session begins with it. With --match it fires before an agent runs such a command.
    """
    return _agreed(place, drafted(place, said, **options))


@rule.verb(shows=lambda made: table([_row(made)]))
@click.argument("memory", metavar="ID")
@described
def promote(place: Place, memory: str, **options: str | None) -> dict[str, Any]:
    """Make a rule of a memory; the memory stays."""
    return _agreed(place, promoted(place, memory, **options))


def _agreed(place: Place, rule: Mapping[str, Any]) -> dict[str, Any]:
    about = [f"{name}: {said}" for name, said in _about(rule).items() if said]
    confirm("Add this rule?", listed=[rule["text"], *about])
    return added(place, rule)


def drafted(
    place: Place,
    text: str,
    *,
    match: str | None,
    do: str | None,
    within: str | None,
    until: str | None,
) -> dict[str, Any]:
    """Return the rule that a person describes, as a record; nothing is stored. Raises UsageError."""
    refuse_stopped(place.data, "rule")
    expected(place)
    text = " ".join(text.split())
    if not text or len(text) > sql.LONGEST:
        raise UsageError(f"a rule has 1 to {sql.LONGEST} characters, this one has {len(text)}")
    pattern = " ".join((match or "").split())
    if match is not None and not commands(pattern):
        raise UsageError("--match takes words of a command, such as 'git push'; '*' is every command")
    if match is None and do not in {None, model.INFORM}:
        raise UsageError("--do needs --match, which says for which commands; '*' is every command")
    where = _scope(within)
    return {
        "uid": token_hex(_UID_BYTES),
        "text": sql.wording(text),
        "tool": model.SHELL if pattern else "",
        "pattern": pattern,
        "action": do or model.INFORM,
        "repository": where.repository,
        "path": where.path,
        "memory": "",
        "ends_at": None if until is None else end(until, "until"),
    }


def promoted(place: Place, memory: str, **said: Any) -> dict[str, Any]:
    """Return the rule that a memory would become, of the memory's scope unless another is said. Raises UsageError."""
    with opened(place) as store:
        row = store.row_of(memory)
        record = store.memories([row])[0]
        own = store.reader.scope_of([row]).get(row, ("", ""))
    if record["status"] != "current":
        raise UsageError(f"{memory} is {record['status']}: only a memory that is recalled becomes a rule")
    rule = drafted(place, record["text"], **said)
    where = {} if said["within"] else dict(zip(("repository", "path"), own, strict=True))
    return rule | where | {"memory": record["uid"], "origin": record}


@steadily
def added(place: Place, rule: Mapping[str, Any]) -> dict[str, Any]:
    """Store a rule; return it as `listed` does."""
    with writing(place) as store, store.unit() as unit:
        sql.add(unit, rule, now_ms())
    upkeep.publish(place.data)
    return next(one for one in listed(place) if one["uid"] == rule["uid"])


@rule.verb("list", shows=lambda records: table(map(_row, records)), none="no rules")
def listed(place: Place) -> Records:
    """List the rules, the oldest first; * marks those that hold here."""
    expected(place)
    waiting = upkeep.hits(place.data).get(place.name, {})
    here, now = standing(), now_ms()
    return [_told(rule, waiting.get(rule["uid"], []), here, now) for rule in upkeep.of(place.data, place.name)]


def _told(rule: dict[str, Any], fired: Sequence[int], here: scope.Here, now: int) -> dict[str, Any]:
    return rule | {
        "hits": rule["hits"] + len(fired),
        "hit_at": max([*fired, rule["hit_at"] or 0]) or None,
        "scope": scope.label(rule["repository"], rule["path"]),
        "here": _holds(here, rule["repository"], rule["path"]),
        "in_force": model.in_force(rule, now),
    }


@rule.verb(shows=lambda records: apart(records, _print))
@ids_argument
def show(place: Place, ids: Sequence[str]) -> Records:
    """Show all details of rules."""
    rules = listed(place)
    return list({rule["uid"]: rule for rule in (_one(part, rules, place) for part in ids)}.values())


def _one(part: str, rules: Sequence[dict[str, Any]], place: Place) -> dict[str, Any]:
    found = [rule for rule in rules if rule["uid"].startswith(part.lower())] if len(part) >= SHORTEST else []
    if not found:
        raise UnknownId(f"store {place.name!r} has no rule with the id {part[:40]!a}; `memman rule list` shows them")
    if len(found) > 1:
        raise AmbiguousId(f"{part} is ambiguous, give more characters of the id")
    return found[0]


def _removed(records: Records) -> None:
    table([("removed", short(record["uid"]), record["text"]) for record in records])


@rule.verb(shows=_removed)
@ids_argument
def remove(place: Place, ids: Sequence[str]) -> Records:
    """Remove rules."""
    records = show(place, ids)
    confirm("Remove these rules?" if len(records) > 1 else "Remove this rule?", listed=_listed(records))
    changed(place, records, "remove", sql.remove)
    return records


@rule.verb(shows=lambda records: table(map(_row, records)))
@ids_argument
@click.option("--for", "length", required=True, metavar="TIME", help="How long: 30m, 2h, 7d; 0m ends the pause.")
def snooze(place: Place, ids: Sequence[str], length: str) -> Records:
    """Pause rules for a while."""
    number, unit = length[:-1], length[-1:]
    if not (unit in _UNITS and number.isascii() and number.isdigit() and len(number) <= _DIGITS):
        raise UsageError("--for takes a length of time: 30m, 2h, 7d or 2w")
    until = now_ms() + int(number) * _UNITS[unit]
    records = show(place, ids)
    confirm(f"Snooze until {moment(until)}?", listed=_listed(records))
    changed(place, records, "snooze", lambda unit, rule, at: sql.snooze(unit, rule, until, at))
    return show(place, [record["uid"] for record in records])


@steadily
def changed(place: Place, rules: Sequence[Mapping[str, Any]], verb: str, change: Callable[..., Any]) -> None:
    """Change rules by what `change` does with a unit, a rule and the moment."""
    refuse_stopped(place.data, f"rule {verb}")
    now = now_ms()
    with writing(place) as store, store.unit() as unit:
        for rule in rules:
            change(unit, rule, now)
    upkeep.publish(place.data)


def _tested(found: dict[str, Any]) -> None:
    table([(record["action"], short(record["uid"]), record["text"]) for record in found["rules"]])
    if any("unread" in record for record in found["rules"]):
        say("a part of the command is nested too deeply to be compared")
    if not found["rules"]:
        say("no rule fires")


@rule.verb(shows=_tested)
@click.argument("command", metavar="COMMAND")
def test(place: Place, command: str) -> dict[str, Any]:
    """Show which rules a command would fire here, the strictest first; nothing is run or counted."""
    expected(place)
    here = standing()
    rules = upkeep.published(place.data, place.name)
    fired = model.fired([one for one in rules if _holds(here, one["repository"], one["path"])], command, now_ms())
    return {"outcome": fired[0]["action"] if fired else None, "rules": fired}


def _holds(here: scope.Here, repository: str, path: str) -> bool:
    return not repository or scope.sees(here, repository, path, inside=True)


def _scope(said: str | None) -> Scope:
    """Return what a rule holds for: the repository it is made in, where nothing is said."""
    asked, here = scope.asked(said), standing()
    if asked == scope.PERSONAL or (not asked and not here.repository):
        return Scope()
    if not here.repository:
        raise UsageError("what is said at home holds everywhere: use --scope personal, or go to the folder it is for")
    folder = scope.path_of(asked)
    root = around.root if (around := stores.here()) else ""
    if folder and not os.path.isdir(f"{root}/{folder}"):
        raise UsageError(f"there is no folder {folder} in {root}: a rule for it would never hold")
    return Scope(here.repository, folder)


def _print(record: dict[str, Any]) -> None:
    last = {"last fired": moment(record["hit_at"]), "memory": record["memory"], "made": moment(record["made_at"])}
    fired = {"fired": counted(record["hits"], "time") if record["pattern"] else ""}
    pairs({"rule": record["uid"], "text": record["text"]} | _about(record) | fired | last)


def _about(record: Mapping[str, Any]) -> dict[str, str]:
    """Return when a rule holds and what it does, by name."""
    return {
        "when": f"a command matches: {record['pattern']}" if record["pattern"] else "always, at a session's start",
        "does": record["action"] if record["pattern"] else "",
        "scope": label(record["repository"], record["path"]) or PERSONAL,
        "until": moment(record["ends_at"]),
        "snoozed": moment(record.get("snoozed_until")) if not record.get("in_force", True) else "",
        "from a memory": labelled(record["origin"]) if "origin" in record else "",
    }


def _row(record: dict[str, Any]) -> tuple[str, ...]:
    if record["in_force"]:
        state = f"until {moment(record['ends_at'])}" if record["ends_at"] else ""
    else:
        over = record["ends_at"] and not (record["snoozed_until"] or 0) > record["ends_at"]
        state = f"ended {moment(record['ends_at'])}" if over else f"snoozed until {moment(record['snoozed_until'])}"
    does = f"{record['action']}: {record['pattern']}" if record["pattern"] else "standing"
    fired = counted(record["hits"], "hit") if record["pattern"] else ""
    scope = record["scope"] or PERSONAL
    return ("*" if record["here"] else "", short(record["uid"]), does, scope, state, fired, record["text"])


def _listed(records: list[dict[str, Any]]) -> list[str]:
    return [f"{short(record['uid'])}  {record['text']}" for record in records]
