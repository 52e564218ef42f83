"""A store is a log of records; what it knows of a memory is the fold of that memory's records.

A record never changes, but for a purge that empties its body. `state_of` is a pure function of a set of records: in
whatever order they arrived, machines that hold the same records know the same.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import Any, NamedTuple
from zlib import crc32

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
# Parts of one number or text, and those that table `mark` has as columns.
PLAIN: dict[str, type] = {AUTHOR: str, **dict.fromkeys((UNTIL, VERIFIED, PROTECTED, HELD), int)}
MARKS = (PROTECTED, HELD, MAYBE)
# How sure it is that a memory is against another one that it claims to be.
SURELY, UNSURE = "surely", "maybe"
EVIDENCE, FILE, EDGE = "evidence", "file", "edge"

# How an act is named that compares two memories, and how a record begins that has one supersede another: of two hosts
# that found otherwise, the one that let both stand counts.
PAIR, ENDS = "pair", '{"how":"supersede"'

Parts = dict[str, Any]


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
