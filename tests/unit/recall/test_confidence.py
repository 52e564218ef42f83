"""Confidence: surer with more evidence, silent or marked low off topic, and worth what its decision says."""

import json

import pytest

from bench import dataset
from bench.retrieval import Recall, unanswerable
from bench.shelves import build
from bench.unasked import ASIDE, DATA
from memman.embed.static import StaticTable
from memman.recall import hit as confidence
from memman.recall.hit import LOW, SILENT
from memman.store.filters import Filters
from memman.store.sqlite.reader import SqliteReader

ANSWERABLE, OFF_TOPIC = "answerable", "off-topic"
KINDS = {ANSWERABLE, OFF_TOPIC, "near-miss", "elsewhere"}
FACTS = (
    "The rate limit of the public API is 120 requests a minute.",
    "Payments are matched to invoices by number first, then by amount.",
    "Priya wrote the matching rules during the hack week in Leipzig.",
    "Grafana logs in through Keycloak with the realm growers.",
    "Backups go to a bucket in Falkenstein, full on Sunday, differential each night.",
    "The stutter in the swamp level came from pipelines compiled at first use.",
    "Deployments happen by Argo CD; a merge to main is live in six minutes.",
    "The user prefers tabs for indentation and hates default exports.",
    "Frost alerts fire at 3 degrees, with a hysteresis of one degree.",
    "The nightly end to end run takes 48 minutes and posts to quill-night.",
)
OFF = ("how do bees make honey", "who painted the girl with a pearl earring", "cheap hotels in Lisbon")


@pytest.fixture(scope="module")
def aside(tmp_path_factory):
    """Ask the questions of the stores that nothing was fitted to."""
    folder = DATA / ASIDE
    data = dataset.load(str(folder / "docs.jsonl"), str(folder / "queries.jsonl"))
    recall = Recall(build(data, str(tmp_path_factory.mktemp("aside"))))
    return recall, data.queries


@pytest.fixture
def full(box):
    """Give a store with ten memories of ten kinds."""
    for text in FACTS:
        box.remember(text)
    box.drain()
    return box


@pytest.mark.slow
def test_confidence_tells_answers_on_stores_that_nothing_was_fitted_to(aside):
    """Answerable questions are told from others, keep their answers, and off-topic ones are silent or marked low."""
    recall, queries = aside
    figures = unanswerable(recall, queries)
    assert figures["elsewhere"]["auc"] >= 0.88
    assert figures[OFF_TOPIC]["auc"] >= 0.93
    assert figures[OFF_TOPIC]["silent"] >= 0.6
    assert figures[ANSWERABLE]["silent"] <= 0.05

    def low(kind):
        asked = [query for query in queries if query.category == kind]
        return sum(all(hit.doubtful for hit in recall.hits(query, Filters(), 10)) for query in asked) / len(asked)

    assert min(low(OFF_TOPIC), low("elsewhere")) >= 0.9
    assert low(ANSWERABLE) <= 0.3
    off = [recall.surest(query) for query in queries if query.category == OFF_TOPIC]
    assert sum(value < 0.45 for value in off) / len(off) >= 0.95


def test_the_labelled_set_is_as_large_as_its_description():
    """Both halves have stores of their own, gold for every answerable question, and none for the others."""
    scopes = []
    for half in ("fitted", "aside"):
        docs = [json.loads(line) for line in (DATA / half / "docs.jsonl").read_text("utf-8").splitlines()]
        queries = [json.loads(line) for line in (DATA / half / "queries.jsonl").read_text("utf-8").splitlines()]
        known = {doc["id"] for doc in docs}
        assert len(known) == len(docs) == 208
        for query in queries:
            assert set(query["gold"]) <= known
            assert bool(query["gold"]) == (query["cat"] == ANSWERABLE)
            assert query["cat"] in KINDS
        assert len(queries) == 283
        scopes.append({doc["scope"] for doc in docs})
    assert not scopes[0] & scopes[1]


def test_more_evidence_never_makes_less_sure():
    """Confidence grows with cosine and coverage, with vectors and without, and stays between 0 and 1."""
    steps = [n / 10 for n in range(11)]
    for cosine in (None, *(n / 10 - 0.5 for n in range(16))):
        rising = [confidence.confidence(cosine, coverage) for coverage in steps]
        assert rising == sorted(rising)
        assert all(0 <= value <= 1 for value in rising)
    for coverage in steps:
        nearer = [confidence.confidence(cosine / 10, coverage) for cosine in range(-5, 11)]
        assert nearer == sorted(nearer)


