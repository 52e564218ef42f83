"""Rules: constraints and lessons that a person sets, changes and takes away."""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from secrets import token_hex
from typing import Any

from memman.clock import now_ms
from memman.commands.memories import one_memory
from memman.commands.place import Place, expected, looking, standing, steadily, writing
from memman.config import places, scope, stores
from memman.config.schedule import refuse_stopped
from memman.model import rule as model
from memman.model.errors import AmbiguousId, CannotWrite, UnknownId, UsageError
from memman.model.pattern import parsed
from memman.model.records import Scope
from memman.model.text import plain
from memman.store.sqlite import rules as sql
from memman.store.sqlite.catalogue import Catalogue
from memman.upkeep import rules as upkeep

NAMES = ("AGENTS.md", "CLAUDE.md")
HEADING = "## Rules"


@dataclass(frozen=True, slots=True)
class Change:
    """A file as it is and as it would be; `before` is None where there is no file."""

    path: str
    before: str | None
    after: str

    @property
    def diff(self) -> str:
        """The change as a unified diff, '' where there is none."""
        if self.after == (self.before or ""):
            return ""
        name = os.path.basename(self.path)
        old = "/dev/null" if self.before is None else f"a/{name}"
        lines = unified_diff(_lines(self.before or ""), _lines(self.after), old, f"b/{name}")
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def change(texts: Sequence[str], file: str | None) -> Change:
    """Return what adding `texts` to a file, by default the repository's AGENTS.md or CLAUDE.md, comes to."""
    path = os.path.abspath(file) if file else _file()
    if os.path.isdir(path) or not os.path.isdir(os.path.dirname(path)):
        raise UsageError(f"{path} is no file that could be written to")
    places.check_regular(path)
    try:
        with open(path, encoding="utf-8", newline="") as source:
            before = source.read()
    except FileNotFoundError:
        return Change(path, None, _added("", texts))
    except (OSError, UnicodeDecodeError) as error:
        raise CannotWrite(f"{path} cannot be read ({error})") from error
    return Change(path, before, _added(before, texts))


def apply(change: Change) -> None:
    """Write a change, unless the file is another by now. Raises CannotWrite."""
    try:
        if change.before is not None:
            with open(change.path, encoding="utf-8", newline="") as source:
                if source.read() != change.before:
                    raise CannotWrite(f"{change.path} was changed meanwhile: try again")
        with open(change.path, "w" if change.before is not None else "x", encoding="utf-8", newline="") as target:
            target.write(change.after)
    except OSError as error:
        raise CannotWrite(f"{change.path} could not be written ({error.strerror})") from error


def _file() -> str:
    here = stores.here()
    root = here.root if here else os.getcwd()
    return next((f"{root}/{name}" for name in NAMES if os.path.exists(f"{root}/{name}")), f"{root}/{NAMES[0]}")


def _added(before: str, texts: Sequence[str]) -> str:
    newline = "\r\n" if "\r\n" in before else "\n"
    lines = places.split_lines(before.replace("\r\n", "\n"))
    new = [f"- {text}" for text in dict.fromkeys(texts) if text not in before]
    if not new:
        return before
    if HEADING in lines:
        at = _end(lines, lines.index(HEADING) + 1)
        lines[at:at] = new if lines[at - 1].strip() and lines[at - 1] != HEADING else ["", *new]
    else:
        lines += [*([""] if lines else []), HEADING, "", *new]
    return newline.join(lines) + newline


def _end(lines: Sequence[str], at: int) -> int:
    """Return behind the last line of a section that says anything, which begins at `at`."""
    end = next((n for n in range(at, len(lines)) if lines[n].startswith("#")), len(lines))
    while end > at and not lines[end - 1].strip():
        end -= 1
    return end


def _lines(text: str) -> list[str]:
    return places.split_lines(text, ends=True)


_UNITS = {"m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_DIGITS = 6
_UID_BYTES = 16
_SHORTEST = 4


def drafted(
    place: Place,
    text: str,
    *,
    when: str | None,
    match: str | None,
    do: str | None,
    within: str | None,
    ends_at: int | None,
) -> dict[str, Any]:
    """Return the rule that a person describes, as a record; nothing is stored. Raises UsageError."""
    refuse_stopped(place.data, "rule")
    expected(place)
    text = " ".join(text.split())
    if not text or len(text) > sql.LONGEST:
        raise UsageError(f"a rule has 1 to {sql.LONGEST} characters, this one has {len(text)}")
    pattern = " ".join((match or "").split())
    _check(match is not None, pattern, when, do)
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
        "ends_at": ends_at,
    }


