"""Four hosts that drain into one store of a server, while they, the server and its pooler are killed.

They are one person's: four data folders, a plain role, one Postgres behind PgBouncer in transaction mode. Each drain is
a program of its own, killed with its process group at a random moment; the server falls over (and recovers) or is
restarted, and so is the pooler, amid the work. Then everything said is there once, on all hosts alike, and is what a
store by itself holds that was told the same notes one by one.

All of it is personal: that what is private retires nothing that is shared, a store by itself does not know of.

The order is the server's own: an administrator's trigger on its table of receipts writes down each note as its
receipt is first stored. That is done within the turn, under the lock of the store, and is taken back with it.
"""

import json
import os
import random
import signal
import subprocess
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path

import pytest

from memman.queue.append import insert_all
from memman.queue.notes import Queue
from memman.sqlite import open_reader
from memman.store.tables import TABLES
from tests.support.box import NOTE, PATIENCE, wait_until
from tests.support.machines import done
from tests.support.postgres import pooler, running

HOSTS = ("laptop", "desktop", "workstation", "tower")
# A drain that is over, one whose server is away, one that waited too long for its turn, and one that was killed.
ENDS = {0: "done", 17: "away", 75: "busy", -signal.SIGKILL: "killed"}
# Sentences that people wrote, each with others that take its place.
PAIRS = sorted((Path(__file__).parents[2] / "tools/train_judge/data").glob("*/pairs-*.jsonl"))
# Of each hundred notes of a host so many change what it said before, so many two hosts say, so many another host
# contradicts, and so many two hosts import.
CHANGES, TWICE, CROSSED, IMPORTED = 25, 4, 4, 4
# Writes down each note, and where it was said, as its receipt is first stored.
TAKING = (
    "CREATE TABLE public.taken(place bigserial PRIMARY KEY, note text, cwd text)",
    """CREATE FUNCTION public.take() RETURNS trigger SECURITY DEFINER LANGUAGE plpgsql AS
    $$BEGIN INSERT INTO public.taken(note, cwd) VALUES (NEW.note, NEW.cwd); RETURN NULL; END$$""",
    "CREATE TRIGGER take AFTER INSERT ON memman.receipt FOR EACH ROW EXECUTE FUNCTION public.take()",
)
# What a serial run decides, too: all that is said of memories but when it was stored, and what each note came to.
VERDICTS = (
    """SELECT id, uid, note, text, category, importance, entities, keywords, summary, source, origin, valid_from,
    valid_to, status, superseded_by FROM memory ORDER BY id""",
    "SELECT note, outcome, facts, repository, host FROM receipt ORDER BY note",
    "SELECT key, value FROM meta WHERE key GLOB 'maybe:*' ORDER BY key",
    "SELECT memory, repository, path FROM scoped JOIN scope ON scope.id = scope ORDER BY memory",
    "SELECT memory, name FROM mention JOIN entity ON entity.id = entity ORDER BY memory, name",
    "SELECT memory, kind, session FROM evidence ORDER BY memory, kind, session",
    "SELECT verb, memory, note FROM log ORDER BY id",
)
STATES, OUTCOMES = "SELECT status FROM memory", "SELECT outcome FROM receipt"
DOUBLED = "SELECT text FROM memory WHERE status = 'current' GROUP BY text HAVING count(*) > 1"
# What each replica works out of the rows that it shares.
WORKED_OUT = (
    "SELECT * FROM code ORDER BY embedder, memory",
    "SELECT name, count FROM entity ORDER BY name",
    "SELECT repository, path FROM scope ORDER BY 1, 2",
    "SELECT rowid, bm25(fts) FROM fts WHERE fts MATCH 'the OR service' ORDER BY rowid",
)
# What doctor warns of as no agent is set up and no service manager is there.
UNUSUAL = {"scheduler", "agents"}
ORPHANS = """
SELECT count(*) FROM {0}link WHERE src NOT IN (SELECT id FROM {0}memory) OR dst NOT IN (SELECT id FROM {0}memory)
"""


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
        for statement in TAKING:
            database.sql(statement)

    def taken(self):
        """Return the notes and where each was said, in the order in which the server took them."""
        return self.database.sql("SELECT note, cwd FROM public.taken ORDER BY place")

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


