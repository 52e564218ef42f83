"""Notes that the judge decided about in place of the model, asked about again: what is newer or changed since stays."""

import pytest

from tests.support.agents import install

WHOLE = "We deploy on Fly.io and the database lives at Neon."
HALVES = ("We deploy on Fly.io.", "The database lives at Neon.")


def halves(question):
    """Answer as a model that finds the halves, repeats other notes, and knows of ports."""
    from tests.support.agents import _fact, _one

    if "<note>" in question["user"] and WHOLE in question["user"]:
        return {"facts": [_fact(text) for text in HALVES]}
    return _one(question["user"], None)


@pytest.fixture(name="agent")
def _agent(box, monkeypatch):
    """Return an agent that is the model and fails at first."""
    agent = install("claude-code", box.data.parent / "programs", "tests.unit.commands.test_reconsider:halves")
    monkeypatch.setenv("PATH", f"{agent.folder}:/usr/bin:/bin")
    monkeypatch.setattr("memman.llm.batch.SETTLED", 0.05)
    box.configure(LLM_PROVIDER="claude-code")
    agent.behave("killed", "good")
    return agent


def decided_instead(box, text):
    """Remember a note while the agent fails, and have it well again."""
    box.remember(text)
    assert box.drain().done == 1
    box.queue("DELETE FROM meta WHERE key LIKE 'model_trouble%'")


def again(box):
    """Ask the model about what the judge decided."""
    done = box.memman("scheduler", "queue", "reconsider")
    assert done.returncode == 0
    box.drain()
    return done.stdout


def current(box):
    """Return what holds, oldest first."""
    return box.store("SELECT text FROM memory WHERE status = 'current' ORDER BY id")


def test_what_the_model_finds_takes_the_place_of_what_the_judge_had(box, agent):
    """Two halves in place of the whole, each once."""
    assert agent
    decided_instead(box, WHOLE)
    assert current(box) == [WHOLE]
    assert "1 note queued again" in again(box)
    assert current(box) == [*HALVES]
    assert "0 notes queued again" in again(box)


def test_what_both_say_is_stored_once(box, agent):
    """The judge's memory stays, with its date."""
    assert agent
    decided_instead(box, HALVES[0])
    before = box.store("SELECT uid, valid_from FROM memory")
    again(box)
    assert box.store("SELECT uid, valid_from FROM memory WHERE status = 'current'") == before


def test_a_newer_value_stays(box, agent):
    """What was said later holds, whichever was asked about last."""
    assert agent
    decided_instead(box, "Gateway listens on port 4000.")
    box.remember("Gateway listens on port 5000.")
    box.drain()
    again(box)
    assert current(box) == ["Gateway listens on port 5000."]


def test_what_a_person_replaced_does_not_come_back(box, agent):
    """Its memory was changed since: it is not asked about."""
    assert agent
    decided_instead(box, "Gateway listens on port 4000.")
    (uid,) = box.store("SELECT uid FROM memory")
    assert box.memman("replace", uid, "Gateway has no port any more.").returncode == 0
    box.drain()
    asked = len(agent.questions)
    again(box)
    assert current(box) == ["Gateway has no port any more."]
    assert len(agent.questions) == asked


@pytest.mark.parametrize("verb", ["forget", "purge"])
def test_what_was_forgotten_leaves_nothing_to_ask_about(box, agent, verb):
    """Said twice, forgotten once: neither note keeps its text, and none that waits to be asked about stays."""
    assert agent
    decided_instead(box, WHOLE)
    agent.behave("killed", "good")
    decided_instead(box, WHOLE)
    (uid,) = box.store("SELECT uid FROM memory")
    assert box.memman(verb, uid).returncode == 0
    assert box.queue("SELECT DISTINCT text FROM note") in ([""], [])
    again(box)
    assert current(box) == []


def test_what_waits_to_be_asked_about_again_is_forgotten_too(box, agent):
    """Queued again, then forgotten: the drain stores nothing."""
    assert agent
    decided_instead(box, WHOLE)
    assert box.memman("scheduler", "queue", "reconsider").returncode == 0
    (uid,) = box.store("SELECT uid FROM memory")
    assert box.memman("forget", uid).returncode == 0
    box.drain()
    assert current(box) == []
