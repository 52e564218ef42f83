"""The embedded embedder: words, look-ups, vectors, codes, and what importing it costs."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from math import isclose, sqrt
from pathlib import Path

import apsw
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memman.embed import base as codes
from memman.embed.base import planes
from memman.embed.static import MAX_SCALE, TABLE, TEXT_LIMIT, StaticTable, pieces, query_planes, sign_code, words
from memman.judge.embedder import BuiltinEmbedder
from memman.store.sqlite.nearness import cosines

# Cosines of this table; a change here means a new table, and so a new version.
PINNED = (
    ("how do we run the tests", "make test runs the whole suite", 0.4406),
    ("the database password is rotated weekly", "secrets rotation schedule", 0.5841),
    ("which port does the API listen on", "the server listens on port 8080", 0.5908),
    ("prefers tabs over spaces", "indentation style preference", 0.4361),
    ("why did the deploy fail", "the release was rolled back after a failed migration", 0.4436),
    ("getUserById", "get user by id", 1.0),
    ("kubernetes cluster", "k8s nodes", 0.3592),
    ("the cat sat on the mat", "quarterly revenue grew by ten percent", -0.0322),
    ("retry with exponential backoff", "back off exponentially before trying again", 0.7178),
    ("café owner", "cafe owner", 1.0),
    ("src/app/main.py", "main module of the app", 0.5368),
    ("memory leak in the worker", "the worker process runs out of RAM", 0.5737),
)

# (question, what answers it, what does not but could be in the same store)
TRIPLES = (
    ("how do I run the tests", "Unit tests are started with pytest", "The logo is blue on white"),
    (
        "which database do we use",
        "Postgres 16 is the primary data store",
        "The office has a new coffee machine",
    ),
    ("indentation preference", "The user prefers tabs over spaces", "Staging restarts at midnight"),
    (
        "why was redis removed",
        "We dropped the cache because Redis kept evicting keys",
        "Use dark mode in screenshots",
    ),
    ("who owns billing", "The payments team maintains invoices", "Tests need Python 3.12"),
    ("deployment command", "Ship to production with make release", "Anna likes long variable names"),
    (
        "login bug",
        "Authentication failed when the session cookie expired",
        "Charts are drawn with matplotlib",
    ),
    ("api rate limit", "Requests are throttled to 100 per minute", "The changelog is kept by hand"),
    (
        "where are logs stored",
        "Log files are written to /var/log/app",
        "Commit messages are in the imperative",
    ),
    ("error handling convention", "Raise typed exceptions, never return None", "The meeting is on Thursday"),
    (
        "slow query on orders",
        "Adding an index on the orders table fixed the latency",
        "Icons come from Figma",
    ),
    ("code review rules", "Every pull request needs two approvals", "The cluster runs in Frankfurt"),
    ("memory leak", "The worker process ran out of RAM after a day", "Write dates as ISO 8601"),
    ("formatter for python", "Source code is formatted with ruff", "The invoice number starts with R"),
    ("ssl certificate renewal", "TLS certs expire in March and are reissued by hand", "Buttons are rounded"),
    ("backup schedule", "A snapshot of the disk is taken every night", "The parser is recursive descent"),
    ("branch naming", "Feature branches start with the ticket number", "Metrics go to Prometheus"),
    ("frontend framework", "The web client is written in React", "The lease ends in winter"),
    ("environment variables", "Configuration is read from the .env file", "The team eats lunch at noon"),
    ("flaky test", "test_checkout fails at random because of a race", "The licence is MIT"),
    (
        "getUserById returns null",
        "The user lookup gives nothing for deleted accounts",
        "Docker images are slim",
    ),
    ("timezone handling", "Store timestamps in UTC", "Use British spelling in the docs"),
    ("message queue choice", "We picked RabbitMQ over Kafka for jobs", "The sidebar collapses on phones"),
    ("gpu out of memory", "Reduce the batch size when CUDA runs out of memory", "The wiki moved to Notion"),
)


@pytest.fixture(scope="module")
def table() -> Iterator[StaticTable]:
    """Open the packaged table."""
    opened = StaticTable()
    yield opened
    opened.close()


def cosine(table: StaticTable, first: str, second: str) -> float:
    """Compare two texts."""
    return sum(a * b for a, b in zip(table.vector(first), table.vector(second), strict=True))


def spelled(table: StaticTable, text: str) -> list[str]:
    """List the tokens a text is read as."""
    return [row for word in words(text) for row in pieces(word, lambda token: token if table.find(token) else None)]


@pytest.mark.parametrize(("first", "second", "expected"), PINNED)
def test_pinned_cosines(table: StaticTable, first: str, second: str, expected: float) -> None:
    """Fixed pairs keep the cosines they were released with."""
    assert cosine(table, first, second) == pytest.approx(expected, abs=1e-3)


def test_related_ranks_above_unrelated(table: StaticTable) -> None:
    """What answers a question is closer to it than something else from the same store."""
    wrong = [query for query, near, far in TRIPLES if cosine(table, query, near) <= cosine(table, query, far)]
    assert wrong == []


def test_answers_found_among_all(table: StaticTable) -> None:
    """Among all the sentences, as memories are embedded, the answer is in the first three."""
    everything = [text for _, near, far in TRIPLES for text in (near, far)]
    memories = BuiltinEmbedder().vectors(everything)
    for query, near, _ in TRIPLES:
        best = np.argsort(memories @ -np.array(table.vector(query)))[:3]
        assert near in [everything[n] for n in best]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("getUserById", ["get", "user", "by", "id"]),
        ("loadHTTPServer parseURL2", ["load", "http", "server", "par", "##se", "ur", "##l", "2"]),
        ("snake_case --dry-run", ["snake", "case", "dry", "run"]),
        ("src/app/main.py:12", ["sr", "##c", "app", "main", "p", "##y", "12"]),
        ("sha256 mp3 iPhone", ["sha", "256", "mp3", "iphone"]),
        ("UserService", ["user", "service", "users", "##er", "##vic", "##e"]),
        ("kubernetes", ["ku", "##ber", "##net", "##es"]),
        ("Café Zürich naïve", ["cafe", "zurich", "naive"]),
        ("日本語 text", ["日", "本", "語", "text"]),
        ("done\N{PARTY POPPER}now", ["done", "now"]),
        ("a\x00b\x07c\td\x7fe", ["a", "b", "c", "d", "e"]),
        ("don't", ["don", "t"]),
    ],
)
def test_tokens(table: StaticTable, text: str, expected: list[str]) -> None:
    """Text is split into words, identifiers into their parts, and words into WordPiece tokens."""
    assert spelled(table, text) == expected


@pytest.mark.parametrize("text", ["", " \n\t", "\N{PARTY POPPER}", "!?--", "\x00\x01", "\udcff", "x" * 101])
def test_nothing_known_is_zero(table: StaticTable, text: str) -> None:
    """A text without a known token has the zero vector, in both readers."""
    assert not any(table.vector(text))
    assert not asyncio.run(BuiltinEmbedder().embed([text])).vectors.any()


def test_unit_length(table: StaticTable) -> None:
    """A vector has the table's dimension and unit length."""
    vector = table.vector("the worker drains the queue")
    assert len(vector) == table.dimension == 384
    assert isclose(sqrt(sum(value * value for value in vector)), 1.0, abs_tol=1e-9)


