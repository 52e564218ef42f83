"""Learning on texts by writers who have seen neither the code nor what it was made from.

`python -m bench.learning --data FOLDER` takes a folder for each writer and sends what is in it through the product's
own pipeline: facts of which none ends another, facts that change and near misses of such (each in one store), turns,
documents, prompts to an agent that should or should not bring a memory, rules that the user turns round, and the
histories of projects (README and log, a note an entry). It prints a table, and with --json writes all outcomes.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.machine import described
from bench.tables import markdown
from memman.config.scope import Here
from memman.hot.prime import block
from memman.hot.recall import LIMIT
from memman.hot.recall_session import found
from memman.hot.remind import reminder
from memman.hot.session import Session
from memman.judge.embedder import BuiltinEmbedder
from memman.judge.judge import Judge
from memman.llm.builtin import BuiltinLLM
from memman.model.records import Note, Provenance
from memman.model.uid import new_uid
from memman.pipeline import PIPELINE
from memman.pipeline.comparison import stems
from memman.pipeline.plan import Plan, Tools
from memman.recall.order import outstanding
from memman.store.filters import Filters
from memman.store.sqlite.store import open_store

_BEGAN_MS, _STEP_MS = 1_700_000_000_000, 3_600_000
# A memory says what was to be kept where it holds this part of its words.
SAID = 0.5
_MEMORIES = "SELECT m.uid, m.text, m.status, m.note FROM memory m ORDER BY m.id"

Line = dict[str, Any]


class Desk:
    """One store, into which notes and turns go one after the other."""

    def __init__(self, folder: str) -> None:
        self.data = folder
        self.store = open_store(folder, "default")
        self._local, self._builtin, self._count = BuiltinEmbedder(), BuiltinLLM(Judge()), 0

    def tell(
        self, text: str, channel: str = "note", shown: tuple[str, ...] = (), *, at: int = 0, session: str = ""
    ) -> str:
        """Send a text through the pipeline, by default in a session of its own; return the note's uid."""
        self._count += 1
        at = at or _BEGAN_MS + self._count * _STEP_MS
        who = Provenance("user", "bench", session or f"session-{self._count}")
        note = Note(new_uid(at), "default", text, at, provenance=who, channel=channel, shown=shown)
        asyncio.run(self._through(note))
        return note.uid

    async def _through(self, note: Note) -> None:
        local, builtin, plan = self._local, self._builtin, Plan(note)
        tools = Tools(builtin, builtin, local, local, self.store.reader, lambda: note.queued_at, builtin.judge, "turns")
        for stage in PIPELINE:
            plan = await stage.run(replace(tools, store=self.store) if stage.name == "commit" else tools, plan)

    def memories(self, note: str = "") -> list[tuple[str, str, str, str]]:
        """Return (uid, text, status, note) of all memories, or of those of a note."""
        rows = list(self.store.db.execute(_MEMORIES))
        return [row for row in rows if row[3] == note] if note else rows

    def marked(self, uid: str) -> bool:
        """Whether a memory is marked as maybe replaced."""
        sql = "SELECT 1 FROM mark JOIN memory m ON m.id = memory WHERE uid = ? AND maybe IS NOT NULL"
        return bool(self.store.db.execute(sql, (uid,)).get)

    def shown(self, question: str) -> list[tuple[str, bool]]:
        """Return the texts that recall shows for a question, and whether each is said to be maybe replaced."""
        hits = outstanding(found(self.data, "default", question, Filters(), LIMIT, None))
        return [(hit.row.text, bool(hit.maybe_replaced_by)) for hit in hits]

    def started(self) -> str:
        """Return what the hook of a session's start says."""
        return block(self.data, "default", Here())[0]

    def reminded(self, prompt: str) -> str:
        """Return what the hook of a prompt says."""
        return reminder(self.data, "default", Here(), prompt, Session("", "", ""))


def facts(folder: Path, work: str) -> Iterator[Line]:
    """Yield what somebody said of one project, all in one store: none of it ends anything."""
    desk = Desk(work)
    for line in _lines(folder, "facts"):
        desk.tell(line["text"])
    for uid, text, status, _ in desk.memories():
        retired, marked = status != "current", desk.marked(uid)
        yield {"part": "facts", "text": text, "retired": retired, "marked": marked, "right": not retired}
    desk.store.close()


