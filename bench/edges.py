"""What each kind of edge is good for: questions that it exists for, answered with it and without.

Usage: python -m bench.edges [--data FILE] [--json FILE] [--together] [--wrong]

FILE holds JSON lines, one a question (`bench/data/edges/questions.jsonl` is the project's own, written by hand):

    {"kind": "temporal|entity|causal|semantic",
     "notes": [{"text": "…", "at": "2026-03-02T09:00:00", "session": "s1"}, …],
     "ask": {"of": 3} or {"name": "Kestrel-7"},
     "expect": [1, 4], "causes": [1]}

`at` is ISO 8601 (UTC where it has no zone) and notes come in the order of their times; `of` and `expect` are places in
`notes`, counted from 0. Each list of notes is drained, without a model's key, into a store of its own.

Asked are `graph related NOTE --edge KIND`, or for a name `graph about NAME`. A question is answered if all that is
expected is among the first five lines, or two more than are expected. Beside it, in as many lines: a step along all
other kinds of edges, what `recall --all` finds for the note's text or the name, and what `timeline --around` shows.
For each way the figures are the share of questions that it answers, and the share of its lines that were expected, in
percent.

Causal edges take a model or a person. `why` tells what recall makes of them: of the questions with `causes`, how many
find these among the first five lines of `recall --intent why` for the note's text, before they are linked and after.

With `--together` all notes are in one store, each list's sessions apart, so that there is much to confuse.
"""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from memman.config.env import Settings
from memman.config.places import make_folder
from memman.config.schedule import NOBODY, Schedule
from memman.drain.loop import Drain, Limits
from memman.drain.runner import Watch
from memman.drain.stores import Stores
from memman.govern import graph, timeline
from memman.govern.stores import Chosen
from memman.hot.recall import found
from memman.queue.append import insert
from memman.queue.entry import entry, new_uid
from memman.queue.notes import Queue
from memman.store.filters import Filters
from memman.store.sqlite.catalogue import Catalogue

DATA = Path(__file__).parent / "data" / "edges" / "questions.jsonl"
KINDS = ("temporal", "entity", "causal", "semantic")
# Lines of an answer, and how many beside those expected where these are more.
SHOWN, BESIDE = 5, 2
_EMPTY = ("entities", "replaces", "cwd", "repository", "revision", "host", "user")
Case = dict[str, Any]
Answer = list[int]


class Shelf:
    """The store of one list of notes: which note became which memories."""

    def __init__(self, data: str, name: str, uids: Sequence[str]) -> None:
        self.place = Chosen(data, name, "")
        with Catalogue.open(self.place.path) as catalogue:
            rows = catalogue.listed(category=None, source=None, status="all", limit=10_000)[::-1]
        place = {uid: n for n, uid in enumerate(uids)}
        self.note = {row["uid"]: place[row["note"]] for row in rows if row["note"] in place}
        self.text = {row["uid"]: row["text"] for row in rows}

    def of(self, note: int) -> list[str]:
        """Return the memories of a note."""
        return [uid for uid, n in self.note.items() if n == note]

    def notes(self, uids: Sequence[str], but: int | None) -> Answer:
        """Return the notes of memories, each once, -1 for another list's; not the one asked about."""
        places = [(self.note.get(uid, -1), uid) for uid in uids]
        found = dict.fromkeys((n, "" if n >= 0 else uid) for n, uid in places)
        return [n for n, _ in found if n != but]


def with_kind(shelf: Shelf, case: Case) -> Answer:
    """Ask as a person would."""
    if "name" in case["ask"]:
        about = graph.about(shelf.place, case["ask"]["name"], history=True, everywhere=True)
        return shelf.notes([one["uid"] for one in about["memories"]], None)
    return walked(shelf, case, lambda kind: kind == case["kind"], graph.DEPTHS[case["kind"]])


def without_kind(shelf: Shelf, case: Case) -> Answer:
    """Walk along the other kinds alone; a name leads nowhere then."""
    return [] if "name" in case["ask"] else walked(shelf, case, lambda kind: kind != case["kind"], 1)


def walked(shelf: Shelf, case: Case, wanted: Callable[[str], bool], depth: int) -> Answer:
    """Walk from each memory of a note, the first step of each walk first."""
    of = case["ask"]["of"]
    kinds = [kind for kind in KINDS if wanted(kind)]
    walks = [
        [one["uid"] for one in graph.related(shelf.place, uid, kind=kind, depth=depth, everywhere=True)["related"]]
        for kind in kinds
        for uid in shelf.of(of)
    ]
    return shelf.notes([uid for step in zip_longest(*walks) for uid in step if uid], of)


def recalled(shelf: Shelf, case: Case) -> Answer:
    """Recall the note's text, or the name."""
    of = case["ask"].get("of")
    query = case["ask"].get("name") or case["notes"][of]["text"]
    hits = found(shelf.place.data, shelf.place.name, query, Filters(every=True, history=True), 10, None)
    return shelf.notes([hit.row.uid for hit in hits], of)


def why(shelf: Shelf, case: Case) -> Answer:
    """Ask recall why, as an agent does."""
    of = case["ask"]["of"]
    hits = found(shelf.place.data, shelf.place.name, case["notes"][of]["text"], Filters(anywhere=True), 10, "why")
    return shelf.notes([hit.row.uid for hit in hits], of)


