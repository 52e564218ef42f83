"""`memman recall`: read the store and the queue, print the hits. No network, no write to the store."""

import os
import sys
import time

from memman.config import stores
from memman.config.places import FILE_MODE, check_folder, data_dir, queue_path, shown_path, store_path
from memman.config.schedule import overdue
from memman.embed.static import StaticTable
from memman.hot.grammar import RECALL, choice, parse, refuse, said
from memman.model.vocabulary import CATEGORIES, INTENTS, SOURCES
from memman.recall import search
from memman.recall.pending import pending, waiting
from memman.recall.render import lines
from memman.sqlite import Guard
from memman.store.filters import Filters
from memman.store.sqlite.reader import SqliteReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from memman.recall.hit import Hit

LIMIT = 10
MOST = 50
_SHOWN_BYTES = 1_048_576


def main(args: list[str], store: str | None) -> int | None:
    """Run the verb; None leaves an unknown shape of arguments to click."""
    parsed = parse(args, RECALL)
    if parsed is None:
        return None
    values, words = parsed
    return recall(words, {"store": store, **values})


def recall(words: "Sequence[str]", values: "Mapping[str, str | bool | None]") -> int:
    """Print the hits for a query. Raises UsageError and UnknownStore."""
    query = _query(words)
    limit, budget = _whole(values, "limit", LIMIT, MOST), _whole(values, "budget", None, 1_000_000)
    intent = choice(values, "intent", INTENTS)
    filters = _filters(values)
    data = data_dir()
    store = stores.resolve(data, said(values, "store"), stores.here())
    now = time.time_ns() // 1_000_000
    hits = found(data, store, query, filters, limit or LIMIT, intent, named=bool(said(values, "store")))
    if values.get("json"):
        _print_json(hits, store)
    else:
        text = lines(hits, now, budget, explain=bool(values.get("explain")))
        if text:
            sys.stdout.write("\n".join(text) + "\n")
        elif sys.stderr.isatty():
            sys.stderr.write("nothing relevant\n")
    sys.stdout.flush()
    late = overdue(data)
    if late is not None:
        sys.stderr.write(f"memman: no drain for {late // 60} min: `memman doctor` says why\n")
    _note_shown(data, store, hits, now)
    return 0


def found(
    data: str, store: str, query: str, filters: Filters, limit: int, intent: str | None, *, named: bool = False
) -> "list[Hit]":
    """Return the hits among what is stored and what still waits. A `named` store must exist."""
    # The queue is read first: a note drained in between is then seen twice, and never not at all.
    notes = waiting(queue_path(data), store)
    # What waits to be replaced counts as history already.
    gone = set() if filters.past else {note[7] for note in notes if note[7]}
    notes = [note for note in notes if note[0] not in gone]
    path = store_path(data, store)
    with Guard(path):
        reader = SqliteReader.open(path)
        if reader is None:
            check_folder(data)
            if named and not notes:
                from memman.model.errors import UnknownStore

                raise UnknownStore(f"there is no store named {store!r}: `memman store list` shows them")
            return pending(notes, query, filters)[:limit]
        replaced = reader.located(gone)
        hits = [hit for hit in search(reader, StaticTable(), query, filters, limit, intent) if hit.id not in replaced]
        fresh = [hit for hit in pending(notes, query, filters) if not reader.has_receipt(hit.row[2])]
        reader.close()
    return _merged(hits, fresh)[:limit]


def _merged(hits: "list[Hit]", fresh: "list[Hit]") -> "list[Hit]":
    """Put each waiting note before the first stored hit that it outscores; stored hits keep their order."""
    merged = list(hits)
    for note in reversed(fresh):
        place = next((n for n, hit in enumerate(merged) if note.score >= hit.score), len(merged))
        merged.insert(place, note)
    return merged


def _query(words: "Sequence[str]") -> str:
    query = " ".join(words)
    if list(words) == ["-"] or (not words and not sys.stdin.isatty()):
        query = sys.stdin.buffer.read(65_536).decode("utf-8", "replace")
    # Bytes that are no text arrive as lone surrogates, which nothing below can take.
    query = query.encode("utf-8", "replace").decode().replace("\0", " ").strip()
    if not query:
        refuse("there is nothing to look for: give a few words")
    return query


def _whole(values: "Mapping[str, str | bool | None]", name: str, default: int | None, most: int) -> int | None:
    value = said(values, name)
    if value is None:
        return default
    if not (value.isascii() and value.isdigit() and 1 <= int(value) <= most):
        refuse(f"--{name} takes a whole number from 1 to {most}")
    return int(value)


def _filters(values: "Mapping[str, str | bool | None]") -> Filters:
    times: dict[str, int] = {}
    for name in ("since", "until", "as_of"):
        if text := said(values, name):
            from memman.hot.moment import moment

            times[name] = moment(text, name)
    return Filters(
        category=choice(values, "category", CATEGORIES),
        source=choice(values, "source", SOURCES),
        history=bool(values.get("history")),
        **times,
    )


def _note_shown(data: str, store: str, hits: "list[Hit]", now: int) -> None:
    """Append what was shown to a bounded record, which the drain folds into use counts; may fail silently."""
    uids = [str(hit.row[1]) for hit in hits if not hit.pending]
    if not uids:
        return
    try:
        handle = os.open(shown_path(data), os.O_APPEND | os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, FILE_MODE)
        status = os.fstat(handle)
        if status.st_mode & 0o777 != FILE_MODE:  # a fresh file, under a narrow umask
            os.fchmod(handle, FILE_MODE)
        if status.st_size < _SHOWN_BYTES:
            os.write(handle, f"{now} {store} {' '.join(uids)}\n".encode())
        os.close(handle)
    except OSError:
        return


def _print_json(hits: "list[Hit]", store: str) -> None:
    import json

    from memman.store.sqlite.reader import ROW

    def record(hit: "Hit") -> "dict[str, Any]":
        fields = dict(zip(ROW, hit.row, strict=True))
        fields |= {"entities": json.loads(fields["entities"]), "keywords": json.loads(fields["keywords"])}
        fields |= {
            name: getattr(hit, name) for name in ("score", "pending", "coverage", "cosine", "text_rank", "meaning_rank")
        }
        fields |= {"bm25": hit.text_score, "nudge": hit.nudge, "via": hit.via}
        return fields

    answer = {"store": store, "hits": [record(hit) for hit in hits]}
    sys.stdout.write(json.dumps(answer, ensure_ascii=False, indent=2) + "\n")
