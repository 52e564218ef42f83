"""`memman show`: all that is known of a memory: what it says, where it comes from, what became of it, what is near."""

import json
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import click

from memman.belief import UNWANTED, reliability, sessions
from memman.commands.log import change, lines_of
from memman.commands.place import Place, Records, all_named, looking, veiled
from memman.commands.printing import (
    aged,
    apart,
    holds,
    labelled,
    lines,
    pairs,
    short,
    table,
    tallied,
    text,
    when,
)
from memman.commands.remember import recall_options
from memman.commands.review import why_held
from memman.commands.verb import Told, verb
from memman.config.scope import PERSONAL, is_name, label
from memman.model.errors import UnknownId, UsageError
from memman.model.plural import counted
from memman.queue.view import QueueView
from memman.store.sqlite import beliefs, index, quality
from memman.store.sqlite import sessions as shown
from memman.store.sqlite.catalogue import Catalogue

# Related memories that are told.
_NEAR = 10
# What a version's own line says, and its changes need not.
_SAID = ("text", "category", "importance", "entities", "valid_from")


@verb("show", shows=Told)
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--query", metavar="TEXT", help="Explain the result of `recall TEXT`, and the place of each ID in it.")
@recall_options
def show(place: Place, ids: Sequence[str], query: str | None = None, **given: Any) -> Told:
    """Show everything about memories or queued notes: source, history, and what is related.

    In the history `>` marks the memory itself, and earlier versions come first. What you typed, and the text of a
    note that the queue still has, is shown to people only.

    --query explains the place of each hit of that recall, and of each ID its place or which options would show it.
    The other options are those of `recall`.
    """
    if query is not None:
        from memman.commands.explain import explain

        return explain(place, query, ids, given)
    if options := [name for name, value in given.items() if value not in {None, False}]:
        raise UsageError(f"--{options[0].replace('_', '-')} goes with --query")
    if not ids:
        raise UsageError("give an ID, or a question with --query")
    return Told(aged(place, known(place, ids)), _print)


def _print(records: Records) -> None:
    apart(records, lambda record: (_note if record["kind"] == "note" else _memory)(record))


def known(place: Place, parts: Sequence[str], near: int = _NEAR) -> Records:
    """Return all that is known of each memory that an id names, `near` of those next to it too; or of a note."""
    with looking(place) as (catalogue, queue):
        return [
            one if one["kind"] == "note" else one | _background(place, one, catalogue, queue, near)
            for one in _described(place, parts, catalogue, queue)
        ]


def described(place: Place, parts: Sequence[str]) -> Records:
    """Return what is said of each memory, or of each note that waits, that an id names, and how it stands."""
    with looking(place) as (catalogue, queue):
        return _described(place, parts, catalogue, queue)


def _described(place: Place, parts: Sequence[str], catalogue: Catalogue, queue: QueueView) -> Records:
    return [
        record
        for one in all_named(parts, catalogue, queue, place.name)
        for record in (
            [{"kind": "note"} | queue.show(one.note)]
            if one.note
            else [_standing(place, record, catalogue) for record in catalogue.memories(one.memories)]
        )
    ]


def _standing(place: Place, record: dict[str, Any], catalogue: Catalogue) -> dict[str, Any]:
    row = record["id"]
    after = catalogue.successors(row)
    behind = catalogue.behind()
    newer = {old: new for old, new in catalogue.doubtful().items() if old not in behind}
    pairs = {*newer, *newer.values(), *behind, *behind.values()}
    others = {other["id"]: other for other in catalogue.memories(sorted(pairs))}
    uids = {row: other["uid"] for row, other in others.items()}
    before = others.get(behind.get(row, 0), {})
    claims = [new for old, new, _ in beliefs.claimed(catalogue.reader.db) if old == row]
    extra: dict[str, Any] = {
        "superseded_by": after[0]["uid"] if after else None,
        "maybe_replaced_by": uids.get(newer.get(row, 0)),
        "maybe_replaces": [uids[old] for old, new in newer.items() if new == row],
        "suspended_by": before.get("uid"),
        "until": before.get("ends_at"),
        "stands_before": [uids[old] for old, new in behind.items() if new == row],
        "against": [uid for _, uid, _ in catalogue.reader.contradicts([row]).get(row, ())],
        "contradicted_by": [one["uid"] for one in catalogue.memories(claims)],
        "protected": catalogue.reader.protected_since(row),
        "edges": catalogue.edge_counts(row),
        "verified_at": quality.verified(catalogue.reader, row),
        "files": {file.path: file.changed_at for file in quality.files_of(catalogue.reader, row)},
        "evidence": (evidence := catalogue.reader.evidence([row]).get(row, [])),
        "reliability": reliability(*sessions(evidence)) if evidence else None,
        "provenance": catalogue.receipt(record["note"]),
        **_authorship(catalogue, row),
    }
    return {"kind": "memory"} | veiled(place, catalogue.reader, record | why_held(catalogue, record)) | extra


