"""Recall: the current fact first, the same order always, nothing written, nothing loaded that is not needed."""

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import apsw
import pytest

from tests.support.box import PATIENCE
from tests.support.providers import ScriptedProvider

PAIRS = (
    ("We deploy on Vercel.", "We moved from Vercel to Coolify.", "where do we deploy"),
    ("The API runs on Node 18.", "The API now runs on Node 22.", "which Node version does the API run on"),
    (
        "Alice is the on-call engineer.",
        "Alice is no longer the on-call engineer, Bob is.",
        "who is the on-call engineer",
    ),
    ("The cache TTL is 300 seconds.", "The cache TTL is now 60 seconds.", "what is the cache TTL"),
    ("We use npm to install packages.", "We use pnpm instead of npm to install packages.", "what installs packages"),
    (
        "The staging database is on port 5432.",
        "The staging database is on port 5433 now.",
        "staging database port",
    ),
    ("Tests run on Jenkins.", "We switched from Jenkins to GitHub Actions for tests.", "where do the tests run"),
    (
        "The default branch is master.",
        "The default branch was renamed from master to main.",
        "what is the default branch",
    ),
    (
        "Sessions are stored in Memcached.",
        "We replaced Memcached with Redis for sessions.",
        "where are sessions stored",
    ),
    ("The user prefers tabs for indentation.", "The user now prefers spaces for indentation.", "tabs or spaces"),
)
NOISE = (
    "The office cat sleeps on the router.",
    "Invoices are sent as PDF on the first of the month.",
    "Kafka keeps seven days of events.",
    "Nightly builds take forty minutes.",
    "Carol designs the onboarding screens in Figma.",
)

NAMES = tuple(
    f"{a}{b}{c}".capitalize()
    for a in ("bri", "klo", "vun", "sta", "pel", "gor", "nix", "tam")
    for b in ("ma", "zo", "fi", "lu", "ke", "ro", "da", "hu", "we", "ji")
    for c in ("x", "rn", "sk", "mp", "lt")
)


def now():
    """Return the Unix time in milliseconds, a little later than anything before."""
    time.sleep(0.003)
    moment = time.time_ns() // 1_000_000
    time.sleep(0.003)
    return moment


@pytest.mark.parametrize(("old", "new", "query"), PAIRS, ids=[query for *_, query in PAIRS])
def test_a_changed_fact_is_recalled_in_its_current_form(box, old, new, query):
    """Default recall gives the new fact first and not the old one, which history and as-of still show."""
    for text in (*NOISE, old):
        box.remember(text)
    box.drain()
    between = now()
    box.remember(new)
    assert box.drain().superseded == 1
    shown = box.recall(query)
    assert new in shown[0] or shown[0] in new
    assert old not in shown
    past = box.recall(query, history=True)
    assert old in past
    assert past.index(shown[0]) < past.index(old)
    then = box.recall(query, as_of=between)
    assert then[0] == old
    assert shown[0] not in then
    assert len(box.store("SELECT id FROM memory")) == len(NOISE) + 2


def test_what_its_session_says_lifts_no_old_fact_above_the_new(box):
    """In history the old fact stands below what took its place, however well a neighbour of it answers."""
    session = {"agent": "tester", "session": "exports"}
    old = box.remember("The exporter writes CSV.", **session)
    box.remember("The billing exporter of the shop writes its files to the share every night.", **session)
    box.drain()
    box.remember("Parquet comes out of it now.", replaces=old, agent="tester", session="later")
    assert box.drain().superseded == 1
    shown = box.recall("where does the billing exporter of the shop write its files every night", history=True)
    assert shown[1:] == ["Parquet comes out of it now.", "The exporter writes CSV."]


def test_as_of_answers_as_it_was_at_that_moment(box):
    """Before anything nothing is known, then the first fact, then only the one in force."""
    moments = [now()]
    for text in ("We deploy on Vercel.", "We moved from Vercel to Coolify.", "We moved from Coolify to Fly.io."):
        box.remember(text)
        box.drain()
        moments.append(now())
    assert [box.recall("where do we deploy", as_of=moment)[:2] for moment in moments] == [
        [],
        ["We deploy on Vercel."],
        ["We moved from Vercel to Coolify."],
        ["We moved from Coolify to Fly.io."],
    ]
    assert len(box.recall("deploy on Vercel, Coolify or Fly.io", history=True)) == 3


