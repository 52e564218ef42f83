"""`memman consolidate`: memories that say the same become one, when a person agrees; undone exactly by its id."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import click

from memman.belief import rank
from memman.clock import now_ms
from memman.commands import lint
from memman.commands.person import confirm
from memman.commands.place import Opened, Place, Records, opened, steadily, writing
from memman.commands.printing import Progress, bar, named, short, text, unseen
from memman.commands.verb import verb
from memman.config.schedule import refuse_stopped
from memman.hot.provenance import stamp
from memman.judge.judge import Judge
from memman.model.errors import UsageError
from memman.model.plural import counted
from memman.model.records import Draft, Fact, Note, Provenance, Scope
from memman.model.terms import STOPWORDS, folded, stem
from memman.model.terms import words as words_of
from memman.model.uid import memory_uid, new_uid
from memman.pipeline.comparison import stems
from memman.pipeline.vectors import index
from memman.providers.pool import builtin_embedder
from memman.store.sqlite import quality
from memman.store.sqlite import undo as log
from memman.store.sqlite.index import STAMPED

VERB = "consolidate"
# Memories that are looked at at once, and of each the most alike that it is compared with.
_MOST, _NEIGHBOURS = 2_000, 3
# Two that say the same have more than this share of their words in common.
_COMMON = 0.5
_WHY, _GATHERED = "says the same", "gathered into one"
# The one that stays, and those that it takes the place of.
Group = tuple[int, tuple[int, ...]]


def groups(store: Opened, progress: Progress = unseen) -> list[Group]:
    """Return what says the same: of each group the most trusted and telling one stays.

    Only what holds in one place, until one time, is one; what a person protects or keeps apart is left alone.
    """
    reader, judge = store.reader, Judge()
    pairs = quality.neighbours(reader, quality.sample(reader, _MOST), _NEIGHBOURS)
    apart = quality.kept_apart(reader)
    known = {one["id"]: one for one in store.memories(sorted({row for pair in pairs for row in pair}))}
    scopes, believed = reader.scope_of(known), reader.statements(known)

    def one_place(old: int, new: int) -> bool:
        return scopes.get(old) == scopes.get(new) and known[old]["ends_at"] == known[new]["ends_at"]

    pairs = [pair for pair in pairs if pair not in apart and one_place(*pair)]
    texts = [(known[old]["text"], known[new]["text"]) for old, new in pairs]
    said = lint.compared(judge, texts, lambda count: progress(count, len(pairs)))
    same: dict[int, set[int]] = {}
    for (old, new), finding in zip(pairs, said, strict=True):
        if finding == "same" and not of_two_things(known[old]["text"], known[new]["text"]):
            same.setdefault(old, set()).add(new)
            same.setdefault(new, set()).add(old)

    def best(row: int) -> tuple[bool, int, bool, int, int]:
        one = known[row]
        return (
            not believed[row].protected,
            rank(one["source"]),
            believed[row].lone,
            -len(stems(one["text"])),
            -row,
        )

    found, taken = [], set[int]()
    for row in sorted(same, key=best):
        others = sorted(one for one in same[row] - taken if not believed[one].protected)
        if row not in taken and others:
            found.append((row, tuple(others)))
            taken |= {row, *others}
    return sorted(found)


def of_two_things(one: str, other: str) -> bool:
    """Whether two texts are about two things: of two words side by side one differs or both, or half of all words do.

    What is said of the order worker is to the judge often the same as what is said of the order service.
    """
    first, second = _beside(one), _beside(other)
    rivals = any((a == c) != (b == d) for a, b in first - second for c, d in second - first)
    rivals |= all(
        any(stems(text).isdisjoint(pair) for pair in pairs) for text, pairs in ((other, first), (one, second))
    )
    common = len(stems(one) & stems(other))
    return rivals or common <= _COMMON * max(len(stems(one)), len(stems(other)))


def _beside(text: str) -> set[tuple[str, str]]:
    """Return the telling words that stand side by side in a text."""
    found = [folded(word) for word in words_of(text)]
    return {(stem(a), stem(b)) for a, b in pairwise(found) if not {a, b} & STOPWORDS}


def proposed(store: Opened, ids: Sequence[str] = (), progress: Progress = unseen) -> Records:
    """Describe what says the same, `into` the memory that stays; with `ids` only what these are among."""
    store.reader.hold()
    rows, found = store.rows_of(ids), groups(store, progress)
    if rows:
        found = [(kept, others) for kept, others in found if {kept, *others} & {*rows}]
    known = {one["id"]: one for one in store.memories([row for kept, others in found for row in (kept, *others)])}
    return [{"into": known[kept], "memories": [known[row] for row in others]} for kept, others in found]


@steadily
def merged(place: Place, found: Records) -> dict[str, Any]:
    """Have each group be the one memory that stays, in one act; what changed since it was shown is left as it is."""
    refuse_stopped(place.data, VERB)
    now = now_ms()
    with writing(place) as store, store.unit() as unit:
        act, done = unit.act_at(now), []
        for group in found:
            into = group["into"]
            rows = store.reader.rows([into["id"], *(one["id"] for one in group["memories"])])
            if any(rows[one["id"]].text != one["text"] for one in (into, *group["memories"])):
                continue
            if rows[into["id"]].status != "current":
                continue
            done += [
                one
                for one in group["memories"]
                if unit.supersede(one["id"], into["id"], now, rows[into["id"]].valid_from, _WHY)
            ]
        if done:
            log.keep(unit, now, VERB, f"{counted(len(done), 'memory')} into others", how=VERB, acts=[])
    return {"id": act if done else None, "merged": len(done)}


def together(place: Place, ids: Sequence[str]) -> Records:
    """Return the memories that a person's words are to take the place of. Raises UsageError where they cannot."""
    with opened(place) as store:
        rows = store.rows_of(ids)
        records = store.memories(rows)
        believed = store.reader.statements(rows)
        scopes = {store.reader.scope_of([row]).get(row) for row in rows}
    away = next((one for one in records if one["status"] != "current"), None)
    if away:
        raise UsageError(f"{short(away['uid'])} is {away['status']}: give current memories")
    if kept := next((one for one in records if believed[one["id"]].protected), None):
        raise UsageError(f"{short(kept['uid'])} is protected: `memman insights protect --undo` ends that")
    if len(rows) < 2 or len(scopes) > 1:  # noqa: PLR2004 - two or more become one
        raise UsageError("--text replaces two or more memories of one scope: give their ids")
    return records


