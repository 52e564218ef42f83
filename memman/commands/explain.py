"""Why a recall shows what it shows: what put each hit where it stands, and what would let another memory in."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from memman.belief import factor, sourced
from memman.commands.place import Named, Opened
from memman.commands.printing import labelled, lines, short, text
from memman.commands.remember import said
from memman.commands.verb import Told, said_store
from memman.model.text import replaced
from memman.model.vocabulary import HIDDEN
from memman.recall.hit import UNREAD, Hit
from memman.recall.rescore import MAXSIM, SESSION
from memman.store import MemoryRow

# Runs the same recall with some of LIFTS.
Search = Callable[[Iterable[str]], Sequence[Hit]]

_UNFOUND = "no search finds it by this query"
# As many hits as any recall shows.
MOST = 50
# The options of `recall` that let more in, and what each lifts; the last are the mildest.
LIFTS: dict[str, dict[str, Any]] = {
    "--min-confidence 0": {"least": 0.0},
    "--history": {"history": True},
    "--all-scopes": {"anywhere": True, "scopes": None},
    **{f"no --{name.replace('_', '-')}": {name: None} for name in ("category", "source", "since", "until", "as_of")},
    "--all": {"every": True},
    "--limit 50": {},
}


# What is told of a memory that is asked about.
_ASKED = ("uid", "text", "status", "source", "ends_at", "file_changed_at")
# Less than that is written as nothing.
_LEAST = 0.0005


def _print(record: dict[str, Any]) -> None:
    if not record["hits"]:
        text("no hits")
    lines(chain(*map(_hit_lines, record["hits"]), *map(_asked_lines, record["asked"])))


def explain(store: Opened, query: str, ids: Sequence[str], given: Mapping[str, Any]) -> Told:
    """Say how a recall came about, and where the memories of `ids` stand."""
    from memman.hot.recall import Asked
    from memman.hot.recall_session import opened

    asked = Asked([query], {"store": said_store(), **said(given)})
    recalls = opened(asked.data, asked.store)

    def search(options: Iterable[str]) -> Any:
        lifted = {name: value for option in options for name, value in LIFTS[option].items()}
        limit = MOST if "--limit 50" in options else asked.limit
        return recalls.hits(asked.query, asked.filters.having(**lifted), limit, asked.intent)

    hits = search(())
    record = {"query": asked.query, "limit": asked.limit} | ranked(store, search, hits, ids)
    recalls.close()
    return Told(record, _print)


def _hit_lines(hit: dict[str, Any]) -> list[str]:
    """Write a hit: its line, what its score is made of, and what else moved it."""
    source = sourced(hit["source"]) + (f", in {hit['scope']}" if hit["scope"] else "")
    score, moved = reasons(hit)
    return [
        f"{hit['place']}  {short(hit['uid'], note=hit['pending'])}  {source}: {hit['text']}",
        f"   {score}",
        f"   {moved}",
    ]


def reasons(hit: dict[str, Any]) -> tuple[str, str]:
    """Say of a hit what its score is made of, and what else moved it."""
    parts = ", ".join(f"{name} {part:.3f}" for name, part in hit["parts"].items() if abs(part) >= _LEAST)
    words, meaning, via = hit["words"], hit["meaning"], hit["via"] or ("", "")
    told = {
        "waits in the queue": hit["pending"],
        f"place {words['place']} by words (share {words['share']:.2f})": words["place"],
        f"place {meaning['place']} by meaning (cosine {meaning['cosine'] or 0:.3f})": meaning["place"],
        f"found by {short(hit['stands_for'] or '')}, which it superseded": hit["stands_for"],
        f"superseded, so it is listed below {short(hit['behind'] or '')}": hit["behind"],
        f"{via[0]} edge from {short(via[1] or '')}": hit["via"],
        f"reliability {hit['reliability'] or 0:.2f}": hit["reliability"] is not None,
        ", ".join(hit["labels"]): hit["labels"],
        f"stands for {len(hit['alike'])} alike": hit["alike"],
        replaced(hit["maybe_replaced_by"] or "", hit["until"]): hit["maybe_replaced_by"],
        f"confidence {hit['confidence']:.3f}" + (", low" if hit["doubtful"] else ""): True,
    }
    return f"score {hit['score']:.3f}: {parts}", "; ".join(line for line, moved in told.items() if moved)


def _asked_lines(asked: dict[str, Any]) -> list[str]:
    waits = asked["status"] == "pending"
    head = "a note that waits" if waits else f"{labelled(asked)}: {asked.get('text') or ''}"
    where = f"place {asked['place']}" if asked["place"] else f"not shown: {asked['why']}"
    if asked["place_then"]:
        where = f"not shown; with {' and '.join(asked['with'])}: place {asked['place_then']}"
    return [f"{short(asked['uid'], note=waits)}  {head}", f"   {where}"]


def ranked(store: Opened, search: Search, hits: Sequence[Hit], ids: Sequence[str]) -> dict[str, Any]:
    """Return each of `hits` with what its score is made of, and where what `ids` name stands, or would stand."""
    asked = [record for one in store.find_all(ids) for record in _asked(store, search, hits, one)]
    return {"hits": [_hit(store, hit, number) for number, hit in enumerate(hits, 1)], "asked": asked}


def _hit(store: Opened, hit: Hit, place: int) -> dict[str, Any]:
    read, row = hit.read, hit.row
    rows = filter(None, (read.anchor.stands_for, hit.behind, hit.via and hit.via[1]))
    names = {row.id: row.uid for row in store.reader.rows(rows).values()}
    same = "scope pending score confidence doubtful reliability labels alike maybe_replaced_by until".split()
    return {
        "place": place,
        **{name: getattr(row, name) for name in ("uid", "text", "source", "status", "valid_from")},
        **{name: getattr(hit, name) for name in same},
        "parts": _parts(hit),
        "words": {"place": read.anchor.words_rank, "share": read.anchor.words},
        "meaning": {"place": read.anchor.meaning_rank, "cosine": hit.cosine},
        "stands_for": names.get(read.anchor.stands_for or 0),
        "behind": names.get(hit.behind or 0),
        "via": [hit.via[0], names.get(hit.via[1])] if hit.via else None,
    }


def _parts(hit: Hit) -> dict[str, float]:
    """Return what each part adds to a hit's score; together they are the score."""
    if hit.pending:
        return {"words": hit.coverage, "time": hit.score - hit.coverage}
    if hit.read is UNREAD:
        return {"edge" if hit.via else "succession": hit.score}
    read, whole = hit.read, 1 + SESSION + MAXSIM
    moved = hit.reliability is not None and hit.behind is None
    parts = {
        "search": read.anchor.score / whole,
        "session": read.session / whole,
        "likeness": MAXSIM * read.maxsim / whole,
        "reliability": read.score * (factor(hit.reliability or 0.5) - 1) if moved else 0.0,
    }
    return parts | {"succession": hit.score - sum(parts.values())}