def test_as_of_a_moment_between_what_was_done_and_its_undo(box):
    """What was forgotten then is not shown, though it is back, and nothing is called what it only became."""
    box.remember("We deploy on Vercel.")
    box.drain()
    (uid,) = box.store("SELECT uid FROM memory")
    known = now()
    box.memman("forget", uid)
    forgotten = now()
    box.memman("forget", "--undo", uid)
    assert [box.recall("where do we deploy", as_of=at) for at in (known, forgotten, now())] == [
        ["We deploy on Vercel."],
        [],
        ["We deploy on Vercel."],
    ]
    box.remember("We deploy on Fly.io.", replaces=uid)
    box.drain()
    (hit,) = box.hits("where do we deploy", as_of=known)
    assert (hit.row.text, hit.row.status) == ("We deploy on Vercel.", "current")


def test_a_note_is_found_before_any_drain(box):
    """A note that waits is found at once and marked pending, in its own store only."""
    assert box.memman("remember", "We deploy on Vercel.").returncode == 0
    shown = box.memman("recall", "deploy Vercel")
    assert "pending: We deploy on Vercel." in shown.stdout
    assert box.memman("--store", "other", "recall", "deploy").stdout == ""
    assert box.recall("penguins") == []


def test_a_note_that_is_being_drained_or_parked_is_found_too(box):
    """A running note and a parked one are still shown as pending."""
    box.remember("We deploy on Vercel.")
    for state in ("running", "parked"):
        box.queue("UPDATE note SET state = ?", state)
        assert [hit.pending for hit in box.hits("deploy on Vercel")] == [True]


def test_a_replacement_hides_what_it_replaces_at_once(box):
    """From the moment it is queued a replacement is shown instead of the old memory, which history still shows."""
    box.remember("We deploy on Vercel.")
    box.drain()
    before = now()
    uid = box.store("SELECT uid FROM memory")[0]
    box.remember("Production runs under Coolify.", replaces=uid)
    assert box.recall("We deploy on Vercel") == []
    assert box.recall("production under Coolify") == ["Production runs under Coolify."]
    for _ in range(2):
        assert "We deploy on Vercel." in box.recall("We deploy on Vercel", history=True)
        assert box.recall("We deploy on Vercel", as_of=before) == ["We deploy on Vercel."]
        box.drain()
    assert box.recall("We deploy on Vercel") == ["Production runs under Coolify."]


def corpus(box, size=120):
    """Store a varied corpus in one drain."""
    chance = random.Random(3)
    things = "Redis Postgres Kafka Nginx Vault Grafana Terraform Celery Django React".split()
    verbs = "caches stores routes reports deploys renders indexes retries".split()
    objects = "sessions invoices metrics orders images tokens reports logs".split()
    for n in range(size):
        words = chance.choice(things), chance.choice(verbs), chance.choice(objects)
        box.remember(f"{words[0]} {words[1]} the {words[2]} of team {n % 7}.", session=f"s{n % 3}", agent="a")
    box.drain()


QUERIES = ("Redis sessions", "why does Kafka retry orders", "when did Django deploy", "what is Vault", "team 3 metrics")


@pytest.mark.slow
def test_the_order_never_changes(box):
    """The same store and question give the same hits with the same scores, in this process and in new ones."""
    corpus(box)
    for query in QUERIES:
        runs = {tuple((hit.id, hit.score) for hit in box.hits(query)) for _ in range(10)}
        assert len(runs) == 1
        printed = {tuple(ids(box.memman("recall", query, "--json"))) for _ in range(3)}
        assert len(printed) == 1


def ids(ended):
    """Return the uids of a JSON answer, in order."""
    assert ended.returncode == 0, ended.stderr
    return [hit["uid"] for hit in json.loads(ended.stdout)["hits"]]


