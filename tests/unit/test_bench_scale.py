import asyncio
import json
from xml.etree import ElementTree as ET

import pytest

from bench import bulk, columns, corpus, easy, published, report, scale, sizes, stores
from bench.recent import Recent
from memman.embed.static import StaticTable
from memman.recall import search
from memman.store.filters import Filters
from memman.store.sqlite.reader import SqliteReader
from memman.store.sqlite.store import SqliteStore

ROWS = 300
TABLES = ("memory", "receipt", "entity", "mention", "vector", "code", "cell", "log", "meta", "embedder")


def filled(folder, fill):
    """Fill a store and return its file, and the number of the next note."""
    store = SqliteStore.open(str(folder), "default")
    first = fill(store)
    store.close()
    return store.path, first


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """Store the same notes note by note through every stage, and in bulk."""
    folder = tmp_path_factory.mktemp("both")
    slowly = filled(folder / "slow", lambda store: asyncio.run(stores.fill(store, 0, ROWS)))
    quickly = filled(folder / "quick", lambda store: bulk.fill(store, Recent(), 0, ROWS))
    return slowly, quickly


def counts(path, tables=TABLES):
    """Count the rows of each table."""
    reader = SqliteReader.open(path)
    try:
        return {name: reader.db.execute(f"SELECT count(*) FROM {name}").get for name in tables}
    finally:
        reader.close()


def test_bulk_fills_every_table_as_the_stages_do(both):
    """Memories, receipts, names, vectors, codes and log lines are as many, to the row."""
    slowly, quickly = (counts(path) for path, _ in both)
    assert quickly == slowly
    assert quickly["memory"] in {ROWS, ROWS + 1}


def test_bulk_makes_the_same_links(both):
    """Edges of every kind are there in the numbers that the stages make, semantic ones within a twentieth."""
    kinds = []
    for path, _ in both:
        reader = SqliteReader.open(path)
        kinds.append(dict(reader.db.execute("SELECT kind, count(*) FROM edge GROUP BY kind")))
        reader.close()
    slowly, quickly = kinds
    assert quickly.keys() == slowly.keys() >= {"temporal", "entity", "semantic"}
    for kind, count in slowly.items():
        assert quickly[kind] == pytest.approx(count, rel=0.05), kind


def test_bulk_is_recalled_as_the_stages_are(both):
    """Questions bring up the same memories in the same order."""
    table = StaticTable()
    found = []
    for path, _ in both:
        reader = SqliteReader.open(path)
        asked = [*corpus.selective(12), *corpus.common(4)]
        found.append([[hit.row.text for hit in search(reader, table, query, Filters(), 10)] for query in asked])
        reader.close()
    slowly, quickly = found
    assert sum(map(bool, slowly)) >= 12
    same = sum(one == other for one, other in zip(slowly, quickly, strict=True))
    assert same >= len(slowly) - 1


def test_bulk_goes_on_where_it_stopped(tmp_path):
    """A store that grows twice holds what one that grows once does."""
    recent = Recent()
    path, first = filled(tmp_path, lambda store: bulk.fill(store, recent, 0, 70))
    path, second = filled(tmp_path, lambda store: bulk.fill(store, recent, first, 150))
    reader = SqliteReader.open(path)
    texts = [row.text for row in reader.rows(range(1, 151)).values()]
    reader.close()
    expected = [sentence.text for note in corpus.notes(0, second) for sentence in note.sentences]
    assert texts == expected[: len(texts)]
    assert first < second
    assert len(texts) >= 150


def test_scale_builds_once_and_says_what_it_built(tmp_path):
    """Stores of each size are there with their bytes and rates, and are found the next time."""
    folder, said = f"{tmp_path}/stores", []
    made = sizes.build(folder, [30, 60], said.append, fresh=False)
    assert [info["memories"] for info in made.values()] == [pytest.approx(30, abs=2), pytest.approx(60, abs=2)]
    assert all(info["bytes"] > 50_000 and info["memories_per_second"] > 0 for info in made.values())
    assert sizes.build(folder, [60], said.append, fresh=False) == {"60": made["60"]}
    assert len(said) == 2
    assert counts(f"{folder}/30/data/default/memman.db", ("memory",))["memory"] == made["30"]["memories"]