def serial(box, rows):
    """Tell a store by itself the same notes, one by one.

    What several hosts say goes by when it was said, whatever comes first: here a later note is done already.
    """
    box.configure(DRAIN_CONCURRENCY=1)
    for number, part in enumerate(batches(rows)):
        later = part[-1] | {"uid": f"{number:032x}", "text": "This is the last."}
        insert_all(str(box.data), [*part, later])
        with closing(Queue(str(box.data))) as queue:
            queue.done(later["uid"])
        report = box.drain()
        assert (report.done, report.failed, report.parked) == (len(part), 0, 0)


def batches(rows):
    """Split notes where one says the same as the one before: while that waits it would be queued but once."""
    part = []
    for row in rows:
        if part and part[-1]["text"] == row["text"]:
            yield part
            part = []
        part.append(row)
    yield part


def connect(box, dsn, *more):
    """Make a host's store a replica."""
    done(box, "store", "connect", "default", "--dsn", "-", *more, input=dsn)


def shared(box):
    """Return the rows that a replica shares, by table."""
    with closing(open_reader(str(box.store_path()))) as db:
        return {name: list(table.beyond(db, None)) for name, table in TABLES.items()}


def sound(box):
    """Assert that a host's files are sound, no edge leads nowhere, and doctor finds nothing broken."""
    assert box.store("PRAGMA integrity_check") == box.queue("PRAGMA integrity_check") == ["ok"]
    assert box.store(ORPHANS.format("")) == [0]
    found = json.loads(done(box, "doctor", "--json"))["findings"]
    assert [one for one in found if one["status"] not in {"ok", "skipped"} and one["check"] not in UNUSUAL] == []


@pytest.mark.slow
@pytest.mark.promise("M2")
def test_four_hosts_killed_at_random_hold_what_one_would(box, home, tmp_path, rounds, kept):
    """Nothing said is lost or there twice, all hosts hold the same, and it is what a serial run decides."""
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
            for host in hosts:
                assert host.drain() == "done"
                assert host.box.states().keys() == {"done"}
                sound(host.box)
            connect(fresh := home("fresh"), dsn)
            order, orphans = place.taken(), database.sql(ORPHANS.format("memman."))
    rows = {key: row for host in hosts for key, row in host.rows.items()}
    assert sum(len(host.rows) for host in hosts) == number
    assert sorted(note for note, _ in order) == sorted({note for note, _ in rows})
    first, *others = [shared(each) for each in (*(host.box for host in hosts), fresh)]
    for other in others:
        assert other == first
    for host in hosts:
        assert [fresh.store(sql) for sql in WORKED_OUT] == [host.box.store(sql) for sql in WORKED_OUT]
    assert orphans == [0]
    assert fresh.store(DOUBLED) == []
    serial(box, [rows[key] for key in order])
    for sql in VERDICTS:
        assert fresh.store(sql) == box.store(sql)
    states, outcomes = (Counter(box.store(sql)) for sql in (STATES, OUTCOMES))
    assert outcomes.keys() == {"stored", "known"}
    assert states["superseded"] > number // 10
    ends = sum((host.ends for host in hosts), Counter())
    assert ends["killed"] >= rounds(4, 60)
    assert (place.falls["crashes"] + place.falls["restarts"], place.falls["pooler"]) == (falls, falls)
    kept(
        f"{number} notes ({len(order)} different ones) of {len(HOSTS)} hosts: {ends['killed']} of {ends.total()} drains"
        f" killed, {place.falls['crashes']} crashes and {place.falls['restarts']} restarts of the server and {falls} of"
        f" PgBouncer in {took:.0f} s: 0 lost, 0 doubled, {states['superseded']} superseded and {outcomes['known']}"
        f" known as in a serial run, {len(HOSTS)} replicas and a fresh one equal; {sent_on} sent on by hand"
    )
