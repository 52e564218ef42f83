"""Whether a record from elsewhere has the shape of one of ours: the index trusts shapes."""

import json
import re
from collections.abc import Callable
from typing import Any

from memman.belief import SOURCES
from memman.model.rule import ACTIONS
from memman.model.vocabulary import CATEGORIES, EDGE_KINDS, IMPORTANCES, STATUSES, VISIBILITIES
from memman.secrets.leaks import through
from memman.store import records
from memman.store.records import KIND_OF, Record, split
from memman.store.sqlite import rejected
from memman.store.sqlite.index import RECEIPT, RULE

Check = Callable[[Any], bool]
# Beyond this JSON's readers do not agree on a whole number.
_GREATEST = 2**53
# No clock goes so far.
_LATEST = 2**52
# Milliseconds by which the clock of another machine may be ahead: what we record next stands behind all that it did.
AHEAD_MS = 86_400_000
_HOST = re.compile(r"[0-9a-f]{16}")
_REJECTED = re.compile(rejected.PREFIX + r"[0-9a-f]{32}")


def wrong(record: Record, now: int | None = None) -> str:
    """Say what is wrong with a record that came from elsewhere, `now` where that is told, '' for nothing."""
    if bad := [name for name, fits in _FIELDS.items() if not fits(getattr(record, name))]:
        return f"{bad[0]!r} is missing or wrong"
    if now is not None and record.at > now + AHEAD_MS:
        return "it is from a later day than today: the clock of one of the two machines is wrong"
    try:
        record.body.encode()
        body = json.loads(record.body, parse_constant=_no_number) if record.body else None
    except (ValueError, RecursionError):
        return "'body' is no JSON"
    return "" if body is None else _wrong_body(record.kind, body)


def harmless(record: Record, change: Callable[[str], str]) -> Record:
    """Return a record with every text in it changed, as those do that take secrets out."""
    if not record.body:
        return record
    said = through(record.said, change)
    if "set" in said:
        said["set"] = {name: value for name, value in said["set"].items() if change(name) == name}
    text = json.dumps(said, ensure_ascii=False, separators=(",", ":"))
    return record._replace(body=text, author=change(record.author))


def _no_number(name: str) -> None:
    raise ValueError(name)


def _wrong_body(kind: str, body: Any) -> str:
    if not isinstance(body, dict) or KIND_OF.get(str(body.get("how"))) != kind:
        return "'how' does not go with its kind"
    for name, fits in _BODY.items():
        if name in body and not fits(body[name]):
            return f"{name!r} is wrong"
    sets = body.get("set", {})
    if records.TEXT in sets and records.STATUS not in sets:
        return "it has a text and no status"
    return next((f"{part!r} is wrong" for part, value in sets.items() if not _part(part, value)), "")


def _part(name: str, value: Any) -> bool:
    try:
        part, key = split(name)
    except ValueError:
        return False
    if part in _KEYED:
        fits_key, fits = _KEYED[part]
        return isinstance(key, list) and fits_key(key) and (value is None or fits(value))
    return part in _PARTS and not key and (_PARTS[part](value) or (value is None and part not in _LASTING))


def _text(value: object) -> bool:
    try:
        return isinstance(value, str) and b"\0" not in value.encode()
    except UnicodeError:  # half a character: no database keeps it
        return False


def _name(value: object) -> bool:
    return isinstance(value, str) and value.isascii() and value.isalnum()


def _like(pattern: re.Pattern[str]) -> Check:
    return lambda value: isinstance(value, str) and bool(pattern.fullmatch(value))


def _number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < _GREATEST


def _share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _list(fits: Check) -> Check:
    return lambda value: isinstance(value, list) and all(map(fits, value))


def _one_of(*words: object) -> Check:
    return lambda value: isinstance(value, str | int) and not isinstance(value, bool) and value in words


def _or_none(fits: Check) -> Check:
    return lambda value: value is None or fits(value)


