"""kill -9 at every failpoint, inside every kind of call and at random moments, of drains, remembers and forgets alike.

Nothing is lost, nothing is stored in part or twice, nothing is paid twice, nothing is parked, and the next drain
finishes what the killed one had begun.
"""

import json
import os
import random
import signal
import time
from collections import Counter
from dataclasses import dataclass
from queue import SimpleQueue

import pytest

from tests.support.box import PATIENCE
from tests.support.failpoints import TIDYING, points
from tests.support.kinds import KINDS, over
from tests.support.nursery import Nursery
from tests.support.providers import OK, ScriptedProvider

ONCE = {"extract": 1, "reconcile": 1, "embeddings": 1}
PAID = {"extract": "extract", "reconcile": "reconcile", "embed": "embeddings"}
STORES = ("default", "billing", "shop")
MEMORIES = "SELECT note, text, status FROM memory"


def exact(box, uids):
    """Return how many notes of one memory each are lost and doubled; assert that they are done and left nothing."""
    stored = Counter(box.store("SELECT note FROM memory"))
    assert stored.keys() <= set(uids)
    assert sorted(box.store("SELECT note FROM receipt")) == sorted(uids)
    assert box.states() == {"done": len(uids)}
    clean(box, ("default",))
    return sum(stored[uid] == 0 for uid in uids), sum(stored[uid] > 1 for uid in uids)


def clean(box, stores):
    """Assert that no journal is left and every file is sound."""
    assert box.queue("SELECT * FROM journal") == []
    assert box.queue("PRAGMA integrity_check") == ["ok"]
    assert [box.store("PRAGMA integrity_check", name=store) for store in stores] == [["ok"]] * len(stores)


class Assassin:
    """A provider's script that kills a drain as it asks for `task` the second time; with no task it answers."""

    def __init__(self):
        self.task, self.asked, self.victim = "", 0, SimpleQueue()

    def __call__(self, got):
        """Say what to do with a request."""
        if asked_for(got) == self.task:
            self.asked += 1
            if self.asked == 2:
                os.kill(self.victim.get(timeout=PATIENCE), signal.SIGKILL)
        return OK


def asked_for(got):
    """Name what a request is for, as PAID does."""
    return got.task or got.path.rpartition("/")[2]


def bought(provider, words):
    """Count by word what was asked about the note that has it."""
    paid = {word: Counter() for word in words}
    for got in provider.received:
        # A later note's question quotes earlier ones as memories: it is about the last it names.
        asked = str(got.body).partition("<memories>")[0]
        for word in words:
            paid[word][asked_for(got)] += word in asked
    return paid


def kills():
    """List (name, where a drain is killed, the paid stage whose call is then made again)."""
    for point in (*points(), *TIDYING):
        kind, _, stage = point.partition(":")
        yield point, PAID.get(stage, "") if kind == "unjournaled" else ""
    for call in PAID.values():
        yield f"inside:{call}", call


@pytest.mark.slow
@pytest.mark.promise("R1")
@pytest.mark.promise("R2")
@pytest.mark.promise("R8")
@pytest.mark.promise("R11")
@over(*KINDS)
def test_a_drain_killed_at_any_point_is_finished_by_the_next(box, kind, rounds, kept):
    """Killed at a point or in a call, the drain loses and doubles nothing and pays again only for that very call."""
    uids, dead, begun, resumed, again = [], 0, 0, 0, Counter()
    struck_at = [*kills()][:: rounds(9, 1) if kind else 1]
    with ScriptedProvider(script=(assassin := Assassin())) as provider, Nursery(box.environ) as nursery:
        box.use(provider, DRAIN_CONCURRENCY=1)
        uids.append(box.remember("Redis caches the invoices of the billing service."))
        box.drain()
        for _ in range(rounds(1, 20)):
            for point, repeated in struck_at:
                words = [f"Word{dead:04}{letter}" for letter in "abc"]
                uids += [box.remember(f"Redis caches the {word} sessions of the billing service.") for word in words]
                provider.received.clear()
                assert struck(nursery, assassin, point) == -signal.SIGKILL, point
                left = box.queue("SELECT count(*) FROM note WHERE state = 'running'")[0]
                waiting = box.states().get("pending", 0) + left
                report = box.drain()
                assert (report.stopped, report.rescued, report.done) == ("", left, waiting), point
                resumed += report.rescued
                begun += left
                paid = bought(provider, words)
                expected = dict.fromkeys(words, ONCE)
                if repeated:
                    expected[words[1]] = ONCE | {repeated: 2}
                assert paid == expected, point
                again += Counter(calls for found in paid.values() for calls in found.values())
                dead += 1
    lost, doubled = exact(box, uids)
    kind.agree()
    assert (lost, doubled) == (0, 0)
    assert box.store("SELECT DISTINCT dimension FROM embedder JOIN vector ON id = embedder ORDER BY 1") == [
        64,
        256,
        384,
    ]
    kept(
        f"{dead} kills at {len(struck_at)} points: of {len(uids)} notes {lost} lost, {doubled} doubled,"
        f" {resumed} of {begun} resumed by the next drain; {again[1]} calls paid once, {again[2]} killed inside twice"
    )


