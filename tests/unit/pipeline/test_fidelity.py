"""What a model made of a note is stored where it is faithful; else the note's own sentence is."""

import json
from pathlib import Path

import pytest

from memman.pipeline.comparison import faithful, original
from tests.support.providers import ScriptedProvider, respond

DATA = Path(__file__).parents[2] / "data"


def read(name):
    """Read notes, a faithful fact of each and a false one."""
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


PAIRS = [*read("faithful"), *read("faithful_later")]
BLANK = {"category": "fact", "importance": 3, "entities": [], "keywords": [], "summary": ""}


def answering(pairs, which):
    """Answer each note with what `which` of its pair says, as said by whose word it is, and nothing else."""

    def answer(asked):
        if asked["task"] == "reconcile":
            return respond(asked)
        told = (one for one in pairs if one["said"] in asked["user"])
        return {"facts": [BLANK | {"text": one[which], "speaker": "user"} for one in told]}

    return answer


def stored(box, pairs, which):
    """Drain all notes with such a model; return what each left as the user's word, as a list of texts."""
    with ScriptedProvider(respond=answering(pairs, which)) as provider:
        box.use(provider, EMBED_PROVIDER="builtin", EMBED_ENDPOINT="", EMBED_MODEL="")
        uids = []
        for n, one in enumerate(pairs):
            turn = {"channel": "turn", "agent": "tester", "session": f"s{n}"}
            uids.append(box.remember(one["said"], **(turn | {"reply": one["reply"]} if "reply" in one else {})))
        assert box.drain(seconds=300).done == len(pairs)
    rows = box.store("SELECT note, text FROM memory WHERE status = 'current' AND source = 'user' ORDER BY id")
    return [[text for note, text in rows if note == uid] for uid in uids]


def own(pair):
    """Return the sentence of a note that its pair is about."""
    return pair.get("own", pair["said"])


def test_what_a_model_makes_of_an_item_carries_what_introduces_it(box):
    """Neither the bare item, nor the sentence that takes the place of other words, says the opposite."""
    pair = {
        "said": "Forbidden\n\n- use dates in TypeScript\n- push to main on Fridays",
        "bare": "Use dates in TypeScript.",
    }
    assert stored(box, [pair], "bare") == [["Forbidden: use dates in TypeScript"]]
    pair = {"said": "Rejected\n\n- the figs service in Go\n", "other": "The Figs service should never be in Go."}
    assert stored(box, [pair], "other") == [["Rejected: the figs service in Go"]]


@pytest.mark.parametrize(("which", "least", "most"), [("true", 60, 90), ("false", 0, 40)])
def test_most_of_what_is_faithful_is_kept_and_of_no_note_anything_is_lost(box, which, least, most):
    """Of ninety faithful facts most keep the model's words; of ninety false ones those pass that only change places."""
    left = stored(box, PAIRS, which)
    kept = [pair[which] for pair, texts in zip(PAIRS, left, strict=True) if pair[which] in texts]
    assert least <= len(kept) <= most, kept
    lost = [
        (own(pair), texts)
        for pair, texts in zip(PAIRS, left, strict=True)
        if "reply" not in pair and pair[which] not in texts and own(pair) not in " ".join(texts)
    ]
    assert lost == []


@pytest.mark.parametrize("speaker", ["user", "agent", None])
def test_a_users_rule_is_theirs_whoever_a_model_says_it_is_of(box, speaker):
    """A lasting rule is neither dropped nor held back as the agent's advice."""
    text = "Write commit messages in imperative mood, under 60 characters."
    said = "From now on write commit messages in imperative mood, under 60 characters."
    facts = {"facts": [BLANK | {"text": text, "category": "preference"} | ({"speaker": speaker} if speaker else {})]}
    with ScriptedProvider(
        respond=lambda asked: facts if asked["task"] == "conversation" else respond(asked)
    ) as provider:
        box.use(provider, EMBED_PROVIDER="builtin", EMBED_ENDPOINT="", EMBED_MODEL="")
        box.remember(said, channel="turn", reply="Understood.", agent="tester", session="s")
        box.drain()
    assert box.store("SELECT text, category, source, status FROM memory") == [(text, "preference", "user", "current")]


def test_a_false_summary_is_not_stored_beside_a_faithful_fact(box):
    """The index and what is shown at the start of a session hold no falsehood either."""
    said = (
        "Always run make lint before pushing to a branch that others have checked out, for a push that does not pass"
        " blocks every release until somebody has taken it back, and that has cost us whole afternoons."
    )
    facts = {"facts": [BLANK | {"text": said, "summary": "Never run make lint before pushing."}]}
    with ScriptedProvider(respond=lambda asked: facts if asked["task"] == "extract" else respond(asked)) as provider:
        box.use(provider, EMBED_PROVIDER="builtin", EMBED_ENDPOINT="", EMBED_MODEL="")
        box.remember(said)
        box.drain()
    [(text, summary)] = box.store("SELECT text, summary FROM memory")
    assert text == said
    assert "never" not in summary.lower()
    assert said.startswith(summary.rstrip("…. "))


