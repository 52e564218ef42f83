"""The clock jumps, amid a drain and between two verbs: nothing is lost, doubled, expired or left waiting for years."""

import json
import os
from itertools import product

import pytest

from memman.model.errors import ProviderUnavailable
from tests.support.clocks import DAY, Clock, library
from tests.support.kinds import KINDS, over
from tests.support.providers import OK, ScriptedProvider, status

pytestmark = pytest.mark.skipif(not library(), reason="libfaketime is not there for this machine")

YEAR = 365 * DAY
JUMPS = {"a year back": -YEAR, "ten years on": 10 * YEAR, "summer time ends": -3600, "summer time begins": 3600}
TOPICS = ("invoices", "sessions", "carts", "tokens", "avatars", "reports")
QUERY = "what does Redis cache"


class Wrong:
    """A box whose verbs live by a clock of their own."""

    def __init__(self, box, folder):
        self.box, self.clock = box, Clock(folder)
        box.environ.update(self.clock.environ, TZ="Europe/Berlin")

    def remember(self, text):
        """Remember by this clock; return the uid."""
        done = self.box.memman("remember", text)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def drain(self):
        """Drain by this clock; return the report."""
        done = self.box.memman("scheduler", "drain", "--json")
        assert done.returncode in (0, ProviderUnavailable.exit_code), done.stderr
        return json.loads(done.stdout)

    def recall(self, query=QUERY, *options):
        """Return the ids that recall shows by this clock, in order."""
        done = self.box.memman("recall", query, "--json", "--limit", "20", *options)
        assert (done.returncode, done.stderr) == (0, "")
        return [hit["uid"] for hit in json.loads(done.stdout)["hits"]]


@pytest.fixture
def wrong(box, kind, tmp_path):  # noqa: ARG001 - the store is of that kind
    """Give a box whose verbs live by a clock that the test sets."""
    return Wrong(box, tmp_path)


class Jumper:
    """A provider's script that sets a clock `by` seconds off amid a call, when `left` are to come."""

    def __init__(self, clock):
        self.clock, self.by, self.left = clock, 0, 0

    def __call__(self, _):
        """Answer properly."""
        self.left -= 1
        if self.left == 0:
            self.clock.jump(self.by)
        return OK


def whole(box, uids):
    """Assert that each note has one memory and one receipt, and nothing waits."""
    assert sorted(box.store("SELECT note FROM memory")) == sorted(uids)
    assert sorted(box.store("SELECT note FROM receipt")) == sorted(uids)
    assert "pending" not in (states := box.states())
    assert not {"running", "parked"} & states.keys()
    assert box.store("SELECT count(*) FROM memory WHERE status <> 'current'") == [0]


def cached(topic):
    """Write a note."""
    return f"Redis caches the {topic} of the billing service."


@pytest.mark.slow
@pytest.mark.promise("R12")
@over(*KINDS)
def test_a_jump_at_any_moment_of_a_drain_loses_and_doubles_nothing(wrong, kind, rounds, kept):
    """Whichever model call the clock jumps amid, there and back, each note is stored once and is recalled."""
    few = [(10 * YEAR, 5)] if kind else [*zip(JUMPS.values(), (2, 5, 5, 2), strict=True)]
    tried = rounds(few, [*product(JUMPS.values(), range(1, 10))] * 3)
    uids, lost, jumps = [], 0, 0
    with ScriptedProvider(script=(jumper := Jumper(wrong.clock))) as provider:
        wrong.box.use(provider, DRAIN_CONCURRENCY=2)
        for by, moment in tried:
            jumper.by, jumper.left = by, moment
            fresh = [wrong.box.remember(cached(f"{topic}{jumps}")) for topic in TOPICS[:3]]
            wrong.drain()
            fresh.append(wrong.box.remember(cached(f"logs{jumps}")))
            wrong.clock.jump(0)
            wrong.drain()
            uids += fresh
            jumps += 2
            stored = wrong.box.store("SELECT note FROM memory WHERE status = 'current'")
            lost += len(set(fresh) - set(stored))
    dated = wrong.box.store("SELECT recorded_at / ? - valid_from / ? FROM memory", YEAR * 1000, YEAR * 1000)
    assert {min(dated), max(dated)} == ({0, 10} if few == tried and kind else {-1, 10})
    whole(wrong.box, uids)
    stored = wrong.box.store("SELECT note FROM memory")
    doubled = len(stored) - len(set(stored))
    assert (lost, doubled) == (0, 0)
    kind.agree()
    kept(f"{jumps} jumps during drains of {len(uids)} notes: {lost} lost, {doubled} duplicated")