def struck(nursery, assassin, point):
    """Run a drain that is killed at `point`, over its second note where the point is one of a note; return its end."""
    kind, _, call = point.partition(":")
    if kind == "inside":
        assassin.task, assassin.asked = call, 0
        assassin.victim.put(nursery.start("scheduler", "drain"))
    else:
        nursery.start("scheduler", "drain", MEMMAN_FAILPOINT=point if point in TIDYING else f"{point}@2")
    [ended] = nursery.reap(1)
    assassin.task = ""
    return ended.code


@dataclass
class Written:
    """A note that somebody wants remembered: `word` is in its every line and nowhere else."""

    word: str
    store: str
    lines: int = 1
    uid: str = ""
    replaces: "Written | None" = None
    retired: str = ""

    @property
    def text(self):
        """What is to be remembered: worth it to the judge whatever the word, who else drops what a model finds."""
        return f"The queue {self.word} is polled by worker {self.word} only."


class Sweep:
    """Runs killed at random moments, what they were to do, and what has to be there in the end."""

    def __init__(self, box, nursery, folder):
        self.box, self.nursery, self.folder = box, nursery, folder
        self.chance = random.Random(5)
        self.written, self.kills, self.ran = [], Counter(), 0
        self.spans = {}
        for store in STORES:
            assert box.memman("store", "create", store).returncode == 0

    def fresh(self, store="", **more):
        """Think up a note."""
        word = "".join(self.chance.choices("bcdfghjklmnpqrstvwxz", k=10))
        note = Written(word, store or self.chance.choice(STORES), **more)
        self.written.append(note)
        return note

    def turn(self):
        """Keep what a turn of an agent left, as its hook does."""
        note = self.fresh(lines=3)
        said = f"{note.text}\nThe backups of {note.word} are kept for a year.\nOnly Alice may restart {note.word}."
        columns = {"channel": "turn", "agent": "codex", "session": f"s{note.word}"}
        note.uid = self.box.remember(said, store=note.store, **columns)

    def errands(self):
        """Yield (verb, note, arguments): two notes, one to replace and one to forget what was acknowledged, a drain."""
        for _ in range(2):
            note = self.fresh()
            yield "remember", note, ("--store", note.store, "remember", note.text)
        free = [note for note in self.written if note.uid and note.lines == 1 and not (note.retired or note.replaces)]
        for old, verb in zip(self.chance.sample(free, min(2, len(free))), ("replace", "forget"), strict=False):
            note = self.fresh(old.store, replaces=old) if verb == "replace" else old
            old.retired = "perhaps"
            yield verb, note, ("--store", old.store, verb, old.uid, *([note.text] if verb == "replace" else []))
        yield "drain", None, ("scheduler", "drain")

    def round(self, *, disturbed=True):
        """Run the errands of one round at once, each killed at a moment of its own; note what was acknowledged."""
        runs, began = {}, time.monotonic()
        for verb, note, args in self.errands():
            out = self.folder / f"out{self.ran}"
            self.ran += 1
            runs[self.nursery.start(*args, out=str(out))] = verb, note, out
        moments = {pid: self.chance.uniform(0, 2 * self.spans.get(runs[pid][0], 0)) for pid in runs}
        for pid, moment in sorted(moments.items(), key=lambda item: item[1]) if disturbed else ():
            time.sleep(max(0, began + moment - time.monotonic()))
            os.kill(pid, signal.SIGKILL)
        for ended in self.nursery.reap(len(runs)):
            verb, note, out = runs[ended.pid]
            assert ended.code in (0, -signal.SIGKILL), (verb, ended.code)
            self.kills[verb] += ended.code == -signal.SIGKILL
            if not disturbed:
                self.spans[verb] = ended.at - began
            self.heard(verb, note, out.read_text() if out.exists() else "", done=ended.code == 0)

    def heard(self, verb, note, said, *, done):
        """Believe what a run has printed, or how it ended."""
        if verb == "forget" and done:
            note.retired = "forgotten"
        elif verb in {"remember", "replace"} and said.endswith("\n"):
            note.uid = said.strip()
            if note.replaces:
                note.replaces.retired = "superseded"

    def spared(self):
        """Return the verbs of which no run was killed yet."""
        return {"drain", "remember", "replace", "forget"} - (+self.kills).keys()

    def judge(self):
        """Return how many notes are lost, partly stored or doubled, and how many retirements were not kept."""
        faults = Counter()
        rows = [(store, *row) for store in STORES for row in self.box.store(MEMORIES, name=store)]
        receipts = [uid for store in STORES for uid in self.box.store("SELECT note FROM receipt", name=store)]
        for note in self.written:
            found = [(uid, status) for store, uid, text, status in rows if note.word in text and store == note.store]
            uids = {uid for uid, _ in found}
            faults["lost"] += bool(note.uid) and (note.uid not in uids or receipts.count(note.uid) != 1)
            faults["in part"] += len(found) not in {0, note.lines}
            faults["doubled"] += len(uids) > 1 or len(found) > note.lines
            states = {status for _, status in found}
            faults["back"] += note.retired in {"forgotten", "superseded"} and states != {note.retired}
            faults["gone"] += bool(note.uid) and not note.retired and states != {"current"}
        assert len(rows) == sum(note.word in text for note in self.written for _, _, text, _ in rows)
        return faults