def _authorship(catalogue: Catalogue, row: int) -> dict[str, str]:
    """Say who wrote a memory, for whom, and who retired it, '' where the store is shared with nobody."""
    known = catalogue.reader.authorship([row]).get(row)
    names = ("author", "visibility", "retired_by")
    return dict(zip(names, known[1:], strict=True)) if known else dict.fromkeys(names, "")


def _background(
    place: Place, record: dict[str, Any], catalogue: Catalogue, queue: QueueView, near: int
) -> dict[str, Any]:
    """Return where a memory comes from, what is related, its versions and where it was shown."""
    from memman.commands.graph import beside

    db, row, said = catalogue.reader.db, record["id"], ""
    if not place.agent:
        with suppress(UnknownId):  # the queue keeps a note for a while
            said = str(queue.show(queue.find(record["note"]))["text"])
    versions = [
        veiled(place, catalogue.reader, one)
        | {"asked": one["id"] == row, "changes": lines_of(place, catalogue, one["uid"])}
        for one in catalogue.versions(row)
    ]
    return {
        "said": said,
        "typed": "" if place.agent else index.typed_behind(db, row),
        "models": json.loads((record["provenance"] or {}).get("models") or "{}"),
        "related": beside(catalogue, row, near),
        "history": versions,
        "shown": shown.of_memory(db, row),
    }


def _memory(record: dict[str, Any]) -> None:
    came = record["provenance"] or {}
    until, user, repository = when(record["valid_to"]), came.get("user", ""), came.get("repository", "")
    kinds = Counter(kind for kind, _, _ in record["evidence"])
    asked = kinds.pop(UNWANTED, 0) and record["status"] == "current"
    makers = ", ".join(f"{stage}: {model}" for stage, model in record["models"].items())
    pairs(
        {
            "id": record["uid"],
            "text": record["text"],
            "summary": record["summary"],
            "status": record["status"],
            "superseded by": record["superseded_by"],
            "maybe replaced by": record["maybe_replaced_by"],
            "maybe replaces": ", ".join(record["maybe_replaces"]),
            "suspended by": f"{record['suspended_by']} until {when(record['until'])}" if record["until"] else "",
            "stands before": ", ".join(record["stands_before"]),
            "against": ", ".join(record["against"]),
            "contradicted by": ", ".join(record["contradicted_by"]),
            "protected": "since " + when(record["protected"]) if record["protected"] else "",
            "category": f"{record['category']}, importance {record['importance']}",
            "entities": ", ".join(record["entities"]),
            "keywords": ", ".join(record["keywords"]),
            "scope": record["scope"] or PERSONAL,
            **{name.replace("_", " "): record[name] for name in ("author", "visibility", "retired_by")},
            "valid": f"from {when(record['valid_from'])}" + (f" to {until}" if until else ""),
            "recorded": when(record["recorded_at"]),
            "retired": when(record["retired_at"]),
            "holds until": when(record["ends_at"]),
            "verified": when(record["verified_at"]),
            "files": ", ".join(path + (" (changed since)" if at else "") for path, at in record["files"].items()),
            "evidence": f"reliability {record['reliability']:.2f}: {tallied(kinds)}" if kinds else "",
            "asked": "an agent asks to forget it: `memman review`" if asked else "",
            "source": labelled(record),
            "held back": record.get("why", ""),
            "note": record["note"],
            "said": record["said"],
            "you said": record["typed"],
            **{name: came.get(name) for name in ("agent", "session", "cwd")},
            "repository": label(repository, "") if is_name(repository) else repository,
            **{name: came.get(name) for name in ("revision", "host")},
            "user": f"number {user}" if user.isdigit() else user,
            "drain": came.get("drain"),
            "made by": makers or ("the built-in models" if came.get("models") else ""),
            "edges": tallied(record["edges"]),
            "shown": counted(record["uses"], "time"),
        }
    )
    lines(["related"] if record["related"] else [])
    table(
        (
            *("", one["says"] or one["kind"], short(one["uid"]), labelled(one, holds(one))),
            f"({one['status']}) " * (one["status"] != "current") + one["text"],
        )
        for one in record["related"]
    )
    text("history")
    for one in record["history"]:
        text(f"{'>' if one['asked'] else ' '} {short(one['uid'])}  {labelled(one, one['status'])}: {one['text']}")
        for line in one["changes"]:
            sides = {side: line[side] or {} for side in ("before", "after")}
            # The version's own line says the rest.
            less = {
                side: {name: one for name, one in said.items() if name not in _SAID} for side, said in sides.items()
            }
            told = change(line | less)
            text(f"    {when(line['at'])}  {line['verb']:<9}  {told}".rstrip())
    for one in record["shown"]:
        where = " ".join(filter(None, (one["way"], one["agent"], one["session"])))
        text(f"  {when(one['at'])}  shown      {where}, {counted(one['times'], 'time')}, {one['tokens']} tokens")


def _note(record: dict[str, Any]) -> None:
    shown = ("text", "state", "category", "importance", "entities", "replaces", "source", "agent", "session", "cwd")
    rest = ("repository", "revision", "host", "user", "error")
    times = {"queued": when(record["queued_at"])}
    pairs({"note": record["uid"]} | {name: record[name] for name in shown} | times | {n: record[n] for n in rest})