@pytest.mark.slow
@pytest.mark.promise("R12")
@over("sqlite", "folder")
def test_recall_finds_the_same_in_the_same_order_after_a_jump(wrong, kind, rounds, kept):
    """Whatever the clock says nothing goes away; nothing moves, but for as long as the newest memory is misdated."""
    for days, topics in ((-60, TOPICS[:3]), (0, TOPICS[3:])):
        wrong.clock.jump(days * DAY)
        for topic in topics:
            wrong.remember(cached(topic))
        wrong.drain()
    before = wrong.recall()
    assert len(before) == len(TOPICS)
    expired = moved = recalls = 0
    jumps = [*JUMPS.values()][: rounds(1 if kind else 2, 4)]
    for by in jumps:
        wrong.clock.jump(by)
        seen = [wrong.recall()]
        misdated = []
        for clock in (by, 0):
            wrong.clock.jump(clock)
            wrong.remember(f"Alice took over project {recalls}, by the clock {clock} off.")
            wrong.drain()
            (misdated if clock else seen).append(wrong.recall())
        recalls += len(seen) + len(misdated)
        expired += sum(len(set(before) - set(shown)) for shown in seen + misdated)
        moved += sum([uid for uid in shown if uid in before] != before for shown in seen)
    assert (expired, moved) == (0, 0)
    kind.agree()
    kept(f"{recalls} recalls around {len(jumps)} jumps: {expired} memories expired, {moved} in another order")


@pytest.mark.slow
@pytest.mark.promise("R12")
@pytest.mark.parametrize("by", JUMPS.values(), ids=JUMPS.keys())
def test_what_was_said_later_is_in_force_whichever_way_the_clock_went(wrong, by, kept):
    """Of two notes that contradict each other the one that came last wins, be it dated a year before the other."""
    wrong.remember("We deploy on Vercel.")
    wrong.drain()
    wrong.clock.jump(by)
    wrong.remember("We moved from Vercel to Coolify.")
    wrong.drain()
    wrong.clock.jump(0)
    wrong.remember("We moved from Coolify to Render.")
    wrong.drain()
    found = wrong.box.store("SELECT text, status FROM memory ORDER BY id")
    assert found == [
        ("We deploy on Vercel.", "superseded"),
        ("We moved from Vercel to Coolify.", "superseded"),
        ("We moved from Coolify to Render.", "current"),
    ]
    kept(f"{len(found)} notes of one matter, the clock off by {by / DAY:g} days: the last is in force")


@pytest.mark.promise("R12")
def test_a_note_deferred_under_a_clock_ahead_is_tried_once_it_is_right_again(wrong, kept):
    """A waiting time that ends in ten years is none."""
    unlucky = True
    fault = lambda got: status(500) if unlucky and "Unlucky" in str(got.body) else OK  # noqa: E731
    with ScriptedProvider(script=fault) as provider:
        wrong.box.use(provider)
        uids = [wrong.box.remember("Unlucky is the name of a worker.")]
        wrong.clock.jump(10 * YEAR)
        for topic in TOPICS[:4]:
            uids.append(wrong.box.remember(cached(topic)))
            wrong.drain()
        [ahead] = wrong.box.queue("SELECT retry_at - queued_at FROM note WHERE state = 'pending'")
        assert ahead > 9 * YEAR * 1000
        unlucky = False
        wrong.clock.jump(0)
        ticks = 0
        while wrong.box.states().get("pending"):
            wrong.drain()
            ticks += 1
            assert ticks <= 2
    whole(wrong.box, uids)
    kept(f"a note put off to {ahead // YEAR // 1000} years ahead: stored {ticks} ticks after the clock was right")


@pytest.mark.slow
def test_ten_years_ahead_nothing_that_counts_is_swept_away(wrong):
    """A drain by a clock ten years ahead leaves memories and today's account alone; sessions it may forget."""
    with ScriptedProvider() as provider:
        wrong.box.use(provider)
        uids = [wrong.box.remember(cached(topic)) for topic in TOPICS]
        wrong.drain()
        spent = wrong.box.queue("SELECT sum(calls) FROM ledger")
        wrong.clock.jump(10 * YEAR)
        wrong.drain()
        assert wrong.box.queue("SELECT sum(calls) FROM ledger") == spent
        wrong.clock.jump(0)
        uids.append(wrong.box.remember(cached("logs")))
        assert wrong.drain()["done"] == 1
    assert sorted(wrong.box.store("SELECT note FROM memory")) == sorted(uids)


def test_a_year_back_a_session_that_goes_on_is_kept(wrong):
    """What a session was shown stays known while its file is dated ahead of the clock."""
    sessions = wrong.box.data / "sessions"
    sessions.mkdir(parents=True, mode=0o700)
    (sessions / "codex-one").touch(mode=0o600)
    wrong.clock.jump(-YEAR)
    wrong.box.remember(cached("invoices"))
    wrong.drain()
    assert (sessions / "codex-one").exists()


@pytest.mark.promise("R12")
@pytest.mark.parametrize("by", [-YEAR, 10 * YEAR], ids=["a year back", "ten years on"])
def test_doctor_is_content_with_the_first_drain_after_a_jump(wrong, by, kept):
    """A drain that failed under a wrong clock, and its heartbeat, are no complaint once a later drain has ended."""
    wrong.clock.jump(by)
    wrong.box.configure(LLM_PROVIDER="nonsense")
    assert wrong.box.memman("scheduler", "drain").returncode != 0
    wrong.box.configure()
    wrong.drain()
    beat = wrong.box.data / "heartbeat"
    os.utime(beat, (beat.stat().st_mtime + by,) * 2)
    wrong.clock.jump(0)
    wrong.drain()
    findings = json.loads(wrong.box.memman("doctor", "--json").stdout)["findings"]
    complaints = [one for one in findings if one["check"] in {"drains", "queue"} and one["status"] != "ok"]
    assert complaints == []
    kept(f"doctor after a jump and one drain: {len(complaints)} complaints")