def _check(matched: bool, pattern: str, when: str | None, do: str | None) -> None:
    """Raise UsageError where what is said of a rule does not go together."""
    tool = (when or "").removeprefix("tool=")
    if when is not None and not (when.startswith("tool=") and model.shell(tool)):
        raise UsageError(f"--when takes tool={model.SHELL}, whatever the agent calls its shell: rules see its commands")
    if matched and not parsed(pattern):
        raise UsageError("--match takes words of a command, such as 'git push'; '*' is every command")
    if not matched and (when or do not in {None, model.INFORM}):
        raise UsageError("--when and --do need --match, which says for which commands; '*' is every command")


def promoted(place: Place, memory: str, **said: Any) -> dict[str, Any]:
    """Return the rule that a memory would become, of the memory's scope unless another is said. Raises UsageError."""
    with looking(place) as (catalogue, queue):
        row = one_memory(memory, catalogue, queue, place.name)
        record = catalogue.memories([row])[0]
        own = catalogue.reader.scope_of([row]).get(row, ("", ""))
    if record["status"] != "current":
        raise UsageError(f"{memory} is {record['status']}: only a memory that is recalled becomes a rule")
    rule = drafted(place, record["text"], **said)
    where = {} if said["within"] else dict(zip(("repository", "path"), own, strict=True))
    return rule | where | {"memory": record["uid"], "origin": record}


@steadily
def add(place: Place, rule: Mapping[str, Any]) -> dict[str, Any]:
    """Store a rule; return it as `listed` does."""
    with writing(place) as store, store.unit() as unit:
        sql.add(unit, rule, now_ms())
    upkeep.publish(place.data)
    return next(one for one in listed(place) if one["uid"] == rule["uid"])


def listed(place: Place) -> list[dict[str, Any]]:
    """Return the rules of a store, the oldest first, with what they hold for and how often they fired."""
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


def named(place: Place, parts: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rules that ids name, in their order. Raises UnknownId and AmbiguousId."""
    rules = listed(place)
    return list({rule["uid"]: rule for rule in (_one(part, rules, place) for part in parts)}.values())


def _one(part: str, rules: Sequence[dict[str, Any]], place: Place) -> dict[str, Any]:
    found = [rule for rule in rules if rule["uid"].startswith(part.lower())] if len(part) >= _SHORTEST else []
    if not found:
        raise UnknownId(f"store {place.name!r} has no rule with the id {part[:40]!a}; `memman rule list` shows them")
    if len(found) > 1:
        raise AmbiguousId(f"{part} is ambiguous, give more characters of the id")
    return found[0]


@steadily
def remove(place: Place, uids: Sequence[str]) -> None:
    """Delete rules."""
    refuse_stopped(place.data, "rule remove")
    _change(place, uids, sql.remove)


@steadily
def snooze(place: Place, uids: Sequence[str], until: int) -> list[dict[str, Any]]:
    """Have rules hold again only from a moment on; return them."""
    refuse_stopped(place.data, "rule snooze")
    _change(place, uids, lambda unit, rule, at: sql.snooze(unit, rule, until, at))
    return named(place, uids)


def _change(place: Place, uids: Sequence[str], change: Any) -> None:
    rules, now = named(place, uids), now_ms()
    with writing(place) as store, store.unit() as unit:
        for rule in rules:
            change(unit, rule, now)
    upkeep.publish(place.data)


def tested(place: Place, command: str) -> list[dict[str, Any]]:
    """Return the rules that a command fires, as the hook finds them, the strictest first."""
    expected(place)
    here = standing()
    rules = upkeep.published(place.data, place.name)
    return model.fired(rules, command, now_ms(), lambda *where: _holds(here, *where))


def texts(place: Place, parts: Sequence[str]) -> list[dict[str, Any]]:
    """Return what rules, or memories that are recalled, say, as `text`. Raises UnknownId and UsageError."""
    rules = listed(place)
    with looking(place) as (catalogue, queue):
        return [
            next(
                (
                    {"text": rule["text"]}
                    for rule in rules
                    if len(part) >= _SHORTEST and rule["uid"].startswith(part.lower())
                ),
                dict[str, Any](),
            )
            or _memory(catalogue, one_memory(part, catalogue, queue, place.name))
            for part in parts
        ]


def _memory(catalogue: Catalogue, row: int) -> dict[str, Any]:
    record = catalogue.memories([row])[0]
    if record["status"] != "current":
        raise UsageError(
            f"{record['uid'][:8]} is {record['status']}: only a memory that is recalled can be written down"
        )
    return record | {"text": plain(catalogue.reader.shown_rows([row])[0].text, sql.LONGEST)}


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


def later(text: str) -> int:
    """Return the moment so long from now. Raises UsageError."""
    passed = _length(text)
    if passed is None:
        raise UsageError("--for takes a length of time: 30m, 2h, 7d or 2w")
    return time.time_ns() // 1_000_000 + passed


def _length(text: str) -> int | None:
    number, unit = text[:-1], text[-1:]
    known = unit in _UNITS and number.isascii() and number.isdigit() and len(number) <= _DIGITS
    return int(number) * _UNITS[unit] if known else None