@pytest.mark.parametrize(
    ("note", "fact", "kept"),
    [
        ("Deploy scripts live in ops/. They must never run as root.", "Deploy scripts must run as root.", "both"),
        ("The port is 8080. Bananas are yellow.", "The port is 8081.", "The port is 8080."),
        ("The port is 8080.", "Apples ripen in autumn.", "The port is 8080."),
        (
            "Uploads time out after 30 seconds.",
            "Uploads time out after 30 minutes.",
            "Uploads time out after 30 seconds.",
        ),
        ("We need at least 3 replicas.", "At most 3 replicas are needed.", "We need at least 3 replicas."),
        ("Use two workers.", "Three workers are used.", "Use two workers."),
        ("We use HttpClient.", "HTTPClient is used.", "We use HttpClient."),
        ("Unpack it with tar -C.", "Unpack it with tar -c.", "Unpack it with tar -C."),
    ],
)
def test_the_notes_own_sentence_takes_the_place_of_what_differs(box, note, fact, kept):
    """With the sentence that it leans on; what has nothing of the note is left to the built-in model."""
    answer = {"facts": [BLANK | {"text": fact}]}
    with ScriptedProvider(respond=lambda asked: answer if asked["task"] == "extract" else respond(asked)) as provider:
        box.use(provider, EMBED_PROVIDER="builtin", EMBED_ENDPOINT="", EMBED_MODEL="")
        box.remember(note)
        box.drain()
    assert box.store("SELECT text FROM memory") == [note if kept == "both" else kept]


@pytest.mark.parametrize(
    ("fact", "source"),
    [
        ("Redis is a fast in-memory store with replication.", "We chose Redis for the sessions."),
        ("The export runs nightly on the blue cluster behind a proxy.", "The export failed."),
        ("The gateway retries requests with growing pauses before giving up.", "The gateway was renamed in May."),
    ],
)
def test_a_name_in_common_bears_nothing_out(fact, source):
    """What a model adds to a name that was said is not what was said of it."""
    assert not faithful(fact, source)


@pytest.mark.parametrize(
    ("fact", "source"),
    [
        ("The Frankfurt cluster uses encrypted backups and rotating keys.", "The Frankfurt office closes at five."),
        ("Grafana dashboards are reviewed before every release.", "Grafana was down. Ask Bob."),
        ("Tokens expire after fifteen minutes in another tab.", "The designer wants rounded tabs. Nothing else."),
    ],
)
def test_what_nobody_said_is_no_sentence_of_the_note(fact, source):
    """A word in common makes no sentence the one that a fact was made of; one that was is given for it."""
    assert original(fact, source) == ""
    assert original(fact, f"{source} {fact}") == fact


@pytest.mark.parametrize(
    "text", ["l'" * 2_000, "a-" * 2_000, "\u4e0d" * 4_000, "A1. " * 1_000, "1," * 2_000, "`(" * 2_000]
)
def test_no_text_is_too_odd_to_be_compared(text):
    """What a model makes up cannot end a drain."""
    assert faithful(text, text)
    assert not faithful(text, "The port is 8080.")
    assert original(text, "The port is 8080.") == ""


def test_a_no_before_a_sentence_denies_nothing_in_it():
    """It answers somebody; within the sentence it counts."""
    assert faithful("Use pnpm, not npm.", "no, use pnpm, not npm")
    assert not faithful("There is a limit.", "There is no limit.")


@pytest.mark.parametrize(
    ("said", "made"),
    [
        ("Only Olga may restart the cluster.", "Olga may restart the cluster."),
        ("Only admins can delete projects.", "Everyone can delete projects."),
        ("Tests fail unless Docker runs.", "Tests fail if Docker runs."),
        ("Everything except search is in Go.", "Everything is in Go."),
        ("Never push to main without review.", "Never push to main with review."),
        ("Use at least Node 20.", "Use Node 20."),
        ("Nur Olga darf den Cluster neu starten.", "Olga darf den Cluster neu starten."),
        (
            "Todo menos la b\u00fasqueda, salvo en enero, est\u00e1 en Go.",
            "Todo menos la b\u00fasqueda est\u00e1 en Go.",
        ),
    ],
)
def test_what_narrows_a_statement_is_neither_lost_nor_added(said, made):
    """Both ways; as it was said it is faithful."""
    assert faithful(said, said)
    assert not faithful(made, said)
    assert not faithful(said, made)