def _asked(store: Opened, search: Search, hits: Sequence[Hit], one: Named) -> list[dict[str, Any]]:
    """Return where what an id names stands, with which options it would, or what keeps it out whatever is asked."""
    if one.note:
        return [{"uid": one.note, "status": "pending", "source": "", "why": _UNFOUND} | _stands(search, hits, one.note)]
    told = {record["id"]: record for record in store.memories(one.memories)}
    return [
        {name: told[row.id][name] for name in _ASKED} | _stands(search, hits, row.uid) | {"why": _kept_out(search, row)}
        for row in store.reader.harmless(store.reader.rows(one.memories).values())
    ]


def _stands(search: Search, hits: Sequence[Hit], uid: str) -> dict[str, Any]:
    """Return the place; of what is not shown the fewest options that would show it, and the place then."""
    place, options, then = _place(hits, uid), list(LIFTS), None
    if not place and (then := _place(search(options), uid)):
        for option in LIFTS:
            fewer = [one for one in options if one != option]
            if at := _place(search(fewer), uid):
                options, then = fewer, at
    return {"place": place, "with": options if then else [], "place_then": then}


def _place(hits: Sequence[Hit], uid: str) -> int | None:
    return next((number for number, hit in enumerate(hits, 1) if hit.row.uid == uid), None)


def _kept_out(search: Search, row: MemoryRow) -> str:
    if row.status in HIDDEN:
        return f"it is hidden ({row.status}): `memman show {row.uid[:8]}` shows what was done to it"
    by = next((hit.row.uid for hit in search(LIFTS) if row.uid in hit.alike), "")
    return f"{by[:8]} says the same and stands for it" if by else _UNFOUND
