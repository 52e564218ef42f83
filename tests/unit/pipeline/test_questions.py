"""A model writes questions that a memory answers; it is found by them, and they are shown nowhere."""

import pytest

from memman.embed.base import cosines
from memman.judge.embedder import BuiltinEmbedder
from memman.model.records import Hints
from memman.pipeline.replies import fact
from tests.support.providers import ScriptedProvider, respond

CACHE = "Never drain the pool-ssd nodes by hand: the tracker's Redis lives there and takes 50 minutes to warm up."
ASKED = "Why were consignments looked up so sluggishly once somebody evicted a kubelet?"
QUERY = "consignments sluggishly kubelet"
OTHERS = ("The invoices are sent by billing-service on Fridays.", "The crane inspection starts at five.")


def answering(questions):
    """Answer as a model that writes `questions` about CACHE, and none about anything else."""

    def answer(asked):
        made = respond(asked)
        for one in made.get("facts", ()):
            one["questions"] = questions if one["text"] == CACHE else []
        return made

    return answer


def stored(box, questions):
    """Have a model extract CACHE and two other notes; return how often each question was put to it."""
    with ScriptedProvider(respond=answering(questions)) as provider:
        box.use(provider, EMBED_PROVIDER="builtin", EMBED_ENDPOINT="", EMBED_MODEL="")
        for text in (CACHE, *OTHERS):
            box.remember(text)
            assert box.memman("scheduler", "drain").returncode == 0
        return dict(provider.tasks)


def nearness(box, text):
    """Return the cosine of CACHE's stored vector to a text."""
    made = "SELECT memory, planes, squares FROM vector v JOIN embedder e ON e.id = v.embedder AND provider = 'builtin'"
    (row,) = box.store(f"{made} JOIN memory m ON m.id = memory WHERE text = ?", CACHE)
    return cosines(BuiltinEmbedder().vectors([text])[0], [row])[row[0]]


def test_a_memory_is_found_by_a_question_in_other_words_than_its_own(box):
    """By words that only the question has."""
    stored(box, [ASKED])
    assert box.recall(QUERY)[:1] == [CACHE]


def test_no_more_calls_are_made_for_it(box, home):
    """The questions come with the answer that is asked for anyway; without them nothing is found."""
    plain = home("plain")
    assert stored(box, [ASKED]) == stored(plain, [])
    assert plain.recall(QUERY)[:1] != [CACHE]


def test_a_memory_is_nearer_to_its_question_in_meaning(box, home):
    """And nearer to its own text still."""
    plain = home("plain")
    stored(box, [ASKED])
    stored(plain, [])
    assert nearness(plain, ASKED) < nearness(box, ASKED) < nearness(box, CACHE)


def test_the_questions_are_shown_nowhere_and_exported(box, tmp_path):
    """Every way of showing a memory leaves them out; an export takes them along."""
    stored(box, [ASKED])
    (uid,) = box.store("SELECT uid FROM memory WHERE text = ?", CACHE)
    folder = tmp_path / "notes"
    for args in (
        ("recall", QUERY),
        ("recall", QUERY, "--json"),
        ("recall", QUERY, "--budget", "2000"),
        ("list", "--json"),
        ("show", uid),
        ("show", uid, "--json"),
        ("list", "--by-day", "--json"),
        ("show", "--query", QUERY, "--json"),
        ("log", "list", "--json"),
        ("wiki", "build", str(folder)),
    ):
        done = box.memman(*args)
        assert done.returncode == 0, (args, done.stderr)
        assert "sluggishly once" not in done.stdout, args
    files = [path.read_text() for path in folder.rglob("*.md")]
    assert [text for text in files if CACHE in text]
    assert not [text for text in files if "sluggishly" in text]
    assert ASKED in box.memman("export").stdout


def test_what_is_left_of_a_memory_has_none_of_its_questions(box):
    """They may have asked about the other half."""
    old, rest = "The gateway listens on port 4000 and needs Redis 7.", "The gateway needs Redis 7."
    verdict = {"fact": 0, "action": "UPDATE", "memory": 0, "reason": "another port", "rest": rest}

    def answer(asked):
        if asked["task"] == "reconcile":
            return {"verdicts": [verdict] if "<memories>" in asked["user"] else [], "causes": []}
        return {"facts": [one | {"questions": [ASKED]} for one in respond(asked)["facts"]]}

    with ScriptedProvider(respond=answer) as provider:
        box.use(provider)
        for text in (old, "The gateway listens on port 5000."):
            box.remember(text)
            assert box.drain().done == 1
    rows = box.store("SELECT text, keywords LIKE '%sluggishly%' FROM memory ORDER BY id")
    assert rows == [(old, 1), ("The gateway listens on port 5000.", 1), (rest, 0)]


@pytest.mark.parametrize(
    ("answered", "kept"),
    [
        (None, []),
        (7, []),
        ("Why?", []),
        ({"why": "so"}, []),
        ([None, 7, ["Why?"], {"q": "Why?"}, "", "  "], []),
        (["Who owns\nthe \x1b[31mcranes", "Who owns the [31mcranes?"], ["Who owns the [31mcranes?"]),
        (["a " * 500], ["a " * 59 + "a?"]),
        ([f"Which is number {n}?" for n in range(99)], [f"Which is number {n}?" for n in range(3)]),
        (
            ["\u4f55\u65f6\u90e8\u7f72\uff1f", "Deploys are by hand."],
            ["\u4f55\u65f6\u90e8\u7f72?", "Deploys are by hand?"],
        ),
    ],
)
def test_what_is_no_short_question_is_made_one_or_left_out(answered, kept):
    """Whatever shape a model's questions have, the fact stays and at most three short lines come of them."""
    one = fact({"text": "The crane inspection starts at five.", "keywords": ["lift"], "questions": answered}, Hints())
    assert list(one.keywords) == ["lift", *kept]


def test_chinese_questions_find_by_their_words(box):
    """Though the script has no spaces, by which the index parts words."""
    stored(box, ["\u4e3a\u4ec0\u4e48\u5305\u88f9\u67e5\u8be2\u53d8\u6162\uff1f"])
    assert box.recall("\u5305\u88f9\u67e5\u8be2")[:1] == [CACHE]