def processes(known):
    """Make up timings as bench.scale records them."""
    ran = {"wall_ms": 20.0, "p95_ms": 25.0, "peak_mib": 15.0, "x_bare": 2.5, "cpu_ms": 18.0}
    names = [scale.key(size, query, kind) for size in known for query in scale.QUERIES for kind in ("", "plain")]
    return dict.fromkeys(["bare", *names], ran)


def test_scale_prints_a_line_for_each_store_and_question():
    """The table has time, ratio, memory and disk."""
    figures = {"sizes": {"1000": {"memories": 1000, "bytes": 2_000_000}}, "processes": processes(["1000"])}
    text = scale.table(figures)
    assert text.count("| 1,000 ") == 2
    assert "2.50" in text
    assert "2000" in text
    assert "bare python -c pass: 20.0 ms" in text


def test_the_easy_corpus_names_each_component_once():
    """A question names one component, and one fact alone speaks of it."""
    data = easy.dataset(400, 20)
    assert len(data.queries) == 20
    assert data == easy.dataset(400, 20)
    by_key = {doc.key: doc.text for doc in data.docs}
    assert len(set(easy.components(400))) == 400
    for query in data.queries:
        (gold,) = query.gold
        name = next(word for word in query.text.split() if word.count("-") == 2)
        assert [key for key, text in by_key.items() if name in text] == [gold]


def test_the_easy_corpus_is_found_and_always_in_one_order(tmp_path):
    """What a question names is shown first, and identical recalls agree."""
    figures = easy.measure(easy.dataset(300, 30), str(tmp_path))
    assert figures["orders"] == 1
    assert figures["hit@1"]["memman"] >= 95
    assert "hit@1 of 300 facts" in easy.table(figures)


FIGURES = {"machine": {"at": "2026-01-02T03:04:05Z", "processors": 2, "load_average": 0.5, "python": "3.11.7"}}


def ranking(name):
    """Make up a ranker's figures as bench.retrieval writes them."""
    means = dict.fromkeys(("R@5", "R@10", "MRR", "nDCG@10"), 0.5)
    gap = {"mean": -0.01, "low": -0.02, "high": 0.03}
    return {
        "quality": {"overall": means},
        "sessions": {"all": means},
        "difference": {"R@10": gap, "MRR": gap},
        "name": name,
    }


def printed():
    """Make up what recall prints as bench.retrieval writes it."""
    return {"R@5": 50.0, "R@10": 60.0, "precision": 0.3, "answerable lines": 3.0, "answerable tokens": 150.0}


@pytest.fixture(name="out")
def _out(tmp_path):
    """Write the JSON of made-up benches, and return its folder."""
    out = tmp_path / "out"
    out.mkdir()
    known = {size: {"memories": int(size), "bytes": 2_000_000} for size in ("1000", "10000")}
    (out / "scale.json").write_text(json.dumps(FIGURES | {"sizes": known, "processes": processes(known)}))
    found = {
        "name": "a set",
        "rankings": {name: ranking(name) for name in published.RANKERS},
        "shown": {"default": printed(), "--all": printed()},
        "confidence": {"elsewhere": {"auc": 0.91, "n": 7}},
    }
    sets = [found, found | {"name": "a set, one store"}]
    (out / "retrieval.json").write_text(json.dumps(FIGURES | {"sets": sets}))
    (out / "easy.json").write_text(json.dumps(FIGURES | {"facts": 10_000, "hit@1": {"memman": 99}, "orders": 1}))
    return out


@pytest.fixture(name="page")
def _page(tmp_path):
    """Return a page that has a place for the figures."""
    page = tmp_path / "benchmarks.md"
    page.write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n")
    return page


