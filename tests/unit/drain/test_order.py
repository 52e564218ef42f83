"""Many notes in flight at once: calls overlap, commits keep their order, related notes wait, stores stay apart."""

import random
import re
import time

import pytest

from memman.queue.append import insert
from memman.queue.entry import entry
from tests.support.box import NOTE
from tests.support.hook_calls import hook
from tests.support.providers import Act, ScriptedProvider, respond

# No two of these share a stem.
WORDS = tuple(
    a + b + c
    for a in ("bri", "klo", "vun", "sta")
    for b in ("mat", "zor", "fip", "lud")
    for c in ("ax", "orn", "ish", "ump")
)
MEMORY = re.compile(r"m(\d+) \([^)]*\): (.*)")


class Overlap:
    """A script that remembers when each request came in, so that requests within one latency are known to overlap."""

    def __init__(self, latency):
        self.latency, self.at = latency, []

    def __call__(self, _):
        """Answer after the latency."""
        self.at.append(time.monotonic())
        return Act(delay=self.latency)

    def most(self):
        """Return the most requests in flight at any moment: each stays for the whole latency."""
        return max(sum(then <= at < then + self.latency for then in self.at) for at in self.at)


def test_calls_overlap_up_to_the_concurrency_and_no_further(box):
    """Of 32 unrelated notes at 0.2 s per call many are in flight at once, but never more than configured."""
    overlap = Overlap(0.2)
    with ScriptedProvider(script=overlap) as provider:
        box.use(provider, DRAIN_CONCURRENCY=16)
        for n in range(32):
            box.remember(f"{WORDS[2 * n]} {WORDS[2 * n + 1]}")
        assert box.drain().done == 32
    assert 8 <= overlap.most() <= 16


def test_one_note_at_a_time_is_one_call_at_a_time(box):
    """With a concurrency of one no two calls overlap."""
    overlap = Overlap(0.05)
    with ScriptedProvider(script=overlap) as provider:
        box.use(provider, DRAIN_CONCURRENCY=1)
        for n in range(5):
            box.remember(f"Worker{n} reads topic{n}.")
        assert box.drain().done == 5
    assert overlap.most() == 1


@pytest.mark.parametrize("seed", [1, 2])
def test_commits_keep_the_queue_order_within_a_store(box, seed):
    """However long each call takes, the memories of a store are stored in the order their notes were queued."""
    chance = random.Random(seed)
    with ScriptedProvider(script=lambda _: Act(delay=chance.uniform(0, 0.05))) as provider:
        box.use(provider)
        uids = {name: [] for name in ("one", "two")}
        for n in range(30):
            name = chance.choice(["one", "two"])
            uids[name].append(box.remember(f"Worker{n} reads topic{n}.", store=name))
        assert box.drain().done == 30
    for name, order in uids.items():
        assert box.store("SELECT note FROM memory ORDER BY id", name=name) == order


def supersedes(newer, older):
    """Make a responder that updates any memory holding `older` by a fact holding `newer`."""

    def answer(asked):
        if asked["task"] != "reconcile":
            return respond(asked)
        facts, _, memories = asked["user"].partition("<memories>")
        hit = [int(number) for number, text in MEMORY.findall(memories) if older in text]
        if newer not in facts or not hit:
            return {"verdicts": [], "causes": []}
        return {"verdicts": [{"fact": 0, "action": "UPDATE", "memory": hit[0], "reason": "moved"}], "causes": []}

    return answer


@pytest.mark.parametrize("slow", ["on Vercel", "Coolify"])
def test_a_change_queued_right_behind_what_it_changes_supersedes_it(box, slow):
    """Drained together, the second of two related notes is compared only once the first is stored."""
    delay = lambda got: Act(delay=0.3 if slow in str(got.body) else 0.0)  # noqa: E731
    with ScriptedProvider(script=delay, respond=supersedes("Coolify", "on Vercel")) as provider:
        box.use(provider, DRAIN_CONCURRENCY=16)
        box.remember("We deploy on Vercel.")
        box.remember("We moved from Vercel to Coolify.")
        assert box.drain().superseded == 1
    assert box.store("SELECT status FROM memory ORDER BY id") == ["superseded", "current"]