def test_nearly_all_words_are_enough_without_meaning():
    """What holds three quarters of a question is shown however far its vector is, and what holds half is not."""
    assert confidence.confidence(-0.2, 0.75) > SILENT > confidence.confidence(-0.2, 0.5)


def test_numbers_belong_to_the_shipped_table():
    """A new table of the embedder calls for new numbers."""
    table = StaticTable()
    assert f"{table.model}-v{table.version}" == confidence.TABLE


@pytest.mark.parametrize("query", OFF)
def test_a_question_about_something_else_is_silent_or_marked_low(full, query):
    """Whatever is shown for it says that it may not be what was asked for."""
    assert all(" low confidence" in line for line in full.memman("recall", query).stdout.splitlines())
    assert all(hit.doubtful for hit in full.hits(query))


def test_an_answer_is_not_marked(full):
    """A question by name shows its memory first, sure of it."""
    first = full.memman("recall", "what is the rate limit of the public API").stdout.splitlines()[0]
    assert FACTS[0] in first
    assert "low confidence" not in first
    assert "confidence 0." in full.memman("show", "--query", "rate limit of the API").stdout


@pytest.mark.slow
def test_further_memories_of_other_things_make_nobody_surer(box):
    """However much a store holds of other things, questions that none of it answers stay below the mark."""
    lines = [
        json.loads(line)["text"]
        for half in ("fitted", "aside")
        for line in (DATA / half / "docs.jsonl").read_text("utf-8").splitlines()
    ]
    for texts in (lines[::16], lines[5::8], lines[2::8]):
        for text in texts:
            box.remember(text)
        box.drain()
        for query in OFF:
            assert max((hit.confidence for hit in box.hits(query, least=0.0)), default=0.0) < LOW + 0.05, query


def test_min_confidence_cuts_and_uncovers(full):
    """Every hit shown is as sure as asked for; at 0 there is always something."""
    query = "what is the rate limit of the public API"
    everything = full.hits(query, least=0.0)
    assert len(everything) == len(FACTS)
    for least in (0.1, 0.3, 0.6, 1.0):
        assert [hit.row.text for hit in full.hits(query, least=least)] == [
            hit.row.text for hit in everything if hit.confidence >= least
        ]
    assert full.memman("recall", "--min-confidence", "0", OFF[0]).stdout
    assert full.memman("recall", "--min-confidence=0.99", OFF[0]).stdout == ""


@pytest.mark.parametrize("value", ["", "2", "1.01", "-1", "nan", "high", "1e-3", "٣"])
def test_a_confidence_that_is_none_is_refused(box, value):
    """One line says what to give; nothing is printed."""
    ended = box.memman("recall", f"--min-confidence={value}", "anything")
    assert ended.returncode == 2
    assert "--min-confidence takes a number from 0 to 1" in ended.stderr
    assert ended.stdout == ""


def test_json_says_how_sure_recall_is(full):
    """The answer has the confidence of its surest hit; each hit its own, and whether that is low."""
    answer = json.loads(full.memman("recall", "--json", "rate limit of the public API").stdout)
    assert answer["confidence"] == max(hit["confidence"] for hit in answer["hits"]) > LOW
    assert [hit["doubtful"] for hit in answer["hits"]] == [hit["confidence"] < LOW for hit in answer["hits"]]
    assert json.loads(full.memman("recall", "--json", "--min-confidence", "1", "xyzzy").stdout)["confidence"] == 0


def test_a_waiting_note_is_judged_by_its_words(box):
    """A note that holds the whole question is surer than one that holds half, and may be cut like any other."""
    box.remember("The rate limit of the public API is 120 requests a minute.")
    whole, half = box.hits("public API rate limit")[0], box.hits("public API price list")[0]
    assert whole.confidence > half.confidence
    assert whole.pending
    assert box.hits("public API price list", least=whole.confidence) == []


def test_confidence_is_the_same_without_the_extension(full):
    """Where sqlite-vec cannot be loaded every hit is as sure as where it can."""
    from tests.support.stores import search

    table = StaticTable()
    sure = []
    for extension in (True, False):
        reader = SqliteReader.open(str(full.store_path()))
        reader.has_vectors = reader.has_vectors and extension
        hits = search(reader, table, "how long does the nightly run take", Filters(least=0.0), 10)
        sure.append([(hit.id, hit.confidence) for hit in hits])
        reader.close()
    assert sure[0] == sure[1] != []
