"""An export taken in: what a store lacks is added as it was, rows and not notes, and what it has stays."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from memman.clock import now_ms
from memman.config.buried import Buried, dig_up_texts
from memman.config.tombstones import WHOLE, Tombstones, bury, dig_up
from memman.locks import quiet
from memman.model.errors import UsageError
from memman.portable.lines import MEMORY, NOTE, PURGED, REJECTED, RULE, SETTING, Export
from memman.recovery.swap import finish
from memman.secrets.leaks import through
from memman.store.opening import open_store
from memman.store.sqlite import load, rules
from memman.store.sqlite.catalogue import Catalogue
from memman.store.sqlite.store import SqliteStore
from memman.upkeep.rules import publish


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be added, and what is not: `here` already, said here by another memory (`same`), `purged`.

    `rules` are to be added, too, `ruled` are the uids of those that are there. With `in_place` memories get the rows
    that they had: the store is empty, or is the one that they are from.
    """

    add: Sequence[Mapping[str, Any]]
    here: Mapping[str, int]
    same: Mapping[str, int]
    purged: Sequence[Mapping[str, Any]]
    in_place: bool
    rules: Sequence[Mapping[str, Any]] = ()
    ruled: frozenset[str] = frozenset()

    def counted(self) -> dict[str, int]:
        """Count what is to be added: memories by status, and rules."""
        return dict(Counter(record["status"] for record in self.add)) | ({RULE: len(self.rules)} if self.rules else {})


def planned(data: str, store_path: str, export: Export, *, purged: bool) -> Plan:
    """Compare an export with a store. With `purged` what was purged here comes back."""
    with Catalogue.open(store_path) as catalogue:
        rows, said = load.known(catalogue.reader.db), load.said(catalogue.reader.db)
        ruled = frozenset(rule["uid"] for rule in rules.listed(catalogue.reader))
    memories = export.rows[MEMORY]
    here = {record["uid"]: rows[record["uid"]] for record in memories if record["uid"] in rows}
    in_place = not rows or (bool(here) and all(one["row"] == here.get(one["uid"], one["row"]) for one in memories))
    buried, texts = (Tombstones(), Buried()) if purged else (Tombstones.load(data), Buried.load(data))
    gone = [
        one
        for one in memories
        if one["uid"] not in here and (buried.hold(one["note"], one["uid"]) or texts.says(one["text"]))
    ]
    left = {one["uid"] for one in gone}
    gone += [rule for rule in export.rows[RULE] if rule["uid"] in buried.notes - ruled]
    fresh = [record for record in memories if record["uid"] not in here.keys() | left]
    same = {record["uid"]: said[key] for record in fresh if (key := _says(record)) in said}
    away = ruled | buried.notes
    meant = [rule for rule in export.rows[RULE] if rule["uid"] not in away and rule.get("memory") not in left]
    return Plan([one for one in fresh if one["uid"] not in same], here, same, gone, in_place, meant, ruled)


def restored(data: str, store: str, export: Export, *, purged: bool) -> tuple[Plan, list[int]]:
    """Add to a store what it lacks of an export, all or nothing; return the plan and the rows. Raises Busy."""
    with quiet(data):
        finish(data)
        with closing(open_store(data, store)) as opened:
            plan = planned(data, opened.path, export, purged=purged)
            try:
                added = _added(opened, export, plan)
            except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
                raise UsageError(
                    f"what goes with a memory is not as memman writes it ({error!r}); nothing was imported"
                ) from error
            opened.maintain()
        _settle(data, export, plan)
    publish(data)
    return plan, added


def _added(store: SqliteStore, export: Export, plan: Plan) -> list[int]:
    rows, records = {**plan.here, **plan.same}, [_harmless(record) for record in plan.add]
    with store.unit() as unit:
        added = load.add(unit, records, rows, in_place=plan.in_place, at=now_ms())
        load.link(unit, export.rows[MEMORY], rows, frozenset(added))
        load.put(unit.db, "receipt", map(through, export.rows[NOTE]))
        load.put_rules(unit, map(through, plan.rules))
        load.put(unit.db, "rejected", map(_digested, export.rows[REJECTED]))
        for setting in export.rows[SETTING]:
            load.put_setting(unit, through(setting), rows)
        unit.renew(added)
        load.put_vectors(unit, plan.add, rows)
    return added


def _settle(data: str, export: Export, plan: Plan) -> None:
    """Keep from now on what was purged where the export is from, and let go of what has come back."""
    back = {record["uid"] for record in plan.add}
    ruled = {rule["uid"] for rule in plan.rules}
    dig_up(data, back, {record["note"] for record in plan.add} | ruled)
    dig_up_texts(data, (record["text"] for record in plan.add))
    known, there = Tombstones.load(data), plan.here.keys() | back
    notes = {record["note"] for record in export.rows[MEMORY] if record["uid"] in there} | ruled | plan.ruled
    fresh = [
        (one["note"], one["memory"])
        for one in export.rows[PURGED]
        if one["memory"] not in there
        and (one["memory"] not in known.memories if one["memory"] != WHOLE else one["note"] not in known.notes | notes)
    ]
    if fresh:
        bury(data, fresh, now_ms())


def _harmless(record: Mapping[str, Any]) -> dict[str, Any]:
    """Take secrets out of all that a memory says."""
    return {name: value if name == "vectors" else through(value) for name, value in record.items()}


def _digested(record: Mapping[str, Any]) -> dict[str, Any]:
    return {"digest": bytes.fromhex(record["digest"]), "at": record["at"]}


def _says(record: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return what a memory says and holds for; one that is not current says nothing now."""
    scope = record["scope"]
    said = record["text"] if record["status"] == "current" else ""
    return said, scope.get("repository", ""), scope.get("path", "")