def test_a_change_overtaken_by_an_outage_still_wins(box):
    """Where the older note is drained after the newer one, the newer fact stays the current one."""
    down = True
    fault = lambda got: Act(500) if down and "on Vercel" in str(got.body) and got.task == "extract" else Act()  # noqa: E731
    newer_first = supersedes("on Vercel", "Coolify")
    with ScriptedProvider(script=fault, respond=newer_first) as provider:
        box.use(provider)
        box.remember("We deploy on Vercel.")
        box.remember("We moved from Vercel to Coolify.")
        assert box.drain().done == 1
        down = False
        assert box.drain().done == 1
    assert box.store("SELECT text, status FROM memory ORDER BY id") == [
        ("We moved from Vercel to Coolify.", "current"),
        ("We deploy on Vercel.", "superseded"),
    ]


@pytest.mark.parametrize("turn", [{}, {"prompt_id": "p1"}])
def test_a_turn_after_the_clock_was_turned_back_still_wins(box, turn):
    """Whether its host names its turns or not: only what is imported is older than its place in the queue says."""
    hour_ahead = time.time_ns() // 1_000_000 + 3_600_000
    insert(str(box.data), entry(NOTE | {"text": "The port of the importer is 8080."}) | {"queued_at": hour_ahead})
    box.drain()
    said, of = "the port of the importer is 8081 now, not 8080", {"session_id": "s", "cwd": "/"} | turn
    hook(box, "user-prompt", "claude-code", of | {"prompt": said})
    hook(box, "stop", "claude-code", of | {"last_assistant_message": "Understood."})
    box.drain()
    assert box.store("SELECT text FROM memory WHERE status = 'current'") == [said]


def test_a_note_parked_for_weeks_does_not_retire_what_was_said_since(box):
    """That a later note went through is known when the queue has forgotten all else of it."""
    with ScriptedProvider(respond=supersedes("on Vercel", "Coolify")) as provider:
        box.use(provider)
        box.remember("We deploy on Vercel.")
        box.queue("UPDATE note SET state = 'parked', attempts = 5")
        for text in ("We moved from Vercel to Coolify.", "Alice took over the mobile app."):
            box.remember(text)
        assert box.drain().done == 2
        box.queue("UPDATE note SET changed_at = 0 WHERE state = 'done'")
        box.drain()
        assert box.states() == {"parked": 1, "done": 1}
        box.queue("UPDATE note SET state = 'pending', attempts = 0 WHERE state = 'parked'")
        assert box.drain().done == 1
    assert dict(box.store("SELECT text, status FROM memory")) == {
        "We moved from Vercel to Coolify.": "current",
        "Alice took over the mobile app.": "current",
        "We deploy on Vercel.": "superseded",
    }


def test_a_replacement_queued_behind_the_note_it_replaces_takes_its_place(box):
    """A note that replaces one still waiting does so even where the two have no word in common."""
    delay = lambda got: Act(delay=0.2 if "Vercel" in str(got.body) else 0.0)  # noqa: E731
    with ScriptedProvider(script=delay) as provider:
        box.use(provider)
        first = box.remember("We deploy on Vercel.")
        box.remember("Production runs under Kubernetes.", replaces=first)
        assert box.recall("deploy on Vercel") == []
        assert box.drain().superseded == 1
    assert box.recall("deploy on Vercel") == ["Production runs under Kubernetes."]


def test_a_replacement_overtaken_by_an_outage_still_replaces(box):
    """Where the note to be replaced is drained after its replacement, it is stored as superseded."""
    down = True
    fault = lambda got: Act(500) if down and "Vercel" in str(got.body) and got.task == "extract" else Act()  # noqa: E731
    with ScriptedProvider(script=fault) as provider:
        box.use(provider)
        first = box.remember("We deploy on Vercel.")
        box.remember("Production runs under Kubernetes.", replaces=first)
        box.drain()
        assert "We deploy on Vercel." not in box.recall("deploy on Vercel")
        down = False
        box.drain()
        box.drain()
    assert box.states() == {"done": 2}
    assert dict(box.store("SELECT text, status FROM memory")) == {
        "We deploy on Vercel.": "superseded",
        "Production runs under Kubernetes.": "current",
    }


def test_stores_never_see_each_other(box):
    """Notes of two stores drained together share no memory, no candidate and no edge."""
    with ScriptedProvider() as provider:
        box.use(provider)
        for n in range(6):
            name = ("red", "blue")[n % 2]
            box.remember(f"Redis caches table {n} of the {name} service.", store=name)
        assert box.drain().done == 6
        for got in provider.received:
            if got.task == "reconcile":
                assert ("red service" in str(got.body)) != ("blue service" in str(got.body))
    for name in ("red", "blue"):
        texts = box.store("SELECT text FROM memory", name=name)
        assert len(texts) == 3
        assert all(f"the {name} service" in text for text in texts)
        assert box.recall("Redis caches table service", store=name, limit=50).sort() == texts.sort()
    assert not box.store_path().exists()
