"""memman's own format: a header, and below it a JSON object a line, each of a kind."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from memman.model.errors import UsageError
from memman.model.plural import counted
from memman.model.trust import SOURCES
from memman.model.vocabulary import CATEGORIES, IMPORTANCES, REPLACED, STATUSES

VERSION = 1
NAME = "memman export"
# How settings begin that an export has, and what is learned of an embedder: count, mean and squares.
SETTINGS = ("spread:", REPLACED)
_SPREAD = ("count", "mean", "squares")
# Kinds of lines, in the order they are written.
MEMORY, NOTE, RULE, REJECTED, SETTING, PURGED = KINDS = ("memory", "note", "rule", "rejected", "setting", "purged")


@dataclass(frozen=True, slots=True)
class Export:
    """A file that was read: its header, its lines by kind, and what is wrong with those that are left out."""

    header: Mapping[str, Any]
    rows: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    wrong: list[str] = field(default_factory=list)


def header(**about: object) -> dict[str, object]:
    """Return the first line of a file."""
    return {"format": NAME, "version": VERSION, **about}


def written(lines: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Write objects as lines."""
    for line in lines:
        yield json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n"


def ours(first: str) -> bool:
    """Whether a file that begins with this line is of this format, whatever its version."""
    try:
        said = json.loads(first)
    except ValueError:
        return False
    return isinstance(said, dict) and said.get("format") == NAME


def read(path: str, text: str) -> Export:
    """Read a file's text, but for lines that are wrong. Raises UsageError for what is not of this format."""
    lines = text.split("\n")
    if not ours(lines[0]):
        raise UsageError(f"{path} is not an export of memman: its first line does not say so")
    about = json.loads(lines[0])
    if not isinstance(about.get("version"), int) or about["version"] > VERSION:
        raise UsageError(
            f"{path} is of version {about.get('version')!r} of the format, and this memman reads up to {VERSION}:"
            " upgrade memman; nothing was imported"
        )
    found = Export(about)
    for number, line in enumerate(lines[1:], 2):
        if line.strip():
            kind, record, wrong = _line(line)
            if wrong:
                found.wrong.append(f"line {number} of {path}: {wrong}")
            elif kind in found.rows:
                found.rows[kind].append(record)
    if found.wrong and not found.rows[MEMORY]:
        raise UsageError(f"{found.wrong[0]}; nothing was imported")
    if len(found.rows[MEMORY]) + len(found.wrong) < int(about.get("memories", 0)):
        part = f"{len(found.rows[MEMORY])} of {counted(about['memories'], 'memory')}"
        raise UsageError(f"{path} is cut short: {part}; nothing was imported")
    return found


def _line(line: str) -> tuple[str, dict[str, Any], str]:
    """Return the kind of a line, its record, and what is wrong with it, '' where nothing is."""
    try:
        record = json.loads(line)
        kind = record.pop("kind")
        if "value" in record and kind == SETTING and not _spread(record["value"]):
            raise ValueError  # noqa: TRY301 - as good as what json finds
        wrong = next((name for name, fits in _CHECKS.get(kind, {}).items() if not _fits(fits, record, name)), "")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return "", {}, "it is not what memman writes"
    return kind, record, f"{wrong!r} is missing or wrong" if wrong else ""


def _fits(fits: "Check", record: Mapping[str, Any], name: str) -> bool:
    return name in record and fits(record[name])


Check = Callable[[Any], bool]


def _text(value: object) -> bool:
    return isinstance(value, str) and "\0" not in value


def _name(value: object) -> bool:
    return isinstance(value, str) and value.isascii() and value.isalnum()


def _number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_text, value))


def _scope(value: object) -> bool:
    return isinstance(value, dict) and value.keys() <= {"repository", "path"} and all(map(_text, value.values()))


def _or_none(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _one_of(*words: object) -> Check:
    return lambda value: value in words


def _marks(value: object) -> bool:
    return isinstance(value, dict) and all(map(_text, value.values())) and _dated(value)


def _dated(marks: Mapping[str, str]) -> bool:
    """Whether marks say since when a memory is protected or held back."""
    return all(marks.get(name, "0").isdigit() for name in ("protected", "held"))


def _setting(value: object) -> bool:
    return _text(value) and str(value).startswith(SETTINGS)


def _spread(value: object) -> bool:
    said = json.loads(value) if isinstance(value, str) else None
    return isinstance(said, list) and len(said) == len(_SPREAD) and all(isinstance(one, int | float) for one in said)


_CHECKS: dict[str, dict[str, Check]] = {
    MEMORY: {
        "uid": _name,
        "note": _name,
        "text": _text,
        "category": _one_of(*CATEGORIES),
        "importance": _one_of(*map(int, IMPORTANCES)),
        "entities": _texts,
        "keywords": _texts,
        "source": _one_of(*SOURCES),
        "origin": _text,
        "status": _one_of(*STATUSES),
        "valid_from": _number,
        "valid_to": _or_none(_number),
        "recorded_at": _number,
        "retired_at": _or_none(_number),
        "superseded_by": _or_none(_name),
        "row": _number,
        "scope": _scope,
        "marks": _marks,
    },
    NOTE: {"note": _name, "at": _number, "outcome": _text},
    RULE: {"uid": _name, "text": _text, "scope": _scope, "made_at": _number},
    REJECTED: {"digest": _name, "at": _number},
    SETTING: {"key": _setting},
    PURGED: {"note": _name, "memory": _text},
}
