"""Words are read before the transaction; inside it the records decide as they stand then."""

import asyncio
from dataclasses import replace
from types import SimpleNamespace

import pytest

from memman.config.env import Settings
from memman.drain.stores import Stores
from memman.model.records import Candidate, Fact, Note, Provenance, Verdict
from memman.model.uid import memory_uid
from memman.pipeline.commit import commit
from memman.pipeline.plan import Plan
from memman.pipeline.weigh import weigh

OLD, NEW = "We deploy on Heroku.", "We deploy on Fly, not on Heroku."


def planned(number, text, source="user", **judged):
    """Return a note's plan."""
    note = Note(f"{number:032x}", "default", text, number, provenance=Provenance(source, "tester", str(number)))
    return Plan(note, (Fact(text),), **judged)


async def stored(data, new, meanwhile):
    """Store OLD and then a weighed plan, without anybody who could read words; return text and status of memories."""
    stores = Stores.of(str(data), Settings({}))
    store, tools = stores.equipped("default")
    await commit(replace(tools, store=store), await weigh(tools, planned(1, OLD)))
    plan = await weigh(tools, new)
    with store.unit() as unit:
        meanwhile(unit)
    # A judge that tells its name and nothing else.
    writer = replace(tools, store=store, judge=SimpleNamespace(name=tools.judge.name), purged=None, kin=None)
    await commit(writer, plan)
    rows = [*store.db.execute("SELECT text, status FROM memory ORDER BY id")]
    await stores.close()
    return rows


@pytest.mark.parametrize(
    ("meanwhile", "left"),
    [
        (lambda unit: None, "superseded"),  # noqa: ARG005 - nothing happens
        (lambda unit: unit.protect(1, 5, wanted=True), "current"),
        (lambda unit: unit.forget(1, 5), "forgotten"),
    ],
)
def test_what_a_person_does_meanwhile_counts(tmp_path, meanwhile, left):
    """A memory that was protected or forgotten since a note was weighed is not superseded by it."""
    uid = memory_uid(f"{1:032x}", 0)
    offered = Candidate(uid, OLD, "fact", (), 1, 0.9)
    new = planned(2, NEW, candidates=((offered,),), verdicts=(Verdict(0, "UPDATE", uid),))
    assert asyncio.run(stored(tmp_path, new, meanwhile)) == [(OLD, left), (NEW, "current")]


def test_what_was_known_and_is_forgotten_meanwhile_is_stored(tmp_path):
    """It was said again, and nothing says it any longer."""
    new = planned(2, OLD, verdicts=(Verdict(0, "NONE", memory_uid(f"{1:032x}", 0)),))
    rows = asyncio.run(stored(tmp_path, new, lambda unit: unit.forget(1, 5)))
    assert rows == [(OLD, "forgotten"), (OLD, "current")]