@pytest.mark.parametrize(
    "text", ["x" * 65_536, "ab " * 21_845, "aB" * 32_768, "é" * 65_536, "가" * 65_536, "日" * 65_536]
)
def test_long_text_does_not_hang(text: str) -> None:
    """64 Ki characters of anything are embedded in proportion to their number."""
    table = StaticTable()
    started = time.process_time()
    table.vector(text)
    assert time.process_time() - started < 20.0  # in proportion to the square it would be many minutes
    table.close()


def test_only_the_limit_is_read(table: StaticTable) -> None:
    """What follows the first 32,768 characters does not change the vector."""
    text = "word " * 6_553 + "end"
    assert table.vector(text + " database") == table.vector(text)


def test_sums_stay_in_their_lanes(table: StaticTable) -> None:
    """As many tokens as a text can hold give the direction one of them gives."""
    assert 2 * TEXT_LIMIT * 15 * MAX_SCALE < 2**32
    assert table.vector("日" * TEXT_LIMIT) == pytest.approx(table.vector("日"))


def test_sign_code(table: StaticTable) -> None:
    """A code has one bit an element, most significant first, as numpy packs them."""
    vector = table.vector("sign codes are scanned by Hamming distance")
    assert sign_code([1.0, -1.0, 0.0, 0.5, -0.5, -2.0, -3.0, 4.0, 1.0]) == b"\x91\x80"
    assert sign_code(vector) == np.packbits(np.array(vector) > 0).tobytes()
    assert len(sign_code(vector)) == 48


