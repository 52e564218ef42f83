"""Why a recall shows what it shows: what put each hit where it stands."""

from collections.abc import Mapping, Sequence
from typing import Any

from memman.belief import factor, sourced
from memman.commands.place import Opened
from memman.commands.printing import lines, short, text
from memman.commands.remember import said
from memman.commands.verb import Told, said_store
from memman.model.text import replaced
from memman.recall.hit import UNREAD, Hit
from memman.recall.rescore import MAXSIM, SESSION

# Less than that is written as nothing.
_LEAST = 0.0005


def _print(record: dict[str, Any]) -> None:
    if not record["hits"]:
        text("no hits")
    for hit in record["hits"]:
        lines(_hit_lines(hit))


def explain(store: Opened, query: str, given: Mapping[str, Any]) -> Told:
    """Say how a recall came about."""
    from memman.hot.recall import Asked
    from memman.hot.recall_session import opened

    asked = Asked([query], {"store": said_store(), **said(given)})
    recalls = opened(asked.data, asked.store)
    hits = recalls.hits(asked.query, asked.filters, asked.limit, asked.intent)
    recalls.close()
    return Told({"query": asked.query, "limit": asked.limit, "hits": ranked(store, hits)}, _print)


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


def ranked(store: Opened, hits: Sequence[Hit]) -> list[dict[str, Any]]:
    """Return each of `hits` with what its score is made of."""
    return [_hit(store, hit, number) for number, hit in enumerate(hits, 1)]


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
