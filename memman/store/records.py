"""A store is a log of records; what it knows of a memory is the fold of that memory's records.

A record never changes, but for a purge that empties its body. `state_of` is a pure function of a set of records: in
whatever order they arrived, machines that hold the same records know the same. A record from elsewhere must have the
shape of one of ours (`wrong`): the index trusts shapes.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import Any, NamedTuple
from zlib import crc32

from memman.belief import SOURCES
from memman.model.rule import ACTIONS
from memman.model.vocabulary import CATEGORIES, EDGE_KINDS, IMPORTANCES, STATUSES, VISIBILITIES
from memman.secrets.leaks import through
from memman.store import LISTS, MemoryRow

# What a record says was done, by kind. The body says it in a verb of the log (`how`).
KINDS = {
    "learned": ("add", "hold", "import", "take over"),
    "related": ("supersede", "doubt", "contradict", "confirm", "keep", "settle", "link", "cause", "support"),
    "retired": ("forget", "archive", "reject"),
    "restored": ("restore", "reinstate", "approve"),
    "scoped": ("move",),
    "held until": ("expire", "name"),
    "verified": ("verify",),
    "rated": ("feedback",),
    "protected": ("protect", "unprotect"),
    "shared": ("share", "unshare"),
    "rule": ("rule add", "rule remove", "rule snooze", "rule move"),
    "noted": ("note",),
    "refused": ("refuse",),
    "redacted": ("redact",),
    "undone": ("undo", "rename", "consolidate"),
    "purged": ("purge", "rule purge"),
}
KIND_OF = {how: kind for kind, hows in KINDS.items() for how in hows}

# How the act of a host begins that took over a store of an earlier schema.
TAKEN_OVER = "taken over by "

# The parts of a memory's state: each record sets some of them, and the last one to set a part has its way. A part of
# which there may be several is named with its key: `evidence ["said","session"]`.
TEXT, STATUS, SCOPE, VISIBILITY = "text", "status", "scope", "visibility"
# Who wrote a memory, and who had it stand as it does, of those who share the store; nobody else than us without these.
AUTHOR, RETIRED_BY = "author", "retired_by"
UNTIL, VERIFIED = "until", "verified"
PROTECTED, HELD, MAYBE, CLAIMS = "protected", "held", "maybe", "claims"
# Parts of one number or text.
PLAIN: dict[str, type] = {AUTHOR: str, **dict.fromkeys((UNTIL, VERIFIED, PROTECTED, HELD), int)}
# How sure it is that a memory is against another one that it claims to be.
SURELY, UNSURE = "surely", "maybe"
EVIDENCE, FILE, EDGE = "evidence", "file", "edge"
# What a note and a rule have for a state; how the log names a text that a person rejected, and since when it is.
RECEIPT, RULE = "receipt", "rule"
REJECTED_PREFIX, REJECTED = "rejected:", "rejected"

# How an act is named that compares two memories, and how a record begins that has one supersede another: of two hosts
# that found otherwise, the one that let both stand counts.
PAIR, ENDS = "pair", '{"how":"supersede"'

Parts = dict[str, Any]
# How a memory stands that nothing has happened to; and the columns of a memory that its text sets.
HOLDS: Parts = {"status": "current", "valid_to": None, "retired_at": None, "superseded_by": None}
SAID = tuple(name for name in MemoryRow.columns if name not in {"id", "uid", "uses", *HOLDS})
Check = Callable[[Any], bool]
# Beyond this JSON's readers do not agree on a whole number.
_GREATEST = 2**53
# No clock goes so far.
_LATEST = 2**52
# Milliseconds by which the clock of another machine may be ahead: what we record next stands behind all that it did.
AHEAD_MS = 86_400_000
_HOST = re.compile(r"[0-9a-f]{16}")
_REJECTED = re.compile(REJECTED_PREFIX + r"[0-9a-f]{32}")
# What no record takes away again.
_LASTING = (TEXT, STATUS)


class Record(NamedTuple):
    """One change: number `n` of `host`, at a moment (Unix milliseconds), as part of an act (the uid of a note or verb).

    `memory` is the uid of what it is about: a memory, a rule or a note. `body` is JSON, empty where it was purged.
    """

    host: str
    n: int
    at: int
    act: str
    memory: str
    kind: str
    body: str
    author: str = ""
    visibility: str = ""

    @property
    def order(self) -> tuple[int, str, int]:
        """Where it stands among all records."""
        return self.at, self.host, self.n

    @property
    def lost(self) -> bool:
        """Whether only its number is known: what it said is lost. It counts for nothing, and has no moment."""
        return not (self.at or self.memory)

    @property
    def said(self) -> dict[str, Any]:
        """What its body says."""
        found: dict[str, Any] = json.loads(self.body or "{}")
        return found

    @property
    def sum(self) -> int:
        """A checksum of all that it says."""
        return crc32(ascii(tuple(self)).encode())


def lost(host: str, n: int) -> Record:
    """Return what stands for a record that is lost."""
    return Record(host, n, 0, "", "", "", "")


def named(part: str, *key: str) -> str:
    """Name a part of which there may be several."""
    return f"{part} {json.dumps(key, ensure_ascii=False, separators=(',', ':'))}"


def split(name: str) -> tuple[str, list[str]]:
    """Return a part and its key."""
    part, _, key = name.partition(" ")
    return part, json.loads(key) if key else []


def body(how: str, **said: Any) -> str:
    """Write the body of a record."""
    kept = {name: value for name, value in said.items() if value not in (None, {}, "")}
    return json.dumps({"how": how, **kept}, ensure_ascii=False, separators=(",", ":"))


@lru_cache(1024)
def _sets(text: str) -> Mapping[str, Any]:
    """Return the parts of a state that a body sets: an undo folds each memory three times."""
    sets: Mapping[str, Any] = json.loads(text).get("set", {})
    return sets


@lru_cache(256)
def _acts(text: str) -> frozenset[str]:
    """Return the acts that the body of an undo names."""
    return frozenset(json.loads(text or "{}").get("acts", ()))


@lru_cache(256)
def hangs_on(text: str) -> frozenset[str]:
    """Return the acts that the body of a comparison names: with them it is undone, too."""
    return frozenset(json.loads(text or "{}").get("of", ()))


def undone_acts(records: Iterable[Record]) -> set[str]:
    """Return the acts that these records take back, and none whose undo was itself taken back."""
    gone: set[str] = set()
    for record in sorted(records, key=lambda one: one.order, reverse=True):
        if record.kind == "undone" and record.act not in gone:
            gone |= _acts(record.body)
    return gone


def state_of(
    records: Collection[Record], winners: Mapping[str, str] | None = None, undos: Collection[Record] = ()
) -> Parts:
    """Fold the records of one memory, rule or note: part -> value, without the parts that are no more.

    `winners` names, for each act that two hosts did both, the one that counts. `undos` are the lines of undos under
    their own ids, which take back whole acts. What an undone act learned is forgotten, and what it was compared
    with stands as if it had not been.
    """
    every = {*records, *undos}
    counted = [one for one in every if one.body and (winners or {}).get(one.act, one.host) == one.host]
    gone = undone_acts(counted)
    learned = {one.act for one in counted if one.kind == "learned"}
    state: Parts = {}
    for record in sorted(counted, key=lambda one: one.order):
        taken_back = record.act in gone or bool(
            record.act.startswith(PAIR) and (acts := hangs_on(record.body)) and acts <= gone
        )
        if record.kind == "undone" and not taken_back:
            if STATUS in state and not learned.isdisjoint(_acts(record.body)):
                status = state[STATUS]
                retired_at = status["retired_at"] or record.at
                state[STATUS] = status | {"status": "forgotten", "retired_at": retired_at}
        elif record.kind in {"learned", "noted"} or not taken_back:
            sets = _sets(record.body)
            state |= sets
            if record.author and TEXT in sets:
                state.setdefault(AUTHOR, record.author)
            if STATUS in sets:
                state[RETIRED_BY] = record.author or None
    return {name: value for name, value in state.items() if value is not None}


def pair(*memories: str) -> str:
    """Name the act by which two memories that were learned apart are compared, whichever host does it."""
    return PAIR + blake2b(" ".join(sorted(memories)).encode(), digest_size=16).hexdigest()


def states_of(records: Iterable[Record]) -> dict[str, Parts]:
    """Fold records of many memories, rules and notes: the state of each, by its uid."""
    of: dict[str, list[Record]] = {}
    hosts: dict[str, dict[str, tuple[bool, int]]] = {}
    undos = []
    for one in records:
        if one.kind == "undone" and one.memory == one.act:
            undos.append(one)
        of.setdefault(one.memory, []).append(one)
        did = hosts.setdefault(one.act, {})
        ends, at = did.get(one.host, (False, one.at))
        ends |= one.act.startswith(PAIR) and one.body.startswith(ENDS)
        did[one.host] = ends, min(at, one.at)
    winners = {act: min(did, key=lambda host: (*did[host], host)) for act, did in hosts.items()}
    return {uid: state_of(found, winners, undos) for uid, found in of.items()}


def wrong(record: Record, now: int | None = None) -> str:
    """Say what is wrong with a record that came from elsewhere, `now` where that is told, '' for nothing."""
    if bad := [name for name, shape in _FIELDS.items() if not _fits(getattr(record, name), shape)]:
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
    for name, shape in _BODY.items():
        if name in body and not _fits(body[name], shape):
            return f"{name!r} is wrong"
    sets = body.get("set", {})
    if TEXT in sets and STATUS not in sets:
        return "it has a text and no status"
    return next((f"{part!r} is wrong" for part, value in sets.items() if not _part(part, value)), "")


def _part(name: str, value: Any) -> bool:
    try:
        part, key = split(name)
    except ValueError:
        return False
    if part in _KEYED:
        shapes, shape = _KEYED[part]
        keyed = isinstance(key, list) and len(key) == len(shapes) and all(map(_fits, key, shapes))
        return keyed and (value is None or _fits(value, shape))
    return part in _PARTS and not key and (_fits(value, _PARTS[part]) or (value is None and part not in _LASTING))


def _fits(value: Any, shape: Any) -> bool:
    """Whether a value has a shape: str, int, words to choose from, a list of one, an object of some, or a check."""
    if isinstance(shape, dict):
        return isinstance(value, dict) and value.keys() == shape.keys() and _of_shapes(value, shape)
    if isinstance(shape, list):
        return isinstance(value, list) and all(_fits(one, shape[0]) for one in value)
    if isinstance(shape, tuple):
        return type(value) in {str, int} and value in shape
    return bool(_text(value) if shape is str else _number(value) if shape is int else shape(value))


def _text(value: object) -> bool:
    try:
        return isinstance(value, str) and b"\0" not in value.encode()
    except UnicodeError:  # half a character: no database keeps it
        return False


def _number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < _GREATEST


def _of_shapes(value: dict[str, Any], shapes: Mapping[str, Any]) -> bool:
    return all(name in shapes and _fits(one, shapes[name]) for name, one in value.items())


def _some(shapes: Mapping[str, Any], *needed: str) -> Check:
    """Have an object with some of these names, and those that are needed."""
    return lambda value: isinstance(value, dict) and value.keys() >= {*needed} and _of_shapes(value, shapes)


def _or_none(shape: Any) -> Check:
    return lambda value: value is None or _fits(value, shape)


def _name(value: object) -> bool:
    return isinstance(value, str) and value.isascii() and value.isalnum()


def _share(value: Any) -> bool:
    return type(value) in {int, float} and 0 <= value <= 1


def _side(value: object) -> bool:
    """Whether it tells how something stood or stands, as a line of the log shows it."""
    plain = (str, int, _share, [str])
    return isinstance(value, dict) and all(
        one is None or any(_fits(one, kind) for kind in plain) for one in value.values()
    )


_FIELDS: dict[str, Any] = {
    "host": lambda value: isinstance(value, str) and bool(_HOST.fullmatch(value)),
    "n": lambda value: _number(value) and value > 0,
    "at": lambda value: _number(value) and 0 <= value < _LATEST,
    "act": lambda value: _text(value) and _name(value.removeprefix(TAKEN_OVER)),
    "memory": lambda value: _name(value) or (_text(value) and bool(_REJECTED.fullmatch(value))),
    "kind": tuple(KINDS),
    "body": str,
    "author": str,
    "visibility": ("", *VISIBILITIES),
}
_BODY: dict[str, Any] = {
    "set": lambda value: isinstance(value, dict),
    "was": _side,
    "now": _side,
    **{name: [str] for name in ("acts", "of", "notes", "put")},
    "what": str,
    "did": str,
    "note": _name,
    "learned": lambda value: value is True,
}
_WHERE = {"repository": str, "path": str}
_STAMP = dict.fromkeys(("agent", "session", "cwd", "repository", "revision", "host", "user", "drain", "models"), str)
# Columns of a memory of which more is known than their kind.
_COLUMNS = {
    "note": _name,
    "category": CATEGORIES,
    "importance": tuple(map(int, IMPORTANCES)),
    "source": SOURCES,
    **{name: [str] for name in LISTS},
}
_NEEDED = ("note", "text", "category", "importance", "source", "valid_from", "recorded_at")
_PARTS: dict[str, Any] = {
    TEXT: _some({name: _COLUMNS.get(name, MemoryRow.__annotations__[name]) for name in SAID}, *_NEEDED),
    STATUS: {
        "status": STATUSES,
        "valid_to": _or_none(int),
        "retired_at": _or_none(int),
        "superseded_by": _or_none(_name),
    },
    SCOPE: _some(_WHERE),
    VISIBILITY: VISIBILITIES,
    **PLAIN,
    REJECTED: int,
    MAYBE: _name,
    CLAIMS: lambda value: isinstance(value, dict) and all(map(_name, value)) and _fits([*value.values()], [str]),
    RECEIPT: _some({"at": int, "outcome": str, "facts": int} | _STAMP, "at", "outcome", "facts"),
    RULE: {
        **dict.fromkeys(("text", "tool", "pattern", "memory"), str),
        "action": tuple(ACTIONS),
        "made_at": int,
        "ends_at": _or_none(int),
        "snoozed_until": _or_none(int),
        **_WHERE,
    },
}
# Parts of which there may be several, each with the shapes of its key and of its value.
_KEYED: dict[str, tuple[list[Any], Any]] = {
    EVIDENCE: ([str, str], int),
    FILE: ([str], str),
    EDGE: ([EDGE_KINDS, _name], {"weight": _share, "detail": str}),
}