def _object(needed: dict[str, Check], **others: Check) -> Check:
    """Have an object with these names, perhaps the others, and none beside them."""
    known = needed | others
    return lambda value: (
        isinstance(value, dict)
        and needed.keys() <= value.keys() <= known.keys()
        and all(known[name](one) for name, one in value.items())
    )


def _any_object(value: object) -> bool:
    return isinstance(value, dict)


def _side(value: object) -> bool:
    """Whether it tells how something stood or stands, as a line of the log shows it."""
    plain = (_text, _number, _share, _list(_text))
    return isinstance(value, dict) and all(one is None or any(fits(one) for fits in plain) for one in value.values())


def _key(*fits: Check) -> Check:
    return lambda key: len(key) == len(fits) and all(check(one) for check, one in zip(fits, key, strict=True))


_FIELDS: dict[str, Check] = {
    "host": _like(_HOST),
    "n": lambda value: _number(value) and value > 0,
    "at": lambda value: _number(value) and 0 <= value < _LATEST,
    "act": lambda value: _text(value) and _name(value.removeprefix(records.TAKEN_OVER)),
    "memory": lambda value: _name(value) or _like(_REJECTED)(value),
    "kind": _one_of(*records.KINDS),
    "body": _text,
    "author": _text,
    "visibility": _one_of("", *VISIBILITIES),
}
_BODY: dict[str, Check] = {
    "set": _any_object,
    "was": _side,
    "now": _side,
    "acts": _list(_text),
    "of": _list(_text),
    "notes": _list(_text),
    "put": _list(_text),
    "what": _text,
    "did": _text,
    "note": _name,
    "learned": lambda value: value is True,
}
# What no record takes away again.
_LASTING = (records.TEXT, records.STATUS)
_WHERE: dict[str, Check] = {"repository": _text, "path": _text}
_STAMP = dict.fromkeys(("agent", "session", "cwd", "repository", "revision", "host", "user", "drain", "models"), _text)
_PARTS: dict[str, Check] = {
    records.TEXT: _object(
        {
            **dict.fromkeys(("text", "summary", "origin"), _text),
            **dict.fromkeys(("entities", "keywords"), _list(_text)),
            **dict.fromkeys(("valid_from", "recorded_at"), _number),
            "note": _name,
            "category": _one_of(*CATEGORIES),
            "importance": _one_of(*map(int, IMPORTANCES)),
            "source": _one_of(*SOURCES),
        }
    ),
    records.STATUS: _object(
        {
            "status": _one_of(*STATUSES),
            "valid_to": _or_none(_number),
            "retired_at": _or_none(_number),
            "superseded_by": _or_none(_name),
        }
    ),
    records.SCOPE: _object({}, **_WHERE),
    records.VISIBILITY: _one_of(*VISIBILITIES),
    **{part: _number if kind is int else _text for part, kind in records.PLAIN.items()},
    rejected.PART: _number,
    records.MAYBE: _name,
    records.CLAIMS: lambda value: (
        isinstance(value, dict) and all(map(_name, value)) and all(map(_text, value.values()))
    ),
    RECEIPT: _object({"at": _number, "outcome": _text, "facts": _number}, **_STAMP),
    RULE: _object(
        {
            **dict.fromkeys(("text", "tool", "pattern", "memory"), _text),
            "action": _one_of(*ACTIONS),
            "made_at": _number,
            "ends_at": _or_none(_number),
            "snoozed_until": _or_none(_number),
            **_WHERE,
        }
    ),
}
# Parts of which there may be several, each with what its key and its value must be.
_KEYED: dict[str, tuple[Check, Check]] = {
    records.EVIDENCE: (_key(_text, _text), _number),
    records.FILE: (_key(_text), _text),
    records.EDGE: (_key(_one_of(*EDGE_KINDS), _name), _object({"weight": _share, "detail": _text})),
}
