"""`memman why --query`: why each hit of a recall stands where it does, and why a memory is not among them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from memman.cli.hot import option, said
from memman.cli.options import place, said_store
from memman.cli.show import as_data, labelled, short, text, when
from memman.hot.grammar import EVERYWHERE, RECALL
from memman.model.text import replaced, sourced

Command = Callable[..., Any]

# What says how recall prints, not what it finds.
_PRINTING = {"--store", "--budget", "--json", *EVERYWHERE}
# What each part of a score is called.
_PARTS = {
    "words": "words",
    "meaning": "meaning",
    "time": "time asked for",
    "session": "session",
    "maxsim": "likeness",
    "evidence": "reliability",
    "succession": "succession",
    "edge": "edge",
}
# Less than that is written as nothing.
_LEAST = 0.0005
# What kept something out, in words, and the option that would let it in.
_REASONS = {
    "forgotten": ("it is hidden: {verb} {at}{said}", ""),
    "review": ("it is held back for review (`memman review show ID`)", ""),
    "damaged": ("the stored text does not match its checksum (`memman doctor`)", ""),
    "superseded": ("it is superseded by {by}, {standing}", "--history"),
    "replaced": ("note {by}, which waits, replaces it; {standing}", "--history"),
    "category": ("it is of another category", "no --category"),
    "source": ("it is of another source", "no --source"),
    "since": ("it was recorded before --since", "no --since"),
    "until": ("it was recorded after --until", "no --until"),
    "as_of": ("it was recorded after --as-of", "no --as-of"),
    "scope": ("it holds only for {scope}", "--all-scopes"),
    "unsearched": ("no recall looks at it: only the newest 500 notes that ask to be remembered are searched", ""),
    "unfound": ("no search has it among its best {best}: it says {words}{cosine}", ""),
    "unread": ("its place among the {of} that the searches bring up is {place}; {most} are looked at", ""),
    "behind": ("what took its place is not shown", ""),
    "covered": ("it has {covered:.0%} of the query's words; a waiting note needs {needed:.0%}", ""),
    "time": ("it is not of the time asked for", ""),
    "gate": (
        "its confidence {confidence:.3f} is {below:.3f} below the {needed:.3f} that a hit needs",
        "--min-confidence 0",
    ),
    "silent": (
        "nothing is sure enough for an answer: the surest has confidence {confidence:.3f}, {needed:.3f} is needed",
        "--min-confidence 0",
    ),
    "height": ("it is far below the best: height {height:.2f}, {needed:.2f} is needed", "--all"),
    "doubtful": (
        "its confidence {confidence:.3f} is low (below {needed:.3f}), and {first} hits stand before it",
        "--all",
    ),
    "alike": ("{by} says the same and stands for it, {standing}", ""),
    "limit": ("its place among what passes the gate is {place}, and the limit {limit}", "a higher --limit"),
    "reranked": ("the reranker put {limit} others before it", ""),
}


def recall_options(command: Command) -> Command:
    """Add the options of `recall` that say what it finds."""
    for flag, row in reversed(RECALL.items()):
        if flag not in _PRINTING:
            command = _added(option(flag, *row))(command)
    return command


def _added(made: click.Option) -> Callable[[Command], Command]:
    """Return a decorator that gives a function this option, as click's own do."""
    return click.option(
        *made.opts, made.name, type=made.type, is_flag=made.is_flag, metavar=made.metavar, help=made.help
    )


def explain(query: str, ids: Sequence[str], given: Mapping[str, Any], *, as_json: bool) -> None:
    """Print how a recall came about, and where the memories of `ids` stand."""
    from memman.sqlite import despite

    record = despite(lambda: _ranked(query, ids, given))
    if as_json:
        as_data(record)
        return
    for hit in record["hits"]:
        for line in _hit(hit):
            text(line)
    if record["silent"]:
        text(_REASONS["silent"][0].format(**record["silent"]))
    elif not record["hits"]:
        text("no hits")
    for asked in record["asked"]:
        for line in _asked(asked):
            text(line)


def _ranked(query: str, ids: Sequence[str], given: Mapping[str, Any]) -> dict[str, Any]:
    from memman.govern import ranking
    from memman.hot.recall import Asked, reranked
    from memman.hot.recall_session import opened
    from memman.hot.rerank import CANDIDATES

    asked = Asked([query], {"store": said_store(), **said(given)})
    asked.insists = True
    recalls = opened(asked.data, asked.store)

    def search(filters: Any, limit: int) -> Any:
        return recalls.trace(asked.query, filters, limit, asked.intent)

    hits = reranked(recalls, asked) if asked.rerank else []
    if any(hit.rerank is not None for hit in hits):
        recall = search(asked.filters.uncut(), max(asked.limit, CANDIDATES))
        recall.hits, recall.limit = hits, asked.limit
    else:
        recall = search(asked.filters, asked.limit)
    record = ranking.ranked(place(), search, recall, ids)
    recalls.close()
    return record


