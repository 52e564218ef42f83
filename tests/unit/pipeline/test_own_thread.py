"""The stages of a drain read a store in the drain's own thread: notes are worked on at once, over one connection."""

import asyncio
from threading import get_ident

from memman.clock import now_ms
from memman.judge.embedder import BuiltinEmbedder
from memman.judge.judge import Judge
from memman.llm.builtin import BuiltinLLM
from memman.model.records import Note
from memman.pipeline.extract import extract
from memman.pipeline.plan import Plan, Tools
from memman.store.sqlite.reader import SqliteReader


class Own:
    """A reader that only the thread which made it may read."""

    def __init__(self, reader):
        self._reader, self._thread = reader, get_ident()

    def __getattr__(self, name):
        assert get_ident() == self._thread, name
        return getattr(self._reader, name)


def test_extract_reads_the_store_in_one_thread(box):
    """Also where it asks what a person rejected, which the judge tells in a thread of its own."""
    box.remember("The invoices are cached in Redis.", source="agent")
    box.drain()
    (uid,) = box.store("SELECT uid FROM memory")
    assert box.person("review", "reject", uid).returncode == 0

    async def run():
        local = BuiltinEmbedder()
        rules = BuiltinLLM(Judge())
        reader = Own(SqliteReader.open(str(box.store_path())))
        tools = Tools(rules, rules, local, local, reader, now_ms, judge=rules.judge)
        note = Note("n" * 32, "default", "Sara owns the billing service.", 0)
        plan = await extract(tools, Plan(note))
        await local.close()
        return plan.facts

    assert [fact.text for fact in asyncio.run(run())] == ["Sara owns the billing service."]