@steadily
def gathered(place: Place, found: Records, words: str) -> dict[str, Any]:
    """Have a person's words take the place of memories, as a note of theirs: it is undone by its id."""
    refuse_stopped(place.data, VERB)
    now, rows = now_ms(), [one["id"] for one in found]
    who = stamp(place.data, "", None)
    came = Provenance(*(who[name] for name in ("source", *STAMPED)))
    note = Note(new_uid(now), place.name, words, now, provenance=came)
    names = tuple(dict.fromkeys(name for one in found for name in one["entities"]))
    kinds = Counter(one["category"] for one in found)
    fact = Fact(words, kinds.most_common(1)[0][0], max(one["importance"] for one in found), names)
    with writing(place) as store, builtin_embedder() as local:
        scope = Scope(*store.reader.scope_of(rows).get(rows[0], ()))
        local.vectors([words])  # remembered, so that the transaction is short
        with store.unit() as unit:
            unit.receipt(note, now, "stored", 1)
            draft = Draft(memory_uid(note.uid, 0), note.uid, fact, came.source, came.origin, now, scope=scope)
            memory = unit.add(draft, now)
            index(unit, local, store.cell, [memory])
            unit.unlinked(memory, memory)
            done = [row for row in rows if unit.supersede(row, memory, now, now, _GATHERED)]
    return {"id": note.uid, "merged": len(done)}


def _lines(found: Records) -> list[str]:
    """Write each group: what stays, and below it what it takes the place of."""
    return [
        line
        for group in found
        for line in (f"stays  {named(group['into'])}", *(f"  replaced  {named(one)}" for one in group["memories"]))
    ]


def _print(report: dict[str, Any]) -> None:
    if not report["groups"]:
        text("no two memories say the same")
    elif report["id"]:
        back = f"memman undo {short(report['id'], note=True)}"
        text(f"{counted(report['merged'], 'memory')} merged; to undo this: {back}")
    elif report["dry_run"]:
        for line in _lines(report["groups"]):
            text(line)
        text("nothing was changed: this was a dry run")
    else:
        text("nothing was merged: these memories were changed meanwhile")


@verb(shows=_print)
@click.argument("ids", nargs=-1, metavar="[ID...]")
@click.option("--text", "words", metavar="TEXT", help="Replace the IDs by this text.")
@click.option("--dry-run", is_flag=True, help="Only show what would be merged.")
def consolidate(
    place: Place, ids: Sequence[str] = (), *, words: str | None = None, dry_run: bool = False
) -> dict[str, Any]:
    """Merge memories that say the same, after a person has agreed.

    The most trusted and detailed one is kept word for word, and supersedes the others; `memman show` names them.
    `memman undo` with the printed id restores everything. With --text the IDs may say different things, such as
    lines about one topic (`memman wiki show TOPIC`).
    """
    if words is not None:
        if not words.strip():
            raise UsageError("--text is empty: give the text that replaces these memories")
        return _in_words(place, ids, words.strip(), dry_run=dry_run)
    with bar("comparing", "nothing was changed") as progress, opened(place) as store:
        found = proposed(store, ids, progress)
    report = {"groups": found, "dry_run": dry_run, "id": None, "merged": 0}
    if dry_run or not found:
        return report
    confirm(f"Merge these {len(found)} groups?" if len(found) > 1 else "Merge these?", listed=_lines(found))
    return report | merged(place, found)


def _in_words(place: Place, ids: Sequence[str], words: str, *, dry_run: bool) -> dict[str, Any]:
    found = together(place, ids)
    groups = [{"into": {"uid": "", "source": "user", "text": words}, "memories": found}]
    report = {"groups": groups, "dry_run": dry_run, "id": None, "merged": 0}
    if dry_run:
        return report
    confirm("Replace them by your text?", listed=_lines(groups))
    return report | gathered(place, found, words)
