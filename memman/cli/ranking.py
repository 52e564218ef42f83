"""`memman why --query`: why each hit of a recall stands where it does, and why a memory is not among them."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from memman.cli.hot import said
from memman.cli.options import place, said_store
from memman.cli.show import as_data, labelled, short, text
from memman.model.text import replaced, sourced

# Less than that is written as nothing.
_LEAST = 0.0005


def explain(query: str, ids: Sequence[str], given: Mapping[str, Any], *, as_json: bool) -> None:
    """Print how a recall came about, and where the memories of `ids` stand."""
    from memman.sqlite import despite

    record = despite(lambda: _ranked(query, ids, given))
    if as_json:
        as_data(record)
        return
    if not record["hits"]:
        text("no hits")
    for line in chain(*map(_hit, record["hits"]), *map(_asked, record["asked"])):
        text(line)


def _ranked(query: str, ids: Sequence[str], given: Mapping[str, Any]) -> dict[str, Any]:
    from memman.govern import ranking
    from memman.hot.recall import Asked, reranked
    from memman.hot.recall_session import opened

    asked = Asked([query], {"store": said_store(), **said(given)})
    asked.insists = True
    recalls = opened(asked.data, asked.store)

    def search(options: Iterable[str]) -> Any:
        lifted = {name: value for option in options for name, value in ranking.LIFTS[option].items()}
        limit = ranking.MOST if "--limit 50" in options else asked.limit
        return recalls.hits(asked.query, asked.filters.having(**lifted), limit, asked.intent)

    hits = reranked(recalls, asked) if asked.rerank else search(())
    record = {"query": asked.query, "limit": asked.limit} | ranking.ranked(place(), search, hits, ids)
    recalls.close()
    return record


def _hit(hit: dict[str, Any]) -> list[str]:
    """Write a hit: its line, what its score is made of, and what else moved it."""
    source = sourced(hit["source"]) + (f", in {hit['scope']}" if hit["scope"] else "")
    parts = ", ".join(f"{name} {part:.3f}" for name, part in hit["parts"].items() if abs(part) >= _LEAST)
    words, meaning, via = hit["words"], hit["meaning"], hit["via"] or ("", "")
    told = {
        "waits in the queue": hit["pending"],
        f"place {words['place']} by words (bm25 {words['bm25']:.2f})": words["place"],
        f"place {meaning['place']} by meaning (cosine {meaning['cosine'] or 0:.3f})": meaning["place"],
        f"found by {short(hit['stands_for'] or '')}, which it superseded": hit["stands_for"],
        f"superseded, so it stands below {short(hit['behind'] or '')}": hit["behind"],
        f"{via[0]} edge from {short(via[1] or '')}": hit["via"],
        f"reliability {hit['reliability'] or 0:.2f}": hit["reliability"] is not None,
        f"reranker {hit['rerank'] or 0:.3f}": hit["rerank"] is not None,
        ", ".join(hit["labels"]): hit["labels"],
        f"stands for {len(hit['alike'])} alike": hit["alike"],
        replaced(hit["maybe_replaced_by"] or "", hit["until"]): hit["maybe_replaced_by"],
        f"confidence {hit['confidence']:.3f}" + (", low" if hit["doubtful"] else ""): True,
    }
    return [
        f"{hit['place']}  {short(hit['uid'], note=hit['pending'])}  {source}: {hit['text']}",
        f"   score {hit['score']:.3f}: {parts}",
        "   " + "; ".join(line for line, moved in told.items() if moved),
    ]


def _asked(asked: dict[str, Any]) -> list[str]:
    waits = asked["status"] == "pending"
    head = "a note that waits" if waits else f"{labelled(asked)}: {asked.get('text') or ''}"
    where = f"place {asked['place']}" if asked["place"] else f"not shown: {asked['why']}"
    if asked["place_then"]:
        where = f"not shown; with {' and '.join(asked['with'])}: place {asked['place_then']}"
    return [f"{short(asked['uid'], note=waits)}  {head}", f"   {where}"]
