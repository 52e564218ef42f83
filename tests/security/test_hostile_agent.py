"""Whatever an agent answers as the model, about many notes at once: the same limits hold, and no note waits."""

import random
from itertools import count, islice

import pytest

from memman.llm.agent.clients import CLIENTS, Question
from memman.model.records import DEFAULT_IMPORTANCE
from tests.security.test_hostile_replies import DOUBTED, HONEST, SEED, check_notes, check_rows, contents, note
from tests.support.agents import install


@pytest.mark.promise("S5")
def test_no_answer_of_an_agent_does_more_than_it_may(box, monkeypatch, rounds, kept):
    """Every note is done in its drain, and the other store is untouched."""
    for store in ("default", "other"):
        for text in HONEST:
            box.remember(text, store=store, importance=DEFAULT_IMPORTANCE)
    assert box.drain().failed == 0
    before, mine = contents(box, "other"), dict(box.store("SELECT uid, text FROM memory"))
    agent = install("claude-code", box.data.parent / "programs", "hostile_agent:answer")
    monkeypatch.setenv("PATH", f"{agent.folder}:/usr/bin:/bin")
    monkeypatch.setattr("memman.llm.batch.SETTLED", 0.1)
    box.configure(LLM_PROVIDER="claude-code", CAPTURE="turns", BUDGET_CALLS=100_000, BUDGET_TOKENS=10**9)
    picks, numbers = random.Random(SEED), count()
    for _ in range(rounds(1, 60)):
        agent.behave(*picks.choices(("good", "good", "good", "cut", "prose", "banner"), k=8), "good")
        for n in islice(numbers, 20):
            box.remember(**note(picks, n))
        report = box.drain()
        assert (report.deferred, report.failed, report.parked) == (0, 0, 0)
        box.queue("DELETE FROM meta WHERE key LIKE 'model_trouble%'")
    after = contents(box, "other")
    assert sum(len(set(map(repr, before[table])) ^ set(map(repr, after[table]))) for table in before) == 0
    assert box.states().keys() <= {"done"}
    check_rows(box)
    check_notes(box)
    retired = box.store("SELECT n.text, o.text FROM memory o JOIN memory n ON n.id = o.superseded_by")
    assert retired or box.store(f"SELECT n.text, o.text {DOUBTED}")
    assert dict(box.store("SELECT uid, text FROM memory WHERE id <= ?", len(HONEST))) == mine
    assert box.store("SELECT count(*) FROM memory WHERE status = 'forgotten'") == [0]
    answers = len(agent.questions)
    kept(f"{answers} hostile answers of an agent to {next(numbers)} notes: 0 rows outside, {len(retired)} superseded")


@pytest.mark.parametrize("name", CLIENTS)
def test_no_output_of_a_program_raises(name, tmp_path):
    """Whatever a program writes is an answer, or none."""
    chance = random.Random(SEED)
    question = Question("s", {}, "m", str(tmp_path), "id")
    pieces = (
        '{"type":',
        '"text"',
        "}",
        "[",
        "null",
        '{"type":"text","part":7}',
        '{"response":"x","stats":[]}',
        "\n",
        "\0",
    )
    pieces += (
        '{"type":"item.completed","item":null}',
        '{"error":[]}',
        '{"usage":{"input_tokens":"x"}}',
        "{" * 50,
        "1e999",
    )
    pieces += ('{"response":"x","stats":{"models":{"a":7}}}', '{"type":"step_finish","part":{"tokens":{"input":-5}}}')
    for _ in range(3_000):
        said = CLIENTS[name].read("".join(chance.choices(pieces, k=chance.randrange(1, 9))), question)
        assert said.usage.tokens_in >= 0
        assert isinstance(said.text, str)
