"""`graph rebuild --with-model`: the configured model says what caused what among memories it has not compared yet."""

import json
import re

import pytest

from tests.support.providers import ScriptedProvider, respond, status

FOR_PEOPLE, SPENT = 77, 25
CAUSE = "The sessions table in Postgres answers slowly."
EFFECT = "Sessions of the shop moved from Postgres to Redis."
OTHERS = (
    "The sessions of the shop last a day.",
    "Redis of the shop runs on one node.",
    "The cat sleeps on the router.",
)
NUMBERED = re.compile(r"^([fm]\d+)[^:]*: (.*)$", re.MULTILINE)


def answer(asked):
    """Name the cause wherever both sides are in the question, and do away with all that is offered."""
    if asked["task"] != "reconcile":
        return respond(asked)
    place = {text: number for number, text in NUMBERED.findall(asked["user"])}
    ends = [place.get(text) for text in (CAUSE, EFFECT)]
    named = {"cause": ends[0], "effect": ends[1], "kind": "causes", "confidence": 0.9}
    gone = {"fact": 0, "action": "DELETE", "memory": 0, "rest": "", "reason": "so it says"}
    return {"verdicts": [gone], "causes": [named] if all(ends) else []}


@pytest.fixture
def kept(box):
    """Store memories without a model."""
    for n, text in enumerate((CAUSE, EFFECT, *OTHERS)):
        box.remember(text, session=str(n))
    box.drain()
    return box


def no(said):
    """Refuse once asked."""
    return "no\n" if said.endswith("[y/N] ") else ""


def rebuilt(box, *options):
    """Rebuild at a terminal, and return what is printed."""
    ended = box.person("graph", "rebuild", "--with-model", *options)
    assert ended.returncode == 0, ended
    return ended


def causal(box):
    """Return the causal edges as (cause, effect)."""
    return box.store(
        "SELECT m.text, n.text FROM edge JOIN memory m ON m.id = src JOIN memory n ON n.id = dst WHERE kind = 'causal'"
    )


def test_without_a_model_one_line_says_so(kept):
    """The built-in model finds no causes."""
    for options in ((), ("--dry-run",)):
        ended = kept.memman("graph", "rebuild", "--with-model", *options)
        assert ended.returncode == 2
        assert ended.stderr == (
            "memman: --with-model needs a model, and none is set up: the built-in one finds no causes\n"
        )


def test_the_model_names_causes_and_changes_nothing_else(kept):
    """Its cost is told before, a person agrees to it, and of its answers only causes count."""
    with ScriptedProvider(respond=answer) as provider:
        kept.use(provider)
        foreseen = json.loads(kept.memman("graph", "rebuild", "--with-model", "--dry-run", "--json").stdout)["model"]
        assert foreseen["questions"] >= 2
        assert foreseen["tokens"] > 1_000
        assert not provider.calls
        ended = kept.person("graph", "rebuild", "--with-model", answer=no)
        assert ended.returncode == FOR_PEOPLE
        assert not provider.calls
        ended = rebuilt(kept)
        assert f"{foreseen['questions']} questions, about {foreseen['tokens']:,} tokens at most?" in ended.asked
        assert "1 causal edge" in ended.stdout
        assert provider.tasks == {"reconcile": foreseen["questions"]}
        assert causal(kept) == [(CAUSE, EFFECT)]
        assert kept.store("SELECT count(*) FROM memory WHERE status <> 'current'") == [0]
        assert kept.memman("graph", "rebuild", "--with-model").returncode == 0
        assert provider.tasks == {"reconcile": foreseen["questions"]}


def test_it_goes_on_where_the_budget_ended(kept):
    """What was answered within the budget is kept, and the next run asks the rest."""
    with ScriptedProvider(respond=answer) as provider:
        kept.use(provider, DRAIN_CONCURRENCY=1, BUDGET_CALLS=1)
        ended = kept.person("graph", "rebuild", "--with-model")
        assert (ended.returncode, "budget is spent" in ended.stderr) == (SPENT, True)
        assert provider.tasks == {"reconcile": 1}
        left = json.loads(kept.memman("graph", "rebuild", "--with-model", "--dry-run", "--json").stdout)["model"]
        kept.use(provider)
        rebuilt(kept)
        assert provider.tasks == {"reconcile": 1 + left["questions"]}
        assert causal(kept) == [(CAUSE, EFFECT)]


def test_a_model_that_is_down_is_asked_again_later(kept):
    """Where the provider fails nothing counts as asked."""
    with ScriptedProvider(respond=answer, script=lambda _: status(503)) as provider:
        kept.use(provider)
        assert kept.person("graph", "rebuild", "--with-model").returncode != 0
    with ScriptedProvider(respond=answer) as provider:
        kept.use(provider)
        rebuilt(kept)
    assert causal(kept) == [(CAUSE, EFFECT)]
