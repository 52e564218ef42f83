import json
import subprocess
import sys

import pytest

from bench import baselines, confidence, dataset, intervals, rankers, scores, shelves, trials
from bench.dataset import ADVERSARIAL, ALL, Doc, Query
from bench.machine import ROOT
from bench.scores import Ranking
from memman.govern.forget import forget
from memman.govern.stores import Chosen
from memman.store.sqlite.store import SqliteStore

SAID = {
    "shop": (
        ("s1", "The web shop is deployed on Coolify."),
        ("s1", "Ana owns the checkout of the web shop."),
        ("s1", "Its logs are kept for 30 days."),
        ("s2", "Invoices are rendered by the billing worker."),
        ("s2", "The billing worker retries failed payments five times."),
    ),
    "zoo": (
        ("s1", "The elephants are fed at seven in the morning."),
        ("s1", "Penguins live in the northern enclosure."),
        (None, "Tickets are cheaper on Mondays."),
    ),
}
ASKED = (
    {"q": "where is the web shop deployed", "scope": "shop", "gold": ["0"], "cat": "single"},
    {"q": "how often does the billing worker retry payments", "scope": "shop", "gold": ["4", "3"], "cat": "multi"},
    {"q": "when are the elephants fed", "scope": "zoo", "gold": ["0"], "cat": "single"},
    {"q": "when does Ana feed the elephants", "scope": "zoo", "gold": ["0"], "cat": ADVERSARIAL},
    {"q": "who wrote the compiler", "scope": "zoo", "gold": []},
)


@pytest.fixture
def files(tmp_path):
    """Write a small data set in the plain form, in which two scopes use the same ids."""
    docs, queries = tmp_path / "set" / "docs.jsonl", tmp_path / "set" / "queries.jsonl"
    docs.parent.mkdir()
    lines = [
        {"id": str(n), "scope": scope, "session": session, "ts": f"2024-03-0{n + 1}T10:00:00" if n != 1 else None}
        | {"text": text}
        for scope, said in SAID.items()
        for n, (session, text) in enumerate(said)
    ]
    docs.write_text("".join(json.dumps(line) + "\n" for line in lines))
    queries.write_text("".join(json.dumps(line) + "\n" for line in ASKED))
    return str(docs), str(queries)


@pytest.fixture
def data(files):
    """Read the small data set."""
    return dataset.load(*files)


def ranking(found, gold, category="any"):
    """Rank documents named by letters."""
    return Ranking(Query("q", "s", frozenset(("s", g) for g in gold), category), tuple(("s", f) for f in found))


def test_a_data_set_is_read_in_the_order_it_was_said(data):
    """Times sort documents, and one without a time follows the one before it in the file."""
    assert [doc.text for doc in data.docs if doc.scope == "shop"] == [text for _, text in SAID["shop"]]
    assert [doc.at for doc in data.docs] == sorted(doc.at for doc in data.docs)
    first = next(doc for doc in data.docs if doc.key == ("shop", "0"))
    assert first.at == 1_709_287_200_000
    assert next(doc for doc in data.docs if doc.key == ("shop", "1")).at == first.at


def test_gold_is_told_apart_by_scope(data):
    """The same id in two scopes is two documents, and a question without gold is not ranked."""
    assert data.queries[0].gold == {("shop", "0")}
    assert data.queries[2].gold == {("zoo", "0")}
    assert len(data.answerable) == 4
    assert data.queries[4].category == "any"


def test_a_question_without_a_scope_is_asked_of_everything(files, tmp_path):
    """Its store holds all documents, and its gold is found by id wherever it is."""
    queries = tmp_path / "all.jsonl"
    queries.write_text(json.dumps({"q": "penguins", "gold": ["2"]}) + "\n")
    data = dataset.load(files[0], str(queries))
    assert {scope: len(docs) for scope, docs in data.scopes.items()} == {ALL: 8}
    assert data.queries[0].gold == {("shop", "2"), ("zoo", "2")}


