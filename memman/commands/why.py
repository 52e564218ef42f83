"""`memman why` and `memman history`."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import click

from memman.belief import sourced
from memman.commands.hot import recall_options, said
from memman.commands.log import change
from memman.commands.printing import apart, labelled, pairs, printed, short, text, when
from memman.commands.verb import Command, data_options, place, said_store
from memman.config.scope import PERSONAL
from memman.model.errors import UsageError
from memman.model.plural import counted
from memman.model.text import replaced

_SAID = ("text", "category", "importance", "entities", "valid_from")


@click.command(cls=Command)
@click.argument("id_", metavar="ID")
@data_options
def history(id_: str, as_json: bool) -> None:
    """Show what a memory was before and became afterwards, with when, by whom and why it changed.

    The oldest version comes first; `>` marks the memory asked about.
    """
    from memman.govern.looking_back import history as govern

    versions = govern(place(), id_)
    if printed(versions, as_json=as_json):
        return
    for one in versions:
        sign = ">" if one["asked"] else " "
        text(f"{sign} {short(one['uid'])}  {labelled(one, one['status'])}: {one['text']}")
        for line in one["changes"]:
            text(f"    {when(line['at'])}  {line['verb']:<9}  {_told(line)}".rstrip())


def _told(line: dict[str, Any]) -> str:
    return change(line | {side: _stand(line[side]) for side in ("before", "after")})


def _stand(side: dict[str, Any] | None) -> dict[str, Any]:
    """Leave out what the version's own line says."""
    return {name: said for name, said in (side or {}).items() if name not in _SAID}


# Less than that is written as nothing.
_LEAST = 0.0005


def explain(query: str, ids: Sequence[str], given: Mapping[str, Any], *, as_json: bool) -> None:
    """Print how a recall came about, and where the memories of `ids` stand."""
    record = _ranked(query, ids, given)
    if printed(record, as_json=as_json):
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
        f"place {words['place']} by words (share {words['share']:.2f})": words["place"],
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


@click.command(cls=Command)
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--query", metavar="TEXT", help="Show why `recall TEXT` shows what it shows, and not the memories of ID.")
@recall_options
@data_options
def why(ids: tuple[str, ...], query: str | None, as_json: bool, **given: Any) -> None:
    """Show where a memory comes from, its causes and effects, what became of it, and where it was shown.

    What you typed is shown to people only, and what its note said, while the queue still has it.

    With --query show what put each hit of that recall where it stands, and of each ID its place, or which options
    would show it. The other options are those of `recall`.
    """
    from memman.govern import looking_back

    if query is not None:
        explain(query, ids, given, as_json=as_json)
        return
    if options := [name for name, value in given.items() if value not in {None, False}]:
        raise UsageError(f"--{options[0].replace('_', '-')} goes with --query")
    if not ids:
        raise UsageError("give an ID, or a question with --query")
    records = looking_back.why(place(), ids)
    if not printed(records, as_json=as_json):
        apart(records, _print)


def _print(record: dict[str, Any]) -> None:
    came = record["provenance"] or {}
    pairs(
        {
            "id": record["uid"],
            "text": record["text"],
            "status": record["status"],
            "scope": record["scope"] or PERSONAL,
            "source": labelled(record),
            **{name.replace("_", " "): record[name] for name in ("author", "visibility", "retired_by")},
            "note": record["note"],
            "said": record["said"],
            "you said": record["typed"],
            **{name: came.get(name) for name in ("agent", "session", "repository", "revision", "drain")},
            "recorded": when(record["recorded_at"]),
            "made by": _makers(record["models"]) or ("the built-in models" if came.get("models") else ""),
            "replaced": ", ".join(short(other["uid"]) for other in record["before"]),
            "replaced by": short(record["superseded_by"] or ""),
            "stands behind": f"{short(record['stands_behind'])} until {when(record['until'])}"
            if record["until"]
            else "",
            "evidence": ", ".join(f"{one['kind']} {when(one['at'])}" for one in record["evidence"]),
        }
    )
    for one in record["causes"]:
        text(f"{one['says']:<7}  {short(one['uid'])}  {labelled(one)}  {one['text']}")
    for one in record["changes"]:
        text(f"{when(one['at'])}  {one['verb']:<9}  {change(one)}".rstrip())
    for one in record["shown"]:
        where = " ".join(filter(None, (one["way"], one["agent"], one["session"])))
        text(f"{when(one['at'])}  shown      {where}, {counted(one['times'], 'time')}, {one['tokens']} tokens")


def _makers(models: dict[str, str]) -> str:
    return ", ".join(f"{stage}: {model}" for stage, model in models.items())
