"""`memman show`: all that is known of a memory: what it says, where it comes from, what became of it, what is near."""

import json
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import click

from memman.belief import UNWANTED, reliability, sessions
from memman.commands.log import change
from memman.commands.place import Opened, Records
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
from memman.commands.verb import Told, verb
from memman.config.scope import PERSONAL, is_name, label
from memman.model.errors import UnknownId, UsageError
from memman.model.plural import counted
from memman.store.sqlite import beliefs, index, quality
from memman.store.sqlite import sessions as shown

# Related memories that are told, and lines of the log of each version.
_NEAR, _CHANGES = 10, 200
# What a version's own line says, and its changes need not.
_SAID = ("text", "category", "importance", "entities", "valid_from")


@verb("show", opened=True, shows=Told)
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--query", metavar="TEXT", help="Explain the result of `recall TEXT`, and the place of each ID in it.")
@recall_options
def show(store: Opened, ids: Sequence[str], query: str | None = None, **given: Any) -> Told:
    """Show everything about memories or queued notes: source, history, and what is related.

    In the history `>` marks the memory itself, and earlier versions come first. What you typed, and the text of a
    note that the queue still has, is shown to people only.

    --query explains the place of each hit of that recall, and of each ID its place or which options would show it.
    The other options are those of `recall`.
    """
    if query is not None:
        from memman.commands.explain import explain

        return explain(store, query, ids, given)
    if options := [name for name, value in given.items() if value not in {None, False}]:
        raise UsageError(f"--{options[0].replace('_', '-')} goes with --query")
    if not ids:
        raise UsageError("give an ID, or a question with --query")
    return Told(aged(store, known(store, ids)), _print)


def _print(records: Records) -> None:
    apart(records, lambda record: (_note if record["kind"] == "note" else _memory)(record))


def known(store: Opened, parts: Sequence[str], near: int = _NEAR) -> Records:
    """Return all that is known of each memory that an id names, `near` of those next to it too; or of a note."""
    return [
        one if one["kind"] == "note" else one | standing(store, one) | _background(store, one, near)
        for one in store.described(parts)
    ]


def standing(store: Opened, record: dict[str, Any]) -> dict[str, Any]:
    """Say how a memory stands: beside others, by what evidence, in which state, and where it was said."""
    row, reader = record["id"], store.reader
    after = store.successors(row)
    behind = store.behind()
    newer = {old: new for old, new in store.doubtful().items() if old not in behind}
    pairs = {*newer, *newer.values(), *behind, *behind.values()}
    others = {other["id"]: other for other in store.memories(sorted(pairs))}
    uids = {row: other["uid"] for row, other in others.items()}
    before = others.get(behind.get(row, 0), {})
    claims = [new for old, new, _ in beliefs.claimed(store.db) if old == row]
    evidence = reader.evidence([row]).get(row, [])
    # Who wrote it, for whom, and who retired it; of a store that is shared with nobody nothing is known.
    written = reader.authorship([row]).get(row, ("",) * 4)
    return {
        **store.why_held(record),
        "superseded_by": after[0]["uid"] if after else None,
        "maybe_replaced_by": uids.get(newer.get(row, 0)),
        "maybe_replaces": [uids[old] for old, new in newer.items() if new == row],
        "suspended_by": before.get("uid"),
        "until": before.get("ends_at"),
        "stands_before": [uids[old] for old, new in behind.items() if new == row],
        "against": [uid for _, uid, _ in reader.contradicts([row]).get(row, ())],
        "contradicted_by": [one["uid"] for one in store.memories(claims)],
        "protected": reader.protected_since(row),
        "edges": store.edge_counts(row),
        "verified_at": quality.verified(reader, row),
        "files": {file.path: file.changed_at for file in quality.files_of(reader, row)},
        "evidence": evidence,
        "reliability": reliability(*sessions(evidence)) if evidence else None,
        "provenance": store.receipt(record["note"]),
        **dict(zip(("author", "visibility", "retired_by"), written[1:], strict=True)),
    }


def _background(store: Opened, record: dict[str, Any], near: int) -> dict[str, Any]:
    """Return where a memory comes from, what is related, its versions and where it was shown."""
    from memman.commands.graph import beside

    row, said, by_agent = record["id"], "", bool(store.place.agent)
    if not by_agent:
        with suppress(UnknownId):  # the queue keeps a note for a while
            said = str(store.queue.show(store.queue.find(record["note"]))["text"])
    came = store.receipt(record["note"]) or {}
    return {
        "said": said,
        "typed": "" if by_agent else index.typed_behind(store.db, record["note"]),
        "models": json.loads(came.get("models") or "{}"),
        "related": beside(store, row, near),
        "history": [
            one | {"asked": one["id"] == row, "changes": store.log(limit=_CHANGES, memory=one["uid"])[::-1]}
            for one in store.versions(row)
        ],
        "shown": shown.of_memory(store.db, row),
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