@pytest.mark.slow
@pytest.mark.promise("R1")
@pytest.mark.promise("R2")
@over(*KINDS)
def test_whatever_is_killed_at_random_moments_nothing_is_lost_or_doubled(box, kind, tmp_path, rounds, kept):
    """Drains, remembers, replacements and forgets die by kill -9: what was acknowledged is there, once and whole."""
    wanted = rounds(3 if kind else 8, 500)
    with ScriptedProvider(latency=0.005) as provider, Nursery(box.environ) as nursery:
        box.use(provider)
        sweep = Sweep(box, nursery, tmp_path)
        for _ in range(2):
            sweep.round(disturbed=False)
        while sweep.kills.total() < wanted or sweep.spared():
            sweep.turn()
            sweep.round()
        # Killed five times over before it got anywhere, a note looks like one that kills: a person sends it on.
        parked = box.drain().parked + box.states().get("parked", 0)
        assert box.memman("scheduler", "queue", "retry", "--all").returncode == 0
        while box.states().keys() - {"done"}:
            report = box.drain()
            assert (report.errors, report.parked) == ([], 0)
    faults = sweep.judge()
    assert not +faults, faults
    assert not sweep.spared()
    clean(box, STORES)
    kind.agree()
    dead = ", ".join(f"{count} of {verb}" for verb, count in sweep.kills.items())
    kept(
        f"{sweep.kills.total()} kills ({dead}): of {len(sweep.written)} notes {faults['lost']} lost,"
        f" {faults['in part']} partly stored, {faults['doubled']} doubled; {parked} sent on by hand"
    )


@pytest.mark.promise("R1")
@pytest.mark.promise("R2")
def test_killed_before_any_statement_nothing_acknowledged_is_lost(box, rounds, kept, tmp_path):
    """A remember that has printed an id has queued its note; of a drain's notes each is stored once by the next."""
    kills, step, out = 0, rounds(40, 1), tmp_path / "out"
    with Nursery(box.environ) as nursery:

        def struck(statement, *args):
            nursery.start(*args, out=str(out), KILL_STATEMENT=str(statement))
            [ended] = nursery.reap(1)
            nonlocal kills
            kills += ended.code == -signal.SIGKILL
            assert ended.code in (0, -signal.SIGKILL)
            return ended.code != 0

        acknowledged, statement = [], 1
        while struck(statement, "remember", f"Worker {statement} polls queue {statement}."):
            acknowledged += out.read_text().split()
            statement += 1
        acknowledged += out.read_text().split()
        assert set(acknowledged) <= set(box.queue("SELECT uid FROM note"))
        assert box.drain().errors == []
        statement = 1
        while True:
            uids = [box.remember(f"Redis caches the {kind} of {statement}.") for kind in ("invoices", "orders")]
            ended = not struck(statement, "scheduler", "drain")
            assert box.drain().errors == []
            assert [box.store(f"SELECT count(*) FROM memory WHERE note = '{uid}'") for uid in uids] == [[1], [1]]
            if ended:
                break
            statement += step
    clean(box, ("default",))
    assert box.states().keys() == {"done"}
    kept(f"killed before {kills} statements of remembers and drains: 0 lost, 0 doubled")


