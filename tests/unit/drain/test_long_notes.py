"""Long and odd notes: everything a note says ends up in the store, whoever extracts it."""

import pytest

from tests.support.providers import ScriptedProvider, respond

LISTS = {
    "bullets": "\n".join(f"- Option Flag{n} sets behaviour number {n} of the parser." for n in range(600)),
    "prose": " ".join(f"Worker W{n} polls queue number {n} every {n + 7} seconds." for n in range(600)),
    "lines": "\n".join(f"host{n}.example.com runs build number {n}" for n in range(600)),
}


@pytest.mark.parametrize("text", LISTS.values(), ids=LISTS.keys())
def test_no_part_of_a_long_note_is_lost_to_the_rules(box, text):
    """Of six hundred statements in one note each one is in some memory, and a late one is recalled."""
    box.remember(text)
    box.drain()
    stored = " ".join(box.store("SELECT text FROM memory")) + " "
    assert [n for n in range(600) if f"number {n} " not in stored.replace(".", " ")] == []
    assert len(box.store("SELECT id FROM memory")) <= 64
    assert "number 577" in " ".join(box.recall("number 577"))


def test_no_fact_a_model_finds_late_in_a_long_note_is_dropped(box):
    """A fact from the last line of a long note counts as grounded in it like one from the first."""
    topics = [f"topic{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(60)]
    facts = [f"Component {name}service owns {name}data." for name in topics]
    fact = {"category": "fact", "importance": 3, "entities": [], "keywords": [], "summary": ""}
    answer = {"facts": [fact | {"text": text} for text in facts]}
    with ScriptedProvider(respond=lambda asked: answer if asked["task"] == "extract" else respond(asked)) as provider:
        box.use(provider)
        box.remember(" ".join(facts))
        box.drain()
    assert box.store("SELECT text FROM memory ORDER BY id") == facts


@pytest.mark.parametrize(
    "text", ["...", "🙂", "42", "x" * 10_000, "的", "a\u0301", "-", "#" * 50, "# Heading", "```\n```", "![a](b.svg)"]
)
def test_a_note_without_a_sentence_is_kept_as_it_is(box, text):
    """Whatever a person chose to remember becomes at least one memory and loses nothing but blanks."""
    box.remember(text)
    assert box.drain().done == 1
    stored = "".join(box.store("SELECT text FROM memory ORDER BY id"))
    assert stored.replace(" ", "") in {"".join(text.split()), text.lstrip("# ")}


def test_a_fact_that_differs_late_is_not_taken_for_a_repetition(box):
    """A model may not drop a long fact as known when only its end says something new."""
    shared = " ".join(f"word{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(60))
    none = {"verdicts": [{"fact": 0, "action": "NONE", "memory": 0, "reason": "known"}], "causes": []}
    with ScriptedProvider(respond=lambda asked: none if asked["task"] == "reconcile" else respond(asked)) as provider:
        box.use(provider)
        for end in ("Vercel", "Coolify"):
            box.remember(f"{shared} {end}")
            box.drain()
        assert provider.tasks["reconcile"] == 1
    assert len(box.store("SELECT id FROM memory")) == 2


def test_a_waiting_note_is_found_by_its_last_word(box):
    """The pending overlay looks at the whole of a long note."""
    box.remember(" ".join(f"word{n}" for n in range(300)) + " Coolify")
    assert len(box.recall("Coolify")) == 1