def replaced(folder: Path, work: str) -> Iterator[Line]:
    """Yield changed facts and near misses of a writer, all in one store."""
    desk = Desk(work)
    items = [line | {"part": part} for part in ("changed", "alike") for line in _lines(folder, part)]
    olds = [desk.tell(item["before"]) for item in items]
    news = [desk.tell(item["after"]) for item in items]
    by = dict(desk.store.db.execute("SELECT o.note, n.note FROM memory o JOIN memory n ON n.id = o.superseded_by"))
    gone = {note for _, _, status, note in desk.memories() if status != "current"}
    marked = {note for uid, _, _, note in desk.memories() if desk.marked(uid)}
    for n, item in enumerate(items):
        shown = desk.shown(item["question"])
        retired = olds[n] in gone
        told: Line = {
            "retired": retired,
            "marked": olds[n] in marked,
            "by another": olds[n] in by and by[olds[n]] != news[n],
            "shown": shown,
        }
        if item["part"] == "changed":
            first = bool(shown) and _has(shown[0][0], item["now"])
            plain = [text for text, marked in shown if not marked]
            told["right"] = first and not any(_has(text, item["was"]) and not _has(text, item["now"]) for text in plain)
        else:
            told["right"] = not retired
        yield item | told
    desk.store.close()


def turns(folder: Path, work: str) -> Iterator[Line]:
    """Yield turns, each sent into the store after the others."""
    desk = Desk(work)
    for line in _lines(folder, "turns"):
        stored = [text for _, text, _, _ in desk.memories(desk.tell(line["text"], "turn"))]
        caught = any(_covers(text, piece) for piece in line["keep"] for text in stored)
        yield line | {"part": "turns", "stored": stored, "right": caught if line["keep"] else not stored}
    desk.store.close()


def notes(folder: Path, work: str) -> Iterator[Line]:
    """Yield documents, and what is remembered of them: for a person to judge."""
    desk = Desk(work)
    for line in _lines(folder, "notes"):
        stored = [text for _, text, _, _ in desk.memories(desk.tell(line["text"]))]
        yield line | {"part": "notes", "stored": stored, "right": None}
    desk.store.close()


def prompts(folder: Path, work: str) -> Iterator[Line]:
    """Yield prompts to an agent, each in a store of its own."""
    for n, line in enumerate(_lines(folder, "prompts")):
        desk = Desk(f"{work}/{n}")
        for memory in line["memories"]:
            desk.tell(memory)
        said = desk.reminded(line["prompt"])
        needed = line["memories"][line["needs"]] if line["needs"] is not None else ""
        yield line | {
            "part": "prompts",
            "said": said,
            "right": _covers(said, needed) if needed else not said,
            "told": bool(needed) and (_covers(said, needed) or _has(desk.started(), needed)),
        }
        desk.store.close()


def reversals(folder: Path, work: str) -> Iterator[Line]:
    """Yield rules that were shown to the session, and what became of the words that turn them round."""
    for n, line in enumerate(_lines(folder, "reversals")):
        desk = Desk(f"{work}/{n}")
        shown = tuple(uid for uid, _, _, _ in desk.memories(desk.tell(line["rule"])))
        stored = [text for _, text, _, _ in desk.memories(desk.tell(line["said"], "turn", shown))]
        yield line | {
            "part": "reversals",
            "stored": stored,
            "right": any(_has(text, line["stands"]) for text in stored),
        }
        desk.store.close()


def histories(folder: Path, work: str) -> Iterator[Line]:
    """Yield what is remembered of each project's history, a note an entry: what of it was retired, and rightly so."""
    for n, line in enumerate(_lines(folder, "history")):
        desk = Desk(f"{work}/{n}")
        entries = {desk.tell(entry): at for at, entry in enumerate(line["entries"])}
        # A later entry may repeat what an earlier one has changed.
        ended = {earlier: min(later for later, its in line["ends"] if its == earlier) for _, earlier in line["ends"]}
        by = dict(desk.store.db.execute("SELECT o.uid, n.note FROM memory o JOIN memory n ON n.id = o.superseded_by"))
        memories = desk.memories()
        for uid, text, status, note in memories:
            at, ender = entries[note], entries[by[uid]] if uid in by else None
            yield {
                "part": "history",
                "text": text,
                "entry": at,
                "by": ender,
                "retired": status == "superseded",
                "marked": desk.marked(uid),
                "ended": at in ended,
                "right": status != "superseded" or (ender is not None and ender >= ended.get(at, len(entries))),
            }
        for earlier in ended:
            its = [(uid, status) for uid, _, status, note in memories if entries[note] == earlier]
            seen = any(status == "superseded" or desk.marked(uid) for uid, status in its)
            yield {"part": "ended", "entry": line["entries"][earlier], "right": seen}
        desk.store.close()


