"""Four hosts that drain into one store of a server, while they, the server and its pooler are killed.

They are one person's: four data folders, a plain role, one Postgres behind PgBouncer in transaction mode. Each drain is
a program of its own, killed with its process group at a random moment; the server falls over (and recovers) or is
restarted, and so is the pooler, amid the work. Then everything said is there once, on all hosts alike, and is what a
store by itself holds that was told the same notes one by one.

The order for that is the server's own: an administrator's trigger on its table of receipts writes down each note as its
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
from itertools import product

import pytest

from conftest import PATIENCE, wait_until
from memman.queue.append import insert_all
from memman.queue.notes import Queue
from memman.sqlite import open_reader
from memman.store.tables import TABLES
from tests.conftest import NOTE
from tests.support.machines import done
from tests.support.postgres import pooler, running

HOSTS = ("laptop", "desktop", "workstation", "tower")
REPOSITORY = "example.org/harbor"
# A drain that is over, one whose server is away, one that waited too long for its turn, and one that was killed.
ENDS = {0: "done", 17: "away", 75: "busy", -signal.SIGKILL: "killed"}
SERVICES = """
heron kestrel plover curlew gannet puffin osprey falcon sparrow swallow martin wren robin thrush starling raven magpie
jackdaw pigeon pheasant partridge quail grouse egret bittern stork crane flamingo pelican cormorant albatross petrel
tern gull avocet sandpiper lapwing snipe woodcock cuckoo nightjar swift kingfisher hoopoe woodpecker lark pipit wagtail
dunnock nightingale redstart whinchat wheatear blackbird fieldfare warbler goldcrest treecreeper nuthatch oriole shrike
jay chough rook finch linnet siskin crossbill bunting eagle buzzard harrier goshawk merlin owl parrot toucan
maple birch cedar willow hazel juniper larch poplar rowan sycamore walnut chestnut cypress hawthorn spruce
salmon trout perch pike herring mackerel sturgeon haddock halibut turbot anchovy sardine barracuda marlin tuna
granite basalt marble sandstone limestone obsidian quartz topaz garnet opal amethyst beryl jasper onyx agate
""".split()
PEOPLE = (
    "Alice",
    "Bruno",
    "Carmen",
    "Dmitri",
    "Elena",
    "Farid",
    "Greta",
    "Hiroshi",
    "Ingrid",
    "Jonas",
    "Keiko",
    "Luca",
)
TOWNS = (
    "Oslo",
    "Lisbon",
    "Vienna",
    "Dublin",
    "Prague",
    "Helsinki",
    "Zurich",
    "Porto",
    "Ghent",
    "Turin",
    "Lyon",
    "Graz",
)
LANGUAGES = ("Python", "Rust", "Kotlin", "Go", "Elixir", "Scala", "Ruby", "Haskell", "TypeScript", "Java", "Clojure")
DATABASES = ("Postgres", "MySQL", "MongoDB", "Redis", "Cassandra", "SQLite", "Oracle", "DynamoDB", "Neo4j", "CouchDB")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
HOURS = tuple(f"{hour}:{minute}" for hour in range(1, 6) for minute in (10, 20, 30, 40))
PORTS = tuple(str(3000 + 37 * n) for n in range(120))
COUNTS = tuple(map(str, range(2, 30)))
# What is said of a service first, what once that has changed, and what there is to say.
MATTERS = (
    ("The {of} service listens on port {new}.", "The {of} service listens on port {new} now, not on {old}.", PORTS),
    ("{new} looks after the {of} service.", "{new} looks after the {of} service now instead of {old}.", PEOPLE),
    ("The {of} service is hosted in {new}.", "The {of} service moved from {old} to {new}.", TOWNS),
    ("The {of} service is written in {new}.", "The {of} service is now written in {new}, not in {old}.", LANGUAGES),
    ("Orders of {of} are stored in {new}.", "Orders of {of} are stored in {new} now, not in {old}.", DATABASES),
    ("The {of} service is released every {new}.", "{of} is released every {new} now, not every {old}.", DAYS),
    ("Backups of {of} start at {new}.", "Backups of {of} start at {new} now, not at {old}.", HOURS),
    (
        "Logs of the {of} service are kept for {new} days.",
        "Logs of {of} are kept for {new} days now, not {old}.",
        COUNTS,
    ),
    ("The {of} cluster has {new} nodes.", "The {of} cluster has {new} nodes now, not {old}.", COUNTS),
    ("Alerts of the {of} service go to {new}.", "Alerts of {of} go to {new} now instead of {old}.", PEOPLE),
    ("Calls of {of} end after {new} seconds.", "Calls of {of} end after {new} seconds now, not {old}.", COUNTS),
    ("{new} pays the invoices of {of}.", "{new} pays the invoices of {of} now instead of {old}.", PEOPLE),
)
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
    """Return (text, repository) of what each host says, in its order, and the texts that each gives another to import.

    A host speaks of matters of its own, and of some again once they have changed; of others another host speaks, too.
    """
    per = number // len(HOSTS)
    changed, twice, crossed, imported = (per * share // 100 for share in (CHANGES, TWICE, CROSSED, IMPORTED))
    matters = list(product(SERVICES, MATTERS))
    chance.shuffle(matters)

    def fresh():
        """Return what is said first of a matter, and what then."""
        service, (first, then, values) = matters.pop()
        old, new = chance.sample(values, 2)
        where = SERVICES.index(service) % 2 * REPOSITORY
        return (first.format(of=service, new=old), where), (then.format(of=service, new=new, old=old), where)

    own = per - changed - 2 * (twice + crossed + imported)
    told, files = [], [[fresh()[0][0] for _ in range(imported)] for _ in HOSTS]
    for _ in HOSTS:
        told.append([])
        for n, (first, then) in enumerate(fresh() for _ in range(own)):
            at = put(told[-1], first, 0, chance)
            if n < changed:
                put(told[-1], then, at + 1, chance)
    for mine, theirs in zip(told, (*told[1:], told[0]), strict=True):
        for same in (True,) * twice + (False,) * crossed:
            first, then = fresh()
            put(mine, first, 0, chance)
            put(theirs, first if same else then, 0, chance)
    return told, files


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

    def bring(self, path):
        """Import a file of somebody else's, whose memories have ids of their own."""
        done(self.box, "import", str(path), "--mine")
        self.note_rows()

    def tell(self, said):
        """Remember so much."""
        for text, repository in said:
            self.box.remember(text, repository=repository, host=self.box.data.parent.name)
        self.note_rows()

    def note_rows(self):
        """Keep what is queued: of notes that are done the queue keeps no text."""
        columns = (*NOTE, "text", "channel", "reply", "shown", "scope", "visibility", "uid", "queued_at")
        for row in self.box.queue(f"SELECT {', '.join(columns)} FROM note WHERE text <> ''"):
            note = dict(zip(columns, row, strict=True))
            self.rows[note["uid"], note["cwd"]] = note

    def drain(self, within=None):
        """Run a drain, killed at a random moment of the seconds `within`; return how it ended."""
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
        began = time.monotonic()
        self.drain()
        span = time.monotonic() - began
        for n in range(parts):
            self.tell(self.said[len(self.said) * n // parts : len(self.said) * (n + 1) // parts])
            self.drain(2 * span)
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


@pytest.mark.promise("M2")
def test_four_hosts_killed_at_random_hold_what_one_would(box, home, tmp_path, rounds, kept):
    """Nothing said is lost or there twice, all hosts hold the same, and it is what a serial run decides."""
    number, falls, chance = rounds(120, 2000), rounds(1, 10), random.Random(7)
    told, files = said(number, chance)
    with running(given="") as cluster, cluster.database() as database:
        database.upgrade()
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
