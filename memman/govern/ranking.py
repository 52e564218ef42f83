"""Why a recall shows what it shows: what put each hit where it stands, and what kept a memory out of the hits."""

from collections.abc import Callable, Sequence
from typing import Any

from memman.config.scope import label
from memman.govern.held import veiled
from memman.govern.ids import Named, all_named
from memman.govern.stores import Chosen, looking
from memman.model.vocabulary import HIDDEN
from memman.recall.hit import Hit
from memman.recall.trace import Reason, Trace
from memman.store import MemoryRow
from memman.store.filters import Filters
from memman.store.sqlite import lineage
from memman.store.sqlite.catalogue import Catalogue, freshness

# Runs the same recall with other filters, and another limit.
Search = Callable[[Filters, int], Trace]

# As many as any recall shows.
MOST = 50
# What kept a memory out -> what recall is asked instead, to see whether anything else keeps it out too.
_LIFTED: dict[str, dict[str, Any]] = {
    "superseded": {"history": True},
    "replaced": {"history": True},
    "scope": {"anywhere": True, "scopes": None},
    "height": {"every": True},
    "doubtful": {"every": True},
    "silent": {"least": 0.0},
    "gate": {"least": 0.0},
    "limit": {},
    **{name: {name: None} for name in ("category", "source", "since", "until", "as_of")},
}


def ranked(place: Chosen, search: Search, recall: Trace, ids: Sequence[str]) -> dict[str, Any]:
    """Return each hit of `recall` with what its score is made of, and where the memories of `ids` stand, or why not."""
    with looking(place) as (catalogue, queue):
        named = all_named(ids, catalogue, queue, place.name)
        silent = None if recall.hits else recall.silent()
        return {
            "store": place.name,
            "query": recall.asked.text,
            "limit": recall.limit,
            "hits": [_hit(catalogue, recall, hit, number) for number, hit in enumerate(recall.hits, 1)],
            "silent": silent and silent.figures,
            "asked": [record for one in named for record in _asked(place, catalogue, search, recall, one)],
        }


def _hit(catalogue: Catalogue, recall: Trace, hit: Hit, place: int) -> dict[str, Any]:
    read = hit.read
    anchor, row = read.anchor, hit.row
    names = _names(catalogue, (anchor.stands_for, hit.behind, hit.via and hit.via[1]))
    return {
        "place": place,
        "uid": row.uid,
        "text": row.text,
        "source": row.source,
        "status": row.status,
        "valid_from": row.valid_from,
        "scope": hit.scope,
        "pending": hit.pending,
        "score": hit.score,
        "parts": recall.parts(hit),
        "words": {"place": anchor.text_rank, "bm25": anchor.text_score, "said": recall.said(row, *_former(hit))},
        "meaning": {"place": anchor.meaning_rank, "cosine": hit.cosine},
        "maxsim": read.maxsim,
        "coverage": hit.coverage,
        "confidence": hit.confidence,
        "needed": recall.needed,
        "doubtful": hit.doubtful,
        "height": recall.height(hit),
        "reliability": hit.reliability,
        "rerank": hit.rerank,
        "labels": list(hit.labels),
        "stands_back": hit.ended,
        "stands_for": names.get(anchor.stands_for or 0),
        "behind": names.get(hit.behind or 0),
        "via": [hit.via[0], names.get(hit.via[1])] if hit.via else None,
        "alike": list(hit.alike),
        "maybe_replaced_by": hit.maybe_replaced_by,
        "until": hit.until,
        "maybe_replaces": [other.row.uid for other in recall.hits if other.maybe_replaced_by == row.uid],
    }


def _former(hit: Hit) -> list[Any]:
    return [hit.read.former] if hit.read.former else []


def _names(catalogue: Catalogue, rows: Sequence[int | None]) -> dict[int, str]:
    return {row.id: row.uid for row in catalogue.reader.rows(filter(None, rows)).values()}


def _asked(place: Chosen, catalogue: Catalogue, search: Search, recall: Trace, one: Named) -> list[dict[str, Any]]:
    """Return where what an id names stands, or what kept it out."""
    if one.note:
        note = recall.notes.get(one.note)
        record = {"uid": one.note, "status": "pending", "source": note.source if note else ""}
        return [record | _stands(search, recall, one.note, lambda trace: trace.kept_out_note(one.note))]
    rows = catalogue.reader.harmless(catalogue.reader.rows(one.memories).values())
    return [_memory(place, catalogue, search, recall, row) for row in rows]


def _memory(place: Chosen, catalogue: Catalogue, search: Search, recall: Trace, row: MemoryRow) -> dict[str, Any]:
    stands = _stands(search, recall, row.uid, lambda trace: trace.kept_out(row.id))
    stands["kept_out"] = [one | _more(catalogue, row, one["why"]) for one in stands["kept_out"]]
    record = {name: getattr(row, name) for name in ("uid", "text", "status", "source")}
    record |= freshness(catalogue.reader, [row.id])[row.id]
    return veiled(place, catalogue.reader, row.uid, record) | stands


def _stands(search: Search, recall: Trace, uid: str, kept_out: Callable[[Trace], Reason]) -> dict[str, Any]:
    """Lift one thing after another that keeps something out, until it is shown or there is nothing left to lift."""
    filters, limit, trace = recall.filters, recall.limit, recall
    why: dict[str, dict[str, Any]] = {}
    while not (stands := trace.place(uid)):
        found = kept_out(trace)
        if found.why in why:
            break
        why[found.why] = found.figures
        if found.why not in _LIFTED:
            break
        filters = filters.having(**_LIFTED[found.why])
        limit = MOST if found.why == "limit" else limit
        trace = search(filters, limit)
    kept = [{"why": name} | figures for name, figures in why.items()]
    return {"place": None if why else stands, "kept_out": kept, "place_then": stands if why else None}


def _more(catalogue: Catalogue, row: MemoryRow, why: str) -> dict[str, Any]:
    """Return what else is known of a reason: what a memory holds for, or what was done to it, when and why."""
    if why == "scope":
        scope = catalogue.reader.scope_of([row.id]).get(row.id)
        return {"scope": label(*scope) if scope else ""}
    if why not in HIDDEN:
        return {}
    lines = [*catalogue.log(limit=1, memory=row.uid), *lineage.undos(catalogue.reader.db, row.id)]
    last = max(lines, key=lambda line: int(line["at"]), default=None)
    return {"verb": last["verb"], "at": last["at"], "said": (last["after"] or {}).get("why", "")} if last else {}