def _hit(hit: dict[str, Any]) -> list[str]:
    """Write a hit: its line, what its score is made of, and what else is to be said of it."""
    source = ", ".join([sourced(hit["source"]), *([f"in {hit['scope']}"] if hit["scope"] else [])])
    parts = ", ".join(f"{_PARTS[name]} {part:.3f}" for name, part in hit["parts"].items() if abs(part) >= _LEAST)
    found = "; ".join(filter(None, (_by_words(hit), _by_meaning(hit), *_beside(hit))))
    return [
        f"{hit['place']}  {short(hit['uid'], note=hit['pending'])}  {source}: {hit['text']}",
        f"   score {hit['score']:.3f}: {parts}",
        *([f"   {found}"] if found else []),
        f"   confidence {hit['confidence']:.3f}, {hit['needed']:.3f} is needed" + _height(hit),
    ]


def _by_words(hit: dict[str, Any]) -> str:
    words = hit["words"]
    says = f"says {', '.join(words['said'])}" if words["said"] else "says none of the query's words"
    if hit["pending"]:
        return f"waits in the queue; {says}"
    if not words["place"]:
        return says
    around = "" if words["said"] else "; found by what was said around it"
    return f"place {words['place']} by words (bm25 {words['bm25']:.2f}), {says}{around}"


def _by_meaning(hit: dict[str, Any]) -> str:
    meaning = hit["meaning"]
    if not meaning["place"]:
        return ""
    cosine = "" if meaning["cosine"] is None else f" (cosine {meaning['cosine']:.3f})"
    return f"place {meaning['place']} by meaning{cosine}"


def _beside(hit: dict[str, Any]) -> list[str]:
    """Say what else has moved a hit, or would be said of it."""
    via, back = hit["via"], ", so it stands below the others" if hit["stands_back"] else ""
    said_of = {
        f"found by {short(hit['stands_for'] or '')}, which it superseded": hit["stands_for"],
        f"superseded, so it stands below {short(hit['behind'] or '')}": hit["behind"],
        f"{via and via[0]} edge from {short((via and via[1]) or '')}": via,
        f"reliability {hit['reliability'] or 0:.2f}": hit["reliability"] is not None,
        f"reranker {hit['rerank'] or 0:.3f}": hit["rerank"] is not None,
        ", ".join(hit["labels"]) + back: hit["labels"],
        f"stands for {len(hit['alike'])} alike": hit["alike"],
        replaced(hit["maybe_replaced_by"] or "", hit["until"]): hit["maybe_replaced_by"],
        f"stands before {', '.join(map(short, hit['maybe_replaces']))}, which says so": hit["maybe_replaces"],
    }
    return [line for line, told in said_of.items() if told]


def _height(hit: dict[str, Any]) -> str:
    return "" if hit["height"] is None else f"; height {hit['height']:.2f} beside the best"


def _asked(asked: dict[str, Any]) -> list[str]:
    """Write where a memory stands, or each thing that kept it out."""
    waits = asked["status"] == "pending"
    name = f"{short(asked['uid'], note=waits)}  {labelled(asked)}"
    head = f"{name}: {asked['text']}" if asked.get("text") else f"{name}, a note that waits"
    if asked["place"]:
        return [head, f"   place {asked['place']}"]
    lines = [f"   not shown: {_why(one)}" for one in asked["kept_out"]]
    lifted = [_REASONS[one["why"]][1] for one in asked["kept_out"]]
    with_it = f"   with {' and '.join(dict.fromkeys(lifted))}: place {asked['place_then']}"
    return [head, *lines, *([with_it] if asked["place_then"] else [])]


def _why(one: dict[str, Any]) -> str:
    place = one.get("at")
    figures = one | {"by": short(one.get("by", ""), note=one["why"] == "replaced")}
    if one["why"] in {"superseded", "replaced", "alike"}:
        figures["standing"] = f"place {place}" if place else "which is not shown either"
    elif one["why"] == "forgotten":
        figures |= {
            "at": when(place),
            "said": f" ({one['said']})" if one.get("said") else "",
            "verb": one.get("verb", ""),
        }
    elif one["why"] == "gate":
        figures["below"] = one["needed"] - one["confidence"]
    elif one["why"] == "unfound":
        figures["words"] = ", ".join(one["said"]) or "none of the query's words"
        figures["cosine"] = "" if one["cosine"] is None else f", and is far in meaning (cosine {one['cosine']:.3f})"
    return _REASONS[one["why"]][0].format(**figures)