@pytest.mark.slow
def test_without_the_vector_extension_the_hits_are_the_same(box, tmp_path):
    """Where sqlite-vec cannot be loaded, plain Python finds the same memories in the same order."""
    corpus(box)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    # The extension is looked for beside apsw: found through this link, apsw has no such neighbour.
    (elsewhere / "apsw").symlink_to(Path(apsw.__file__).parent)
    code = (
        "import sys; from memman.store.sqlite.reader import SqliteReader as R;"
        f"print(R.open({str(box.store_path())!r}).has_vectors)"
    )
    without = box.environ | {"PYTHONPATH": str(elsewhere)}
    seen = [
        subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stdout.strip()
        for env in (box.environ, without)
    ]
    assert seen == ["True", "False"]
    for query in QUERIES:
        plain = subprocess.run(
            [box.script, "recall", query, "--json"], env=without, capture_output=True, text=True, check=False
        )
        assert ids(plain) == ids(box.memman("recall", query, "--json"))
        assert ids(plain)


def test_recall_writes_nothing_to_the_store(box):
    """Recall leaves every byte and time of change of the store and the queue as they were."""
    corpus(box, 30)
    box.remember("Redis waits in the queue.")
    files = [path for path in box.data.rglob("*.db*") if not path.name.endswith("-shm")]
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}
    for query in QUERIES:
        assert box.memman("recall", query).returncode == 0
        assert box.hits(query, history=True) is not None
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files} == before


@pytest.mark.parametrize("files", [0o600, 0o400], ids=["files writable", "files read-only"])
@pytest.mark.parametrize("logs", ["kept", "full", "gone"])
def test_recall_works_in_a_folder_nobody_can_write_to(box, files, logs):
    """On a read-only folder recall finds what is stored, whether logs lie beside the databases or not."""
    box.remember("We deploy on Coolify.")
    if logs == "full":  # a drain killed after its commit leaves its memories in the log
        box.start_drain(MEMMAN_FAILPOINT="committed").communicate(timeout=PATIENCE)
        assert box.store_path().with_name("memman.db-wal").stat().st_size > 0
    else:
        box.drain()
    paths = [box.data, *box.data.rglob("*")]
    for path in paths:
        if logs == "gone" and path.name.endswith(("-wal", "-shm")):
            path.unlink()
        elif path.is_file():
            path.chmod(files)
    for path in paths:
        if path.is_dir():
            path.chmod(0o500)
    try:
        ended = subprocess.run(
            [*powerless(), box.script, "recall", "where do we deploy"],
            env=box.environ, capture_output=True, text=True, check=False,
        )  # fmt: skip
        refused = subprocess.run(
            [*powerless(), "touch", str(box.data / "new")], env=box.environ, capture_output=True, check=False
        )
    finally:
        for path in paths:
            if path.is_dir():
                path.chmod(0o700)
    assert refused.returncode == 1, "the folder must be read-only for this test to say anything"
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "We deploy on Coolify." in ended.stdout


def powerless():
    """Return a command prefix under which even root has to obey the modes of files."""
    if os.geteuid():
        return []
    drop = "-dac_override,-dac_read_search"
    return ["setpriv", f"--bounding-set={drop}", f"--inh-caps={drop}"]


@pytest.mark.slow
@pytest.mark.usefixtures("unjudged")
def test_filters_apply_before_the_cut(box):
    """Of 400 memories that match, 40 pass the filter: ten asked for are ten given, all of them passing."""
    for n, name in enumerate(NAMES):
        rare = n % 10 == 9
        box.remember(
            f"{name} keeps billing tables in Redis.",
            category="insight" if rare else "fact",
            source="web" if rare else "user",
        )
    box.drain()
    box.alter("UPDATE memory SET recorded_at = id WHERE category = 'insight'")
    box.alter("UPDATE memory SET recorded_at = -id WHERE category = 'fact'")
    passing = set(box.store("SELECT id FROM memory WHERE category = 'insight'"))
    assert len(passing) == 40
    for filters in ({"category": "insight"}, {"source": "web"}, {"since": 1}, {"since": 1, "until": 10**15}):
        hits = box.hits("billing tables in Redis", **filters)
        assert len(hits) == 10
        assert {hit.id for hit in hits} <= passing
        assert len(box.hits("billing tables in Redis", limit=50, every=True, **filters)) == 40


