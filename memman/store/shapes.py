"""Whether a record from elsewhere has the shape of one of ours: the index trusts shapes."""

import json
from collections.abc import Callable
from typing import Any

from memman.model.rule import ACTIONS
from memman.model.trust import SOURCES
from memman.model.vocabulary import CATEGORIES, EDGE_KINDS, IMPORTANCES, STATUSES, VISIBILITIES
from memman.store import records
from memman.store.records import KIND_OF, Record, split
from memman.store.sqlite import rejected
from memman.store.sqlite.index import RECEIPT, RULE

Check = Callable[[Any], bool]
# Beyond this JSON's readers do not agree on a whole number.
_GREATEST = 2**53
# Characters of a host's name, as of its folder in a sync.
_HOST = 16
# No clock goes so far; what we record next stands behind it.
_LATEST = 2**52


def wrong(record: Record) -> str:
    """Say what is wrong with a record that came from elsewhere, '' for nothing."""
    if bad := [name for name, fits in _FIELDS.items() if not fits(getattr(record, name))]:
        return f"{bad[0]!r} is missing or wrong"
    try:
        body = json.loads(record.body) if record.body else None
    except (ValueError, RecursionError):
        return "'body' is no JSON"
    return "" if body is None else _wrong_body(record.kind, body)


def _wrong_body(kind: str, body: Any) -> str:
    if not isinstance(body, dict) or KIND_OF.get(str(body.get("how"))) != kind:
        return "'how' does not go with its kind"
    for name, fits in _BODY.items():
        if name in body and not fits(body[name]):
            return f"{name!r} is wrong"
    return next((f"{part!r} is wrong" for part, value in body.get("set", {}).items() if not _part(part, value)), "")


def _part(name: str, value: Any) -> bool:
    try:
        part, key = split(name)
    except ValueError:
        return False
    if part in _KEYED:
        fits_key, fits = _KEYED[part]
        return isinstance(key, list) and fits_key(key) and (value is None or fits(value))
    return part in _PARTS and not key and (value is None or _PARTS[part](value))


def _text(value: object) -> bool:
    return isinstance(value, str) and "\0" not in value


def _name(value: object) -> bool:
    return isinstance(value, str) and value.isascii() and value.isalnum()


def _about(value: object) -> bool:
    return isinstance(value, str) and (not value or _name(value.removeprefix(rejected.PREFIX)))


def _number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < _GREATEST


def _share(value: object) -> bool:
    return isinstance(value, int | float) and 0 <= value <= 1


def _list(fits: Check) -> Check:
    return lambda value: isinstance(value, list) and all(map(fits, value))


def _one_of(*words: object) -> Check:
    return lambda value: isinstance(value, str | int) and value in words


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


def _key(*fits: Check) -> Check:
    return lambda key: len(key) == len(fits) and all(check(one) for check, one in zip(fits, key, strict=True))


_FIELDS: dict[str, Check] = {
    "host": lambda value: isinstance(value, str) and len(value) == _HOST and not value.strip("0123456789abcdef"),
    "n": lambda value: _number(value) and value > 0,
    "at": lambda value: _number(value) and 0 <= value < _LATEST,
    "act": lambda value: _text(value) and bool(value),
    "memory": _about,
    "kind": _one_of(*records.KINDS),
    "body": _text,
    "author": _text,
    "visibility": _one_of("", *VISIBILITIES),
}
_BODY: dict[str, Check] = {
    "set": _any_object,
    "was": _any_object,
    "now": _any_object,
    "acts": _list(_text),
    "notes": _list(_text),
    "put": _list(_text),
    "what": _text,
    "did": _text,
}
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
    "author": _text,
    **dict.fromkeys((records.UNTIL, records.VERIFIED, records.PROTECTED, records.HELD, rejected.PART), _number),
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