def by_time(shelf: Shelf, case: Case) -> Answer:
    """Look at the time line around a note, the nearest first."""
    of = case["ask"].get("of")
    if of is None or not shelf.of(of):
        return []
    entries = timeline.around(shelf.place, shelf.of(of)[0], before=5, after=5)
    here = next(n for n, one in enumerate(entries) if one["asked"])
    near = sorted(range(len(entries)), key=lambda n: abs(n - here))
    return shelf.notes([entries[n]["uid"] for n in near], of)


WAYS = {"with": with_kind, "other kinds": without_kind, "recall": recalled, "timeline": by_time}


@contextmanager
def shelves(cases: Sequence[Case], *, together: bool) -> Iterator[dict[str, Shelf]]:
    """Drain each list of notes into a store of its own, or all into one; return them by the list as JSON."""
    lists = {_key(case): case["notes"] for case in cases}
    store = "all" if together else "list-{}"
    with TemporaryDirectory(prefix="memman-edges-") as folder:
        data = folder + "/data"
        make_folder(data)
        Schedule(NOBODY).save(data)
        uids = {key: list(_queued(data, store.format(n), n, lists[key])) for n, key in enumerate(lists)}
        asyncio.run(_drained(data))
        yield {key: Shelf(data, store.format(n), uids[key]) for n, key in enumerate(lists)}


def _queued(data: str, store: str, number: int, notes: Sequence[dict[str, str]]) -> Iterator[str]:
    for note in notes:
        said = datetime.fromisoformat(note["at"])
        at = int((said if said.tzinfo else said.replace(tzinfo=UTC)).timestamp() * 1000)
        row = entry(
            dict.fromkeys(_EMPTY, "")
            | {"store": store, "text": note["text"], "category": None, "importance": None, "source": "user"}
            | {"agent": "bench", "session": f"{number}-{note['session']}"}
        )
        yield insert(data, row | {"uid": new_uid(at), "queued_at": at})[0]


async def _drained(data: str) -> None:
    queue, stores = Queue(data), Stores.of(data, Settings({}))
    try:
        while queue.waiting():
            report = await Drain(queue, stores.equipped, Limits(4), Watch()).run()
            if report.errors:
                raise RuntimeError("; ".join(report.errors))
    finally:
        await stores.close()
        queue.close()


def measured(cases: Sequence[Case], *, together: bool = False, wrong: bool = False) -> dict[str, Any]:
    """Return, for each kind, how many questions there are, and what each way makes of them, in percent."""
    figures: dict[str, Any] = {}
    with shelves(cases, together=together) as by_notes:
        for kind in KINDS:
            mine = [case for case in cases if case["kind"] == kind]
            for way, answer in WAYS.items() if mine else ():
                shown = [(case, _cut(case, answer(by_notes[_key(case)], case))) for case in mine]
                figures.setdefault(kind, {"questions": len(mine)})[way] = _share(shown)
                for case, lines in shown if wrong and way == "with" else ():
                    _tell(case, lines)
        if explained := [case | {"expect": case["causes"]} for case in cases if case.get("causes")]:
            figures["why"] = {"questions": len(explained), "unlinked": _asked_why(by_notes, explained)}
            for case in explained:
                _link(by_notes[_key(case)], case)
            figures["why"]["linked"] = _asked_why(by_notes, explained)
    return figures


def _asked_why(by_notes: dict[str, Shelf], cases: Sequence[Case]) -> dict[str, float]:
    return _share([(case, _cut(case, why(by_notes[_key(case)], case))) for case in cases])


def _link(shelf: Shelf, case: Case) -> None:
    """Link causes to what they led to, as a person does."""
    of = case["ask"]["of"]
    for ends in ((cause, effect) for n in case["causes"] for cause in shelf.of(n) for effect in shelf.of(of)):
        graph.link(shelf.place, ends, "causal", 1.0, "")


def _share(shown: Sequence[tuple[Case, Answer]]) -> dict[str, float]:
    answered = sum(set(case["expect"]) <= set(lines) for case, lines in shown)
    right = sum(n in case["expect"] for case, lines in shown for n in lines)
    lines = sum(len(lines) for _, lines in shown)
    return {"answered": round(100 * answered / len(shown), 1), "right": round(100 * right / max(1, lines), 1)}


def _key(case: Case) -> str:
    return json.dumps(case["notes"], sort_keys=True)


def _cut(case: Case, answer: Answer) -> Answer:
    return answer[: max(SHOWN, len(case["expect"]) + BESIDE)]


def _tell(case: Case, lines: Answer) -> None:
    if set(case["expect"]) <= set(lines):
        return
    texts = [note["text"] for note in case["notes"]] + ["(of another list)"]
    asked = case["ask"].get("name") or texts[case["ask"]["of"]]
    missed = [texts[n] for n in case["expect"] if n not in lines]
    sys.stderr.write(f"{case['kind']}: {asked}\n  missed {missed}\n  shown {[texts[n] for n in lines]}\n")


def main(argv: Sequence[str] | None = None) -> None:
    """Print the figures, and write them if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--together", action="store_true", help="all notes in one store")
    parser.add_argument("--wrong", action="store_true", help="tell the questions that are not answered")
    said = parser.parse_args(argv)
    os.environ.pop("MEMMAN_STORE", None)
    cases = [json.loads(line) for line in said.data.read_text(encoding="utf-8").splitlines() if line.strip()]
    figures = json.dumps(measured(cases, together=said.together, wrong=said.wrong), indent=1)
    sys.stdout.write(figures + "\n")
    if said.json:
        said.json.write_text(figures + "\n")


if __name__ == "__main__":
    main()