def test_metrics_are_those_of_the_textbooks():
    """Recall, any, all, reciprocal rank and gain of a ranking worked out by hand."""
    one = ranking("xaybzc", "abc")
    assert scores.recall(one, 5) == pytest.approx(2 / 3)
    assert scores.reciprocal(one) == 0.5
    assert scores.gain(one, 10) == pytest.approx((1 / 1.585 + 1 / 2.3219 + 1 / 2.8074) / (1 + 1 / 1.585 + 1 / 2), 1e-3)
    found = {name: metric(one) for name, metric in scores.METRICS.items()}
    assert (found["any@5"], found["all@5"], found["R@10"]) == (1, 0, 1)
    assert scores.reciprocal(ranking("xy", "a")) == scores.gain(ranking("xy", "a"), 10) == 0


def test_adversarial_questions_are_reported_apart():
    """The overall figure leaves them out, the one of all questions does not."""
    judged = scores.judged([ranking("a", "a"), ranking("x", "a", ADVERSARIAL)])
    assert (judged["overall"]["R@5"], judged["all"]["R@5"], judged[ADVERSARIAL]["R@5"]) == (1, 0.5, 0)
    assert judged["all"]["n"] == 2


def test_sessions_stand_where_their_best_document_does():
    """A session is ranked by its first document and is gold when any of its documents is; one without stands alone."""
    sessions = {("s", "a"): "one", ("s", "b"): "two", ("s", "c"): "two", ("s", "d"): ""}
    (rolled,) = scores.rolled_up([ranking("bcad", "ca")], sessions)
    assert [name for _, name in rolled.found] == ["two", "one", "d"]
    assert rolled.query.gold == {("s", "two"), ("s", "one")}


