"""Four hosts that drain into one store of a server, while they, the server and its pooler are killed.

They are one person's: four data folders, a plain role, one Postgres behind PgBouncer in transaction mode. Each drain is
a program of its own, killed with its process group at a random moment; the server falls over (and recovers) or is
restarted, and so is the pooler, amid the work. Then everything said is there once, and all hosts know the same.
"""

import json
import os
import random
import signal
import subprocess
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path

import pytest

from memman.pipeline.apart import COMPARED
from memman.store.sqlite import index, record_log
from memman.store.sqlite.store import SqliteStore
from tests.support.box import NOTE, PATIENCE, wait_until
from tests.support.machines import done
from tests.support.postgres import pooler, running

HOSTS = ("laptop", "desktop", "workstation", "tower")
# A drain that is over, one whose server is away, and one that was killed.
ENDS = {0: "done", 17: "away", -signal.SIGKILL: "killed"}
# Sentences that people wrote, each with others that take its place.
PAIRS = sorted((Path(__file__).parents[2] / "tools/train_judge/data").glob("*/pairs-*.jsonl"))
# Of each hundred notes of a host so many change what it said before, so many two hosts say, so many another host
# contradicts, and so many two hosts import.
CHANGES, TWICE, CROSSED, IMPORTED = 25, 4, 4, 4
DOUBLED = "SELECT text FROM memory WHERE status = 'current' GROUP BY text HAVING count(*) > 1"
# Rounds after which all hosts have to have heard and compared everything; a drain compares some of it.
ROUNDS = 60
# What doctor warns of as no agent is set up and no service manager is there.
UNUSUAL = {"scheduler", "agents"}
ORPHANS = "SELECT count(*) FROM link WHERE src NOT IN (SELECT id FROM memory) OR dst NOT IN (SELECT id FROM memory)"