ELSEWHERE = ("penguin migration in Antarctica", "xyzzy", "¿?", "的", "🙂", '" OR 1', "NEAR(a b)", "*")


@pytest.mark.parametrize("query", ELSEWHERE)
def test_nothing_relevant_gives_nothing(box, query):
    """A question about something else, or no question at all, shows no hit and ends with 0."""
    for text in NOISE:
        box.remember(text)
    assert box.recall(query) == []
    box.drain()
    assert box.recall(query) == []
    ended = box.memman("recall", "--", query)
    assert (ended.returncode, ended.stdout) == (0, "")


def test_an_empty_store_and_no_store_give_nothing(box):
    """Before the first note recall shows nothing and makes no file."""
    ended = box.memman("recall", "anything")
    assert (ended.returncode, ended.stdout) == (0, "")
    assert not box.data.exists()


def test_relevance_beats_importance_age_and_use(box):
    """However important, new and used memories are, the same question gives them in the same order, as high."""
    for text in (
        "The billing service deploys with Helm.",
        "The search service has a dashboard.",
        "Invoices go out in March.",
    ):
        box.remember(text)
        box.drain()

    def found():
        return [
            (hit.id, hit.score, hit.confidence) for hit in box.hits("how does the billing service deploy", every=True)
        ]

    before = found()
    assert [hit[0] for hit in before] == [1, 2, 3]
    box.alter("UPDATE memory SET importance = id + 2, uses = 1000 * id * id")
    box.alter("UPDATE memory SET recorded_at = recorded_at - 3e10 / id, valid_from = valid_from - 3e10 / id")
    assert found() == before


def test_what_was_shown_is_counted_by_the_next_drain(box):
    """Each memory that recall printed gains a use at the next drain, and none before."""
    box.remember("We deploy on Coolify.")
    box.drain()
    for _ in range(3):
        assert box.memman("recall", "where do we deploy").stdout
    assert box.store("SELECT uses FROM memory") == [0]
    box.drain()
    box.remember("Something else.")
    box.drain()
    assert box.store("SELECT uses FROM memory WHERE text LIKE '%Coolify.'") == [3]
    assert box.memman("recall", "where do we deploy").stdout
    box.drain()
    assert box.store("SELECT uses FROM memory WHERE text LIKE '%Coolify.'") == [4]


def test_recall_asks_no_provider_anything(box):
    """With providers configured, remember and recall make no request."""
    with ScriptedProvider() as provider:
        box.use(provider)
        box.memman("remember", "We deploy on Coolify.")
        box.drain()
        calls = provider.calls.total()
        assert "Coolify" in box.memman("recall", "where do we deploy").stdout
        box.memman("remember", "We deploy on Fly.io.")
        assert provider.calls.total() == calls > 0


@pytest.mark.parametrize(
    ("known", "asked", "other"),
    [
        ("Таймаут платежей равен 30 секундам.", "таймаут платежей prod", "Какая завтра погода в Париже?"),
        ("결제 타임아웃은 Envoy 설정에서 30초로 정했다.", "결제 타임아웃은 얼마인가요 prod", "오늘 날씨 어때요"),
        ("Το χρονικό όριο πληρωμών είναι 30 δευτερόλεπτα.", "χρονικό όριο πληρωμών", "Τι καιρό κάνει στο Παρίσι;"),  # noqa: RUF001
    ],
)
def test_of_scripts_known_by_letter_words_decide(box, known, asked, other):
    """The table has only their letters, by which any two texts are alike: what shares words is found, else nothing."""
    box.remember(known)
    box.drain()
    assert box.recall(asked) == [known]
    assert box.recall(other) == []