def test_intervals_are_paired_and_the_same_every_time():
    """A difference that every question shares has no width; one that is chance holds zero."""
    assert intervals.paired([1.0] * 50, [0.5] * 50) == (0.5, 0.5, 0.5)
    mean, low, high = intervals.paired([n % 2 for n in range(100)], [(n // 2) % 2 for n in range(100)])
    assert low < 0 < high
    assert mean == 0
    assert (mean, low, high) == intervals.paired([n % 2 for n in range(100)], [(n // 2) % 2 for n in range(100)])


def test_auc_counts_ties_half():
    """What cannot be told apart gives a half, what is told apart always gives one."""
    assert intervals.auc([0.5, 0.5], [0.5, 0.5]) == 0.5
    assert intervals.auc([0.9, 0.8], [0.1, 0.2]) == 1
    assert intervals.auc([0.9, 0.1], [0.5]) == 0.5


def test_stores_hold_one_memory_a_document(data, tmp_path):
    """Each document is stored whole through the product's stages, with its session, its time and a vector."""
    made = shelves.build(data, str(tmp_path / "stores"))
    assert set(made.by_scope) == {"shop", "zoo"}
    shelf = made.by_scope["shop"]
    with shelf.writer() as store:
        rows = store.reader.rows(range(1, 10))
        assert [row.text for row in rows.values()] == [text for _, text in SAID["shop"]]
        assert [shelf.docs[row.uid].id for row in rows.values()] == ["0", "1", "2", "3", "4"]
        origins = [row.origin for row in rows.values()]
        assert len(set(origins)) == 2
        assert {edge.kind for edge in store.reader.edges([1, 2])} >= {"temporal"}
        # What a neighbour says is context: the third document does not name the shop.
        assert 3 in {memory for memory, _ in store.reader.lexical('"shop"', rankers.Filters(), 10)}


def test_rankers_find_what_is_there(data, tmp_path):
    """The product, full-text search and vectors alone each bring up the answer to a plain question."""
    made = shelves.build(data, str(tmp_path / "stores"))
    contestants = (
        rankers.in_stores(made, rankers.ranked),
        rankers.in_stores(made, rankers.shown),
        baselines.bm25(data.scopes),
        baselines.dense(data.scopes),
    )
    for ranker in contestants:
        assert next(iter(ranker(data.queries[0]))) == ("shop", "0")
    nothing = Query("zzz", "shop", frozenset(), "any")
    assert list(baselines.bm25(data.scopes)(nothing)) == []


def test_every_ablation_ranks(data, tmp_path):
    """Recall without any one of its signals still brings up the answer to a plain question, and first."""
    made = shelves.build(data, str(tmp_path / "stores"))
    for name, recall in rankers.ablations().items():
        assert next(iter(rankers.in_stores(made, recall)(data.queries[0])), None) == ("shop", "0"), name


def test_forgetting_for_a_question_leaves_no_trace(data, tmp_path):
    """The answer is gone while the question is asked, and there again after it."""
    made = shelves.build(data, str(tmp_path / "stores"))
    shelf = made.by_scope["shop"]

    def found(reader):
        return [hit.row.text for hit in rankers.ranked(reader, rankers.StaticTable(), data.queries[0].text)]

    with shelf.writer() as store:
        before = found(store.reader)
        with confidence.forgotten(store, [shelf.rows["shop", "0"]]) as reader:
            during = found(reader)
        assert found(store.reader) == before
    assert SAID["shop"][0][1] in before
    assert SAID["shop"][0][1] not in during


def test_a_question_without_its_answer_meets_the_store_that_forget_leaves(data, tmp_path):
    """Nothing of the answer is left in its neighbours' words or vectors."""
    shelf = shelves.build(data, str(tmp_path / "stores")).by_scope["shop"]
    uid = shelf.rows["shop", "0"]

    def kept(reader):
        tables = ("vector", "code", "fts")
        return [list(reader.db.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3")) for table in tables]

    with shelf.writer() as store:
        before = kept(store.reader)
        with confidence.forgotten(store, [uid]) as reader:
            during = kept(reader)
    forget(Chosen(str(tmp_path / "stores"), "scope-0", "active"), [uid])
    assert before != during == kept(shelf.reader())


def test_separation_names_every_way_to_have_no_answer(data, tmp_path):
    """Elsewhere, gold removed, adversarial and labelled each get an AUC between 0 and 1."""
    found = confidence.separation(shelves.build(data, str(tmp_path / "stores")), data.queries)
    assert {name: said["n"] for name, said in found.items()} == {
        "elsewhere": 3,
        "gold removed": 3,
        ADVERSARIAL: 1,
        "labelled": 1,
    }
    assert all(0 <= said["auc"] <= 1 for said in found.values())
    assert found["elsewhere"]["auc"] > 0.5


def test_one_store_of_everything_has_the_same_questions(data, tmp_path):
    """Merged, every scope lies in one store and no other store is there to ask."""
    merged = data.merged()
    made = shelves.build(merged, str(tmp_path / "stores"))
    assert [len(shelf.docs) for shelf in made.by_scope.values()] == [8]
    assert "elsewhere" not in confidence.separation(made, merged.queries)
    assert next(iter(rankers.in_stores(made, rankers.ranked)(merged.queries[2]))) == ("zoo", "0")


def test_a_document_that_is_no_memory_is_an_error(tmp_path):
    """A bench that silently lost documents would flatter."""
    docs = (Doc("s", "0", "", 0, ""), Doc("s", "1", "", 0, "Something."))
    data = dataset.Dataset(docs, (Query("q", "s", frozenset(), "any"),))
    made = shelves.build(data, str(tmp_path / "stores"))
    with made.by_scope["s"].writer() as store:
        assert isinstance(store, SqliteStore)
        assert store.reader.count() == 2


def test_the_command_prints_tables_and_writes_json(files, tmp_path):
    """One command measures every ranker, by category and overall, with time, memory and confidence."""
    out = tmp_path / "out.json"
    command = [sys.executable, "-m", "bench.retrieval", "--docs", files[0], "--queries", files[1], "--ablations"]
    command += ["--work", str(tmp_path / "work"), "--json", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    (figures,) = json.loads(out.read_text())["sets"]
    assert figures["name"] == "set"
    assert set(figures["rankings"]) >= {trials.DEFAULT, "as shown", "BM25", "dense", *rankers.ablations()}
    assert set(figures["rankings"]["BM25"]["quality"]) == {"overall", "all", "single", "multi", ADVERSARIAL}
    assert figures["alone"]["peak_mib"] > 5
    assert figures["alone"]["ms"] > 0
    assert "| BM25" in done.stdout
    assert "| gold removed" in done.stdout


@pytest.mark.usefixtures("files")
def test_a_folder_of_data_sets_is_measured_whole(tmp_path):
    """Each set is measured by scope and, where it has several, as one store."""
    out = tmp_path / "out.json"
    command = [sys.executable, "-m", "bench.retrieval", "--data", str(tmp_path), "--work", str(tmp_path / "work")]
    (tmp_path / "work").mkdir()
    subprocess.run([*command, "--json", str(out)], capture_output=True, check=True, cwd=ROOT)
    assert [one["name"] for one in json.loads(out.read_text())["sets"]] == ["set", "set, one store"]
