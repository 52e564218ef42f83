"""memman's own format: a header, and below it a JSON object a line: a record of the store, as its log has it.

An export that is imported adds what it tells of acts that a store lacks; what the store has stays.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from memman import __version__
from memman.clock import now_ms
from memman.config.purged import WHOLE, Buried, Tombstones, bury
from memman.locks import quiet
from memman.model.errors import UsageError
from memman.portable import files
from memman.portable.incoming import Export, Format, Found
from memman.recovery.taking_in import purged as purged_elsewhere
from memman.recovery.taking_in import take_in
from memman.secrets import masked, screened
from memman.store import records
from memman.store.records import RULE, Parts, Record, harmless, states_of
from memman.store.records import wrong as misshapen
from memman.store.sqlite import record_log
from memman.store.sqlite.catalogue import Catalogue
from memman.store.sqlite.store import open_store

VERSION = 2
NAME = "memman export"
_LACKS = (
    "notes that waited in the queue, settings and backups",
    "vectors of other embedders: `memman embed reembed` makes them again",
)
# What is counted of what was purged where the export is from.
PURGES = "purged there, to be purged here"


def written(store: str, catalogue: Catalogue) -> Iterator[str]:
    """Yield the header and every line of a store, without secrets."""
    db = catalogue.reader.db
    count = db.execute("SELECT count(*) FROM record WHERE memory <> ''").get
    about = {"by": __version__, "at": now_ms(), "store": store, "records": count}
    yield _line({"format": NAME, "version": VERSION, **about})
    for record in (one for one in record_log.every(db) if one.memory):  # of others there is only the number
        said = harmless(record, masked)
        yield _line({name: value for name, value in said._asdict().items() if value != ""} | {"body": said.said})


def ours(first: str) -> bool:
    """Whether a file that begins with this line is of this format, whatever its version."""
    try:
        said = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(said, dict) and said.get("format") == NAME


def read(path: str, text: str) -> Export:
    """Read a file's text, but for lines that are wrong. Raises UsageError for what is not of this format."""
    lines = text.split("\n")
    if not ours(lines[0]):
        raise UsageError(f"{path} is not an export of memman: its first line does not say so")
    about = json.loads(lines[0])
    if about.get("version") != VERSION:
        raise UsageError(
            f"{path} is of version {about.get('version')!r} of the format, and this memman reads version {VERSION}:"
            " export it anew, or upgrade memman; nothing was imported"
        )
    found = Export(about)
    for number, line in enumerate(lines[1:], 2):
        if line.strip() and (wrong := _taken(found, line)):
            found.wrong.append(f"line {number} of {path}: {wrong}")
    if found.wrong and not found.records:
        raise UsageError(f"{found.wrong[0]}; nothing was imported")
    if isinstance(count := about.get("records"), int) and len(found.records) + len(found.wrong) < count:
        raise UsageError(f"{path} is cut short: {len(found.records)} of {count} records; nothing was imported")
    return found


def _taken(found: Export, line: str) -> str:
    """Take in a line; return what is wrong with it, '' for nothing."""
    try:
        said = json.loads(line)
        body = said.pop("body")
        record = Record(**said, body=_line(body).rstrip("\n") if body else "")
        if wrong := misshapen(record, now_ms()):
            return wrong
        found.records.append(record)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError, MemoryError):
        return "it is not what memman writes"
    return ""


def _line(said: Any) -> str:
    return json.dumps(said, ensure_ascii=False, separators=(",", ":")) + "\n"


def _fits(path: str) -> bool:
    return ours(files.beginning(path).partition("\n")[0])


def _found(path: str) -> Found:
    export = read(path, files.text(path))
    return Found(lacks=(*export.wrong, *_LACKS), export=export)


FORMAT = Format("memman", "an export of memman (JSON lines)", _fits, _found)


@dataclass(frozen=True, slots=True)
class Plan:
    """The `missing` records of an export, and what they make of a store: new memories and rules, by uid.

    Of `purged` ones the records come in empty. `here` counts the memories that are there already, `changed` those of
    them that the export knows more of, and `gone` what is there and was purged where the export is from.
    """

    missing: Sequence[Record]
    memories: Mapping[str, Parts]
    rules: Mapping[str, Parts]
    purged: int
    here: int
    changed: int
    gone: int

    def counted(self) -> dict[str, int]:
        """Count what is to be added, memories by status, and what is to be changed."""
        statuses = Counter(parts[records.STATUS]["status"] for parts in self.memories.values())
        more = ((RULE, len(self.rules)), ("changed", self.changed), (PURGES, self.gone))
        return dict(statuses) | {name: n for name, n in more if n}


def planned(data: str, store_path: str, export: Export) -> Plan:
    """Compare an export with a store."""
    with Catalogue.open(store_path) as catalogue:
        db = catalogue.reader.db
        missing = record_log.missing(db, export.records)
        there = {uid for (uid,) in db.execute("SELECT uid FROM memory UNION SELECT uid FROM rule")}
        emptied = {uid for (uid,) in db.execute("SELECT memory FROM record WHERE kind = 'purged'")}
        gone = set(purged_elsewhere(db, missing))
    buried, texts = Tombstones.load(data), Buried.load(data)
    states = states_of(export.records).items()
    memories = {uid: parts for uid, parts in states if records.TEXT in parts}
    rules = {uid: parts for uid, parts in states if RULE in parts and records.TEXT not in parts}

    def refused(uid: str, said: Parts) -> bool:
        return uid in emptied or buried.hold(said["note"], uid) or texts.says(said["text"])

    away = {uid for uid, one in memories.items() if uid not in there and refused(uid, one[records.TEXT])}
    buried_rules = emptied | buried.notes - there
    away |= {uid for uid, one in rules.items() if uid in buried_rules or one[RULE]["memory"] in away}
    return Plan(
        [one._replace(body="") if one.memory in away and one.kind != "purged" else one for one in missing],
        {uid: parts for uid, parts in memories.items() if uid not in there | away},
        {uid: parts for uid, parts in rules.items() if uid not in there | away},
        len(away),
        len(memories.keys() & there),
        len({one.memory for one in missing} & (there - gone)),
        len(gone),
    )


def restored(data: str, store: str, export: Export) -> int:
    """Add to a store what it lacks of an export, all or nothing; return how many memories are new. Raises Busy."""
    with quiet(data), closing(open_store(data, store)) as opened:
        plan = planned(data, opened.path, export)
        if rows := [*_purges(data, plan)]:
            bury(data, rows, now_ms())
        take_in(opened, data, store, [harmless(one, screened) for one in plan.missing])
        opened.maintain()
    return len(plan.memories)


def _purges(data: str, plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield what was purged where the export is from, and is to stay away from now on."""
    known = set(Tombstones.rows(data))
    for one in plan.missing:
        if one.kind == "purged":
            note = one.said.get("note")
            row = (note, one.memory) if note else (one.memory, WHOLE)
            if row not in known:
                yield row