PARTS = (facts, replaced, turns, notes, prompts, reversals, histories)


def _lines(folder: Path, part: str) -> Sequence[Line]:
    path = folder / f"{part}.jsonl"
    if not path.exists():
        return []
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def _has(text: str, piece: str) -> bool:
    return piece.casefold() in text.casefold()


def _covers(text: str, piece: str) -> bool:
    wanted = stems(piece)
    return _has(text, piece) or (bool(wanted) and len(wanted & stems(text)) >= SAID * len(wanted))


def table(outcomes: Sequence[Line]) -> str:
    """Count what came out, by part and writer."""
    kinds = {
        "facts: wrongly retired": lambda o: o["part"] == "facts",
        "facts: wrongly marked": lambda o: o["part"] == "facts",
        "changed: what holds first, nothing stale unmarked": lambda o: o["part"] == "changed",
        "changed: the old one retired": lambda o: o["part"] == "changed",
        "changed: the old one retired or marked": lambda o: o["part"] == "changed",
        "near misses: the old one retired": lambda o: o["part"] == "alike",
        "retired by something unrelated": lambda o: o["part"] in ("changed", "alike"),
        "turns: what is worth it kept": lambda o: o["part"] == "turns" and o["keep"] and o["lang"] == "en",
        "turns: others kept": lambda o: o["part"] == "turns" and not o["keep"] and o["lang"] == "en",
        "other languages: what is worth it kept": lambda o: o["part"] == "turns" and o["keep"] and o["lang"] != "en",
        "other languages: others kept": lambda o: o["part"] == "turns" and not o["keep"] and o["lang"] != "en",
        "prompts: the memory shown": lambda o: o["part"] == "prompts" and o["needs"] is not None,
        "prompts: the memory shown then, or at the start": lambda o: o["part"] == "prompts" and o["needs"] is not None,
        "prompts: shown in vain": lambda o: o["part"] == "prompts" and o["needs"] is None,
        "reversals kept": lambda o: o["part"] == "reversals",
        "history: wrongly retired": lambda o: o["part"] == "history",
        "history: wrongly marked": lambda o: o["part"] == "history" and not o["ended"],
        "history: what ended retired or marked": lambda o: o["part"] == "ended",
    }
    counted = {
        "facts: wrongly retired": lambda o: o["retired"],
        "facts: wrongly marked": lambda o: o["marked"],
        "changed: the old one retired": lambda o: o["retired"],
        "changed: the old one retired or marked": lambda o: o["retired"] or o["marked"],
        "near misses: the old one retired": lambda o: o["retired"],
        "retired by something unrelated": lambda o: o["by another"],
        "turns: others kept": lambda o: not o["right"],
        "other languages: others kept": lambda o: not o["right"],
        "prompts: the memory shown then, or at the start": lambda o: o["told"],
        "prompts: shown in vain": lambda o: not o["right"],
        "history: wrongly retired": lambda o: not o["right"],
        "history: wrongly marked": lambda o: o["marked"],
    }
    writers = sorted({o["writer"] for o in outcomes})
    rows = []
    for name, of in kinds.items():
        count = counted.get(name, lambda o: o["right"])
        cells = []
        for some in (writers, *([writer] for writer in writers)):
            these = [o for o in outcomes if o["writer"] in some and of(o)]
            cells.append(f"{sum(bool(count(o)) for o in these)} of {len(these)}")
        rows.append((name, *cells))
    return markdown(("", "all", *writers), rows)


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.learning", description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--json", type=Path, help="write all outcomes here")
    asked = parser.parse_args()
    outcomes: list[Line] = []
    with tempfile.TemporaryDirectory() as work:
        for folder in sorted(path for path in asked.data.iterdir() if path.is_dir()):
            for part in PARTS:
                outcomes += (o | {"writer": folder.name} for o in part(folder, f"{work}/{folder.name}/{part.__name__}"))
    if asked.json:
        asked.json.write_text(json.dumps({"machine": described(), "outcomes": outcomes}, ensure_ascii=False, indent=1))
    print(table(outcomes))
    return 0


if __name__ == "__main__":
    sys.exit(main())