def test_planes_of_a_query_against_planes_of_memories(table: StaticTable) -> None:
    """Counting bits gives the cosine of the rounded vectors, within a hundredth or two of the exact one."""
    texts = ["candidates are rescored by planes", "planes of bits rescore the candidates", "the weather in Paris"]
    vectors = [np.array(table.vector(text)) for text in texts]
    rows = [(n, *planes(vector)) for n, vector in enumerate(vectors)]
    query = query_planes(vectors[0].tolist())
    got = cosines(query, rows)
    assert len(rows[0][1]) == 192
    assert sign_code(vectors[0].tolist()) == codes.sign_code(rows[0][1])
    for n, vector in enumerate(vectors):
        levels = codes.unpacked(rows[n][1], 384)
        assert levels @ levels == rows[n][2]
        assert levels @ vector / np.linalg.norm(levels) > 0.985
        assert got[n] == pytest.approx(vectors[0] @ vector, abs=0.03)


@given(st.lists(st.integers(-7, 7), min_size=16, max_size=16), st.lists(st.integers(0, 15), min_size=16, max_size=16))
def test_a_dot_product_by_bits_is_exact(query: list[int], levels: list[int]) -> None:
    """Whatever the levels, the planes give what multiplying and adding gives."""
    bits = [int("".join(str((value & 15) >> plane & 1) for value in query), 2) for plane in range(4)]
    blob = b"".join(np.packbits(np.array(levels) >> plane & 1).tobytes() for plane in (3, 2, 1, 0))
    signed = 2 * np.array(levels) - 15
    wanted = {} if not any(query) else {1: signed @ query / (np.linalg.norm(query) * np.linalg.norm(signed))}
    assert cosines(bits, [(1, blob, int(signed @ signed))]) == pytest.approx(wanted)


def test_a_zero_vector_has_no_planes_and_no_cosine() -> None:
    """Nothing is near a text without a known word, and it is near nothing."""
    assert planes(np.zeros(384)) == (b"", 0)
    assert not codes.unpacked(b"", 384).any()
    assert cosines(query_planes([0.0] * 384), [(1, *planes(np.ones(384)))]) == {}
    assert cosines(query_planes([1.0] * 384), [(1, b"", 0)]) == {}


def test_a_vector_is_the_sum_of_its_tokens(table: StaticTable) -> None:
    """By lanes of an integer it comes out as by adding up the rows one by one."""
    for text in (*(text for triple in TRIPLES for text in triple), "getUserById", "日本語", "k8s \N{PARTY POPPER}"):
        total = np.zeros(table.dimension)
        for scale, blob in (row for word in words(text) for row in pieces(word, table.find)):
            packed = np.frombuffer(blob, np.uint8)
            total += scale * (2.0 * np.concatenate([packed & 15, packed >> 4]) - 15)
        assert table.vector(text) == pytest.approx(total / np.linalg.norm(total), abs=1e-12)


def test_names_match_their_lower_case(table: StaticTable) -> None:
    """A name of two humps stays close to the same name in lower case, an identifier to its words."""
    assert cosine(table, "GitHub", "github") > 0.7
    assert cosine(table, "PostgreSQL", "postgresql") > 0.8
    assert cosine(table, "UserService", "user service") > 0.7


def test_missing_table(tmp_path: Path) -> None:
    """A missing table is an error, and no file is made."""
    with pytest.raises(apsw.Error):
        StaticTable(str(tmp_path / "absent.db"))
    assert list(tmp_path.iterdir()) == []


def test_awkward_path(tmp_path: Path, table: StaticTable) -> None:
    """A path may hold the characters that mean something in a URI."""
    path = tmp_path / "100% odd?#name.db"
    path.write_bytes(Path(TABLE).read_bytes())
    copy = StaticTable(str(path))
    assert copy.vector("same words") == table.vector("same words")
    copy.close()


def test_read_only_folder_stays_clean(tmp_path: Path) -> None:
    """Reading leaves no journal, lock or shared memory beside the table."""
    path = tmp_path / "table.db"
    path.write_bytes(Path(TABLE).read_bytes())
    StaticTable(str(path)).vector("no traces")
    assert [entry.name for entry in tmp_path.iterdir()] == ["table.db"]


def test_imports_little_beside_apsw() -> None:
    """The hot path's reader loads what opens a database, and nothing else that a bare interpreter does not."""
    program = (
        "import sys, apsw; before = set(sys.modules)\n"
        "import memman.embed.static as s; s.StaticTable().vector('plain ASCII text')\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    ours = "memman memman.config memman.config.places memman.embed memman.embed.static memman.sqlite".split()
    assert out.split() == ["errno", *ours]


@pytest.mark.parametrize("text", ["강아지 산책", "배포는 매주 금요일에 진행합니다.", "ねこのなまえ", "カタカナ"])
def test_a_script_known_by_its_letters_alone_has_no_meaning(table: StaticTable, text: str) -> None:
    """Korean and kana have no vector, rather than one that is near to every other text in them."""
    assert not any(table.vector(text))
    assert table.vector(f"{text} Kubernetes") == table.vector("Kubernetes")