@pytest.mark.promise("R9")
@pytest.mark.parametrize("fault", ["kills", "raises"])
@over(*KINDS)
def test_a_note_that_brings_down_each_attempt_is_parked_alone(box, kind, rounds, kept, fault):
    """One note kills the process that touches it, or breaks a stage each time: it is parked, the others are stored."""
    number = rounds(12, 1000)
    armed = {"kills": "before:reconcile/poison", "raises": "before:reconcile!/poison"}[fault]
    uids = [box.remember(f"Worker {n} polls queue {n}." + " poison" * (n == 11)) for n in range(number)]
    poison = uids.pop(11)
    drains = 0
    with Nursery(box.environ) as nursery:
        while box.states().keys() & {"pending", "running"}:
            nursery.start("scheduler", "drain", MEMMAN_FAILPOINT=armed)
            nursery.reap(1)
            drains += 1
            assert drains <= 7  # the first dies with others in flight, who are not to blame
    assert box.states() == {"done": number - 1, "parked": 1}
    [(parked, attempts, error)] = box.queue("SELECT uid, attempts, error FROM note WHERE state = 'parked'")
    assert (parked, attempts) == (poison, 5)
    assert (
        error
        == {"kills": "the worker was killed at every attempt", "raises": f"RuntimeError: failpoint {armed[:16]}"}[fault]
    )
    assert sorted(box.store("SELECT note FROM memory")) == sorted(uids)
    kind.agree()
    doctor = json.loads(box.memman("doctor", "--json").stdout)["findings"]
    [said] = [finding for finding in doctor if finding["check"] == "queue" and finding["status"] == "warn"]
    assert said["says"].startswith("1 note parked after five failed attempts, last error: ")
    assert box.memman("status").stdout.split()[:3] == ["parked", "1", "note"]
    begun = box.memman("prime").stdout
    assert "1 of the notes were given up on" in begun
    kept(f"1 note of {number} {fault}: {box.states()['done']} done, 1 parked after {attempts} attempts; doctor says so")


@pytest.mark.slow
@pytest.mark.promise("R9")
def test_who_was_not_alone_when_a_drain_died_is_never_parked(box, rounds, kept):
    """However often drains are killed with others in flight, each note is tried again, and all are stored."""
    kills = rounds(12, 25)
    notes = [box.remember(f"Worker {n} polls queue {n}.") for n in range(3 * kills)]
    chance = random.Random(12)
    with Nursery(box.environ) as nursery:
        for _ in range(kills):
            at = chance.choice([point for point in points() if point.startswith(("before:", "after:"))])
            nursery.start("scheduler", "drain", MEMMAN_FAILPOINT=f"{at}@2")
            [ended] = nursery.reap(1)
            assert ended.code == -signal.SIGKILL
            assert "parked" not in box.states()
    assert box.queue("SELECT max(attempts) FROM note WHERE state <> 'done'") == [1]
    report = box.drain()
    assert (report.errors, report.parked, box.states()) == ([], 0, {"done": len(notes)})
    kept(f"{kills} kills: of {len(notes)} notes 0 parked, all stored")


def test_a_note_that_gets_further_has_its_attempts_anew(box):
    """Killed four times before its first answer and four times after it, a note is stored and not given up."""
    with ScriptedProvider() as provider, Nursery(box.environ) as nursery:
        box.use(provider)
        uid = box.remember("Redis caches the invoices of the billing service.")
        for point in ("before:extract",) * 4 + ("before:commit",) * 4:
            nursery.start("scheduler", "drain", MEMMAN_FAILPOINT=point)
            [ended] = nursery.reap(1)
            assert ended.code == -signal.SIGKILL
        report = box.drain()
        assert (report.done, report.parked) == (1, 0)
        assert provider.tasks["extract"] == 1
    assert box.store("SELECT note FROM memory") == [uid]
