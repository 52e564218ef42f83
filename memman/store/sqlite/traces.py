"""References to memories in other tables: log, receipts, marks, rules, undos; in the caller's transaction."""

import json
from collections.abc import Collection, Mapping
from typing import NamedTuple

import apsw

from memman.model.vocabulary import MAYBE
from memman.sqlite import LISTED, id_list
from memman.store.sqlite import authorship, undone
from memman.store.sqlite.seal import reseal

# Verbs whose lines name another memory than their own, and how those begin that are about a rule.
_NAMING = "('link', 'doubt', 'keep', 'contradict')"
_OF_RULES = "rule *"
_OF_SHARED = "memory IN (SELECT uid FROM memory JOIN authorship a ON a.memory = id AND a.visibility = 'shared')"


class Gone(NamedTuple):
    """A memory that is not here any more: its uid, what took its place, and whether it was purged."""

    uid: str
    heir: int | None
    purged: bool


def clear_log(db: apsw.Connection, gone: Mapping[int, str], where: str = "1") -> None:
    """Take out of lines of other memories what they say of those in `gone`, by row and uid."""
    uids, ids = json.dumps([*gone.values()]), id_list(gone)
    db.execute(
        f"UPDATE log SET before = NULL, after = NULL WHERE verb IN {_NAMING} AND {where}"
        " AND EXISTS (SELECT 1 FROM json_each(?) WHERE instr(coalesce(after, before), value))",
        (uids,),
    )
    for side in ("before", "after"):
        db.execute(
            f"UPDATE log SET {side} = json_remove({side}, '$.superseded_by', '$.why')"
            f" WHERE json_extract({side}, '$.superseded_by') {LISTED} AND {where}",
            (ids,),
        )


def drop_rules(db: apsw.Connection, uids: Collection[str]) -> None:
    """Delete the rules that memories became, and empty what the log says of those."""
    memories = json.dumps([*uids])
    of_them = f"SELECT uid FROM rule WHERE memory {LISTED}"
    db.execute(
        f"UPDATE log SET before = NULL, after = NULL WHERE verb GLOB '{_OF_RULES}' AND memory IN ({of_them})",
        (memories,),
    )
    db.execute(f"DELETE FROM rule WHERE memory {LISTED}", (memories,))


def pass_on(db: apsw.Connection, memory: int, heir: int | None) -> None:
    """Have what a memory took the place of be superseded by what took its own."""
    for (row,) in db.execute("SELECT id FROM memory WHERE superseded_by = ?", (memory,)).fetchall():
        db.execute("UPDATE memory SET superseded_by = ? WHERE id = ?", (heir, row))
        reseal(db, "id = ?", (row,))


def withdraw(db: apsw.Connection, memory: int) -> None:
    """Take out of what others see what it says of a memory that they see no more."""
    uid: str = db.execute("SELECT uid FROM memory WHERE id = ?", (memory,)).get
    clear_log(db, {memory: uid}, _OF_SHARED)
    marked = f"substr(key, {len(MAYBE) + 1}) IN (SELECT uid FROM memory JOIN authorship a ON a.memory = id"
    db.execute(
        f"DELETE FROM meta WHERE key GLOB '{MAYBE}*' AND value = ? AND {marked} AND a.visibility = 'shared')", (uid,)
    )
    ours = "SELECT m.note FROM memory m JOIN authorship a ON a.memory = m.id WHERE a.author IN ('', ?)"
    undone.forget_receipts(db, {memory}, f"note NOT IN ({ours})", authorship.role(db))


def settle(db: apsw.Connection, gone: Mapping[int, Gone]) -> None:
    """Take out of what is ours what it says of memories that others took from us, by their rows."""
    clear_log(db, {memory: one.uid for memory, one in gone.items()})
    purged = {memory: one for memory, one in gone.items() if one.purged}
    undone.forget(db, {*gone}, notes=not purged)
    drop_rules(db, [one.uid for one in purged.values()])
    for memory, one in purged.items():
        pass_on(db, memory, one.heir)