def test_the_page_is_refreshed_between_its_markers(out, page):
    """All that stands outside the markers stays; what was between them goes."""
    assert report.main(["--from", str(out), "--page", str(page)]) == 0
    text = page.read_text()
    assert text.startswith(f"before\n{report.BEGIN}\n")
    assert text.endswith(f"\n{report.END}\nafter\n")
    assert "old" not in text
    for said in ("2.50 x (20 ms)", "-1.0 [-2.0, +3.0]", "0.91", "memman 99 %", "2026-01-02", "load 0.5"):
        assert said in text


def texts(path):
    """Return what an SVG file says, in order."""
    return [one.text for one in ET.parse(path).iter("{http://www.w3.org/2000/svg}text")]  # noqa: S314 - our own file


def test_the_plot_of_time_has_a_place_for_each_size(out, page):
    """Sizes, the axis up to the slowest recall, both kinds of question and the bare interpreter are in the picture."""
    report.main(["--from", str(out), "--page", str(page)])
    said = texts(page.parent / "recall-time.svg")
    for label in ("1,000", "10,000", "0 ms", "20 ms", "selective question", "common question"):
        assert label in said
    assert "a bare python -c pass: 20.0 ms" in said


def shared():
    """Make up the figures of one shared store as bench.shared writes them."""
    spread = {"median_ms": 11.0, "p95_ms": 22.0, "least_ms": 10.0, "most_ms": 33.0, "n": 9}
    rate = {"median": 5.0, "p95": 6.0, "least": 4.0, "most": 6.0}
    drained = {"note": spread, "turn": spread, "notes_per_second": rate}
    ran = {"wall_ms": 20.0, "p95_ms": 25.0, "least_ms": 18.0}
    sides = ("alone", "shared", "member")
    plan = {"planning_ms": 0.1, "execution_ms": 0.2, "pages": 6_000, "given": 2_000, "read": 4_000, "n": 3}
    return {
        "drains": {"alone": drained, "shared": drained},
        "pulls": {"100": spread | {"changes": 104, "peak_mib": 60.0}},
        "fill": {"seconds": 3.0, "cpu": 2.0, "changes": 76_000, "peak_mib": 70.0},
        "upload": {"seconds": 6.0, "rows": 170_000},
        "recall": {"bare": ran, **{f"{side}-{query}": ran for side in sides for query in scale.QUERIES}},
        "bytes": {"alone": 18_000_000, "replica": 19_000_000, "server": 48_000_000},
        "load": [0.5, 1.5],
        "statements": [
            plan | {"statement": "fill: SELECT memory", "indexes": ["memory_0_pkey"], "scanned": []},
            plan | {"statement": "turn: UPDATE store", "indexes": [], "scanned": ["store"]},
        ],
    }


def test_the_page_of_shared_stores_has_its_figures_and_no_others(out, page):
    """A column for each store, the plans of the largest, and nothing of the other benches."""
    figures = FIGURES | {"stores": {"10000": shared(), "100000": shared()}}
    (out / "shared.json").write_text(json.dumps(figures))
    target = page.with_name("scale.md")
    target.write_text(page.read_text())
    report.main(["--from", str(out), "--page", str(target)])
    text = target.read_text()
    for said in ("100,000 memories", "11.0, 22.0, 10.0 ms", "104 changes", "4,000", "none: store", "load 0.5"):
        assert said in text
    assert "recall, whole process" not in text
    report.main(["--from", str(out), "--page", str(page)])
    assert "104 changes" not in page.read_text()
    assert columns.table(figures) in text


def test_a_page_without_markers_is_left_alone():
    """Figures are put nowhere that did not ask for them."""
    with pytest.raises(ValueError, match="missing"):
        report.refreshed("# a page", "figures")


def test_no_figures_are_no_table(tmp_path, page):
    """Without any JSON the page stays and the command says what makes it."""
    with pytest.raises(SystemExit, match="make bench"):
        report.main(["--from", str(tmp_path), "--page", str(page)])
    assert "old" in page.read_text()