def said(number, chance):
    """Return what each host says, in its order, and the texts that each gives another to import.

    A host speaks of matters of its own, and of some again once they have changed; of others another host speaks, too.
    """
    per = number // len(HOSTS)
    changed, twice, crossed, imported = (per * share // 100 for share in (CHANGES, TWICE, CROSSED, IMPORTED))
    matters = told_and_changed()
    chance.shuffle(matters)

    own = per - changed - 2 * (twice + crossed + imported)
    told, files = [], [[matters.pop()[0] for _ in range(imported)] for _ in HOSTS]
    for _ in HOSTS:
        told.append([])
        for n, (first, then) in enumerate(matters.pop() for _ in range(own)):
            at = put(told[-1], first, 0, chance)
            if n < changed:
                put(told[-1], then, at + 1, chance)
    for mine, theirs in zip(told, (*told[1:], told[0]), strict=True):
        for same in (True,) * twice + (False,) * crossed:
            first, then = matters.pop()
            put(mine, first, 0, chance)
            put(theirs, first if same else then, 0, chance)
    return told, files


def told_and_changed():
    """Return (what is said of a matter, what takes its place), for each matter that somebody wrote of."""
    found = {}
    for line in chain.from_iterable(path.read_text().splitlines() for path in PAIRS):
        one = json.loads(line)
        then = [new["new"] for new in one["news"] if new["label"] == "supersedes"]
        if one["lang"] == "en" and then:
            found.setdefault(one["topic"], (one["old"], then[0]))
    return list(found.values())


def put(texts, one, least, chance):
    """Put a text at a random place from `least` on, and return which."""
    at = chance.randrange(least, len(texts) + 1)
    texts.insert(at, one)
    return at


class Host:
    """One host: what it has said, and the drains that it runs, some of which are killed."""

    def __init__(self, box, said, chance):
        self.box, self.said, self.chance = box, said, chance
        self.rows, self.ends = {}, Counter()
        self.span = 0.0  # seconds that the last drain took which nobody killed

    def bring(self, path):
        """Import a file of somebody else's, whose memories have ids of their own."""
        done(self.box, "import", str(path), "--mine")
        self.note_rows()

    def tell(self, said):
        """Remember so much."""
        for text in said:
            self.box.remember(text, host=self.box.data.parent.name)
        self.note_rows()

    def note_rows(self):
        """Keep what is queued: of notes that are done the queue keeps no text."""
        columns = (*NOTE, "text", "channel", "reply", "shown", "scope", "visibility", "uid", "queued_at")
        for row in self.box.queue(f"SELECT {', '.join(columns)} FROM note WHERE text <> ''"):
            note = dict(zip(columns, row, strict=True))
            self.rows[note["uid"], note["cwd"]] = note

    def drain(self, within=None):
        """Run a drain, killed at a random moment of the seconds `within`; return how it ended."""
        began = time.monotonic()
        with (self.box.data.parent / "drained").open("ab") as out:
            process = subprocess.Popen(
                [self.box.script, "scheduler", "drain"], env=self.box.environ, cwd=self.box.data.parent,
                stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True,
            )  # fmt: skip
        try:
            process.wait(PATIENCE if within is None else self.chance.uniform(0, within))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
        code = process.wait()
        self.ends[ENDS[code]] += 1
        if ENDS[code] == "done":
            self.span = time.monotonic() - began
        return ENDS[code]

    def drained(self):
        """Drain; return whether nothing waits then."""
        self.drain()
        return not self.box.states().keys() & {"pending", "running"}

    def send_on(self):
        """Send on by hand what was killed five times over and so looks like what kills; return how much that was."""
        parked = self.box.states().get("parked", 0)
        if parked:
            done(self.box, "scheduler", "queue", "retry", "--all")
            wait_until(self.drained)
        return parked

    def live(self, parts):
        """Say all in so many parts, with a drain after each, and drain in peace in the end."""
        self.drain()
        for n in range(parts):
            self.tell(self.said[len(self.said) * n // parts : len(self.said) * (n + 1) // parts])
            self.drain(1.5 * self.span)
        wait_until(self.drained)


class Place:
    """The server, and the pooler before it, either of which may fall over."""

    def __init__(self, database, pool, chance):
        self.database, self.pool, self.chance = database, pool, chance
        self.falls = Counter()

    def taken(self):
        """Return the notes that the server has heard of."""
        return self.database.sql("SELECT DISTINCT memory FROM memman.record WHERE kind = 'noted'")

    def server_falls(self):
        """Stop the server as a crash does, or for maintenance, and start it."""
        how = self.chance.choice(("QUIT", "INT"))
        self.database.cluster.stop(how)
        self.database.cluster.start()
        self.falls["crashes" if how == "QUIT" else "restarts"] += 1

    def pooler_falls(self):
        """Kill or end the pooler, and start it."""
        self.pool.stop(self.chance.choice((signal.SIGKILL, signal.SIGTERM)))
        self.pool.start()
        self.falls["pooler"] += 1

    def fall(self, times, notes, lives):
        """Have each fall over so many times, in turn, as the notes taken reach the next mark."""
        for n in range(2 * times):
            mark = notes * (n + 1) // (2 * times + 2)
            wait_until(lambda mark=mark: len(self.taken()) >= mark or all(life.done() for life in lives))
            (self.pooler_falls if n % 2 else self.server_falls)()


def imports(folder, hosts, files):
    """Have each host import its own file and the one before."""
    began = datetime(2025, 2, 1, 9, tzinfo=UTC)
    for n, texts in enumerate(files):
        rows = [
            {"id": f"{n}-{k}", "memory": text, "created_at": (began + timedelta(minutes=k, days=n)).isoformat()}
            for k, text in enumerate(texts)
        ]
        (folder / f"{n}.json").write_text(json.dumps(rows))
    for n, host in enumerate(hosts):
        for one in (n, (n - 1) % len(hosts)):
            host.bring(folder / f"{one}.json")


def connect(box, dsn, *more):
    """Make a host's store a replica."""
    done(box, "team", "connect", "default", "--dsn", "-", *more, input=dsn)


def known(box):
    """Return the state of all that a host knows; who did it is one person."""
    store = SqliteStore(str(box.store_path()))
    found = {uid: index.state(store.db, uid) for uid in record_log.memories(store.db)}
    store.close()
    return {uid: state for uid, state in found.items() if state}


def at_rest(hosts):
    """Have each host drain once; return whether none had anything to write, to take in or to compare."""
    before = [heard(host.box) for host in hosts]
    assert {host.drain() for host in hosts} == {"done"}
    return before == [heard(host.box) for host in hosts] and not any(pending for _, pending in before)


def heard(box):
    """Return how many records a host has, and what has come to it that it has yet to compare."""
    (count,) = box.store("SELECT count(*) FROM record")
    return count, box.store("SELECT value FROM meta WHERE key = ?", COMPARED)


def sound(box):
    """Assert that a host's files are sound, no edge leads nowhere, and doctor finds nothing broken."""
    assert box.store("PRAGMA integrity_check") == box.queue("PRAGMA integrity_check") == ["ok"]
    assert box.store(ORPHANS) == [0]
    found = json.loads(done(box, "doctor", "--json"))["findings"]
    assert [one for one in found if one["status"] not in {"ok", "skipped"} and one["check"] not in UNUSUAL] == []


@pytest.mark.slow
@pytest.mark.promise("M2")
def test_four_hosts_killed_at_random_know_the_same(home, tmp_path, rounds, kept):
    """Nothing said is lost or there twice, and all hosts and a fresh one know the same."""
    number, falls, chance = rounds(120, 2000), rounds(1, 10), random.Random(7)
    told, files = said(number, chance)
    with running(given="") as cluster, cluster.memman() as database:
        database.role("alice", "memman_writer")
        with pooler(database, "alice") as pool, ThreadPoolExecutor(len(HOSTS)) as threads:
            place = Place(database, pool, chance)
            dsn = database.dsn("alice", port=pool.port)
            hosts = [Host(home(name), told[n], random.Random(n)) for n, name in enumerate(HOSTS)]
            for n, host in enumerate(hosts):
                connect(host.box, dsn, *["--create"][n:])
            imports(tmp_path, hosts, files)
            began = time.monotonic()
            lives = [threads.submit(host.live, rounds(4, 60)) for host in hosts]
            place.fall(falls, number, lives)
            for life in lives:
                life.result()
            took, sent_on = time.monotonic() - began, sum(map(Host.send_on, hosts))
            assert any(at_rest(hosts) for _ in range(ROUNDS))
            for host in hosts:
                assert host.box.states().keys() == {"done"}
                sound(host.box)
            connect(fresh := home("fresh"), dsn)
            taken = place.taken()
    notes = {note for host in hosts for note, _ in host.rows}
    assert sum(len(host.rows) for host in hosts) == number
    assert {*taken} == notes
    first, *others = [known(each) for each in (*(host.box for host in hosts), fresh)]
    for other in others:
        assert other == first
    assert {uid for uid, state in first.items() if "receipt" in state} == notes
    for host in hosts:
        assert host.box.store("SELECT note FROM receipt GROUP BY note HAVING count(*) > 1") == []
    states = Counter(fresh.store("SELECT status FROM memory"))
    assert {*fresh.store("SELECT outcome FROM receipt")} <= {"stored", "known"}
    assert states["superseded"] > number // 10
    ends = sum((host.ends for host in hosts), Counter())
    assert ends["killed"] >= rounds(4, 60)
    assert (place.falls["crashes"] + place.falls["restarts"], place.falls["pooler"]) == (falls, falls)
    kept(
        f"{number} notes ({len(notes)} different ones) of {len(HOSTS)} hosts: {ends['killed']} of {ends.total()} drains"
        f" killed, {place.falls['crashes']} crashes and {place.falls['restarts']} restarts of the server and {falls} of"
        f" PgBouncer in {took:.0f} s: 0 lost, 0 doubled, {states['superseded']} superseded, {len(HOSTS)} hosts and a"
        f" fresh one know the same; {sent_on} sent on by hand"
    )
