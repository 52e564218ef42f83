"""A store on a Postgres server beside one by itself: drains, pulls, the first fill, recall, sizes, query plans.

Two machines of two people share the stores, each by a plain role that row-level security binds.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from bench import corpus, drains, process, sizes
from bench.asked import statements, write
from bench.columns import table
from bench.machine import Machine, described
from bench.measures import ASKED, UNSEEN, Bench
from bench.scale import QUERIES
from memman.config.places import store_path
from memman.govern import migration
from memman.store.postgres import members, turn
from memman.store.replica import position
from memman.store.replica.store import ReplicaStore
from memman.store.sqlite.store import SqliteStore
from tests.support.postgres import Cluster, Database, running

if TYPE_CHECKING:
    from bench.process import Case

ROWS = (10_000, 100_000)
# Changes that a machine is to be behind by when it pulls, and how often each is measured.
BEHIND = {0: 20, 1: 20, 100: 20, 10_000: 3}
# What a server has that keeps what it was told; the tests' own needs none of it.
_KEEPING = {"fsync": "on", "full_page_writes": "on", "shared_buffers": "256MB"}
# About as many groups of rows as a note changes.
_CHANGES = 20
_STORE = "default"
_OWNER, _MEMBER = "alice", "bob"

# How long each note took, from the end of the one before, and each transaction on the store meanwhile.
_DRAIN = """
import json, time
from contextlib import contextmanager
from memman.drain.run import drain
from memman.store.replica.store import ReplicaStore
from memman.store.sqlite.store import SqliteStore
marks, turns = [], []
def timed(kind):
    plain = kind.transaction
    @contextmanager
    def transaction(store):
        began = time.perf_counter()
        with plain(store):
            yield
        turns.append((time.perf_counter(), time.perf_counter() - began))
    kind.transaction = transaction
timed(SqliteStore), timed(ReplicaStore)
began = time.perf_counter()
report = drain(started=lambda queue: lambda: marks.append(time.perf_counter()))
whole = time.perf_counter() - began
assert report.done == len(marks) and not report.errors, report
notes = [after - before for before, after in zip(marks, marks[1:])]
within = [seconds for at, seconds in turns if marks[0] < at <= marks[-1]]
print(json.dumps({"notes": notes, "turns": within, "whole": whole}))
"""
_PULL = """
import json, sys, time
from memman.store.replica.store import ReplicaStore
data, dsn = sys.argv[1:]
store = ReplicaStore.connected(data, "default", dsn)
if store.reader.count() == 0:
    store.connect("default", make=False)
began, worked = time.perf_counter(), time.process_time()
brought = store.pull()
seconds, cpu = time.perf_counter() - began, time.process_time() - worked
store.close()
peak = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps({"seconds": seconds, "cpu": cpu, "changes": brought, "peak_mib": peak / 1024}))
"""
Figures = dict[str, Any]


def main() -> int:
    """Run the bench from the command line."""
    asked = _arguments()
    bench = Bench(os.path.abspath(asked.work), quick=asked.quick)
    folder = f"{bench.work}/scale/{sizes.version()}"
    made = sizes.build(folder, sorted(asked.rows), bench.say, fresh=False)
    figures: Figures = {"machine": described(), "quick": asked.quick, "stores": {}}
    with running() as cluster:
        cluster.execute(*(f"ALTER SYSTEM SET {name} = '{value}'" for name, value in _KEEPING.items()))
        cluster.stop()
        cluster.start()
        for size in made:
            figures["stores"][size] = One(bench, cluster, f"{folder}/{size}", int(size)).measured()
    figures["machine"]["load_average_after"] = os.getloadavg()[0]
    text = json.dumps(figures, indent=2)
    if asked.json:
        with open(asked.json, "w", encoding="utf-8") as out:
            out.write(text + "\n")
    else:
        print(text)
    print(table(figures), file=sys.stdout if asked.json else sys.stderr)
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.shared", description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS, help="memories of each store")
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--work", default=os.path.join(tempfile.gettempdir(), "memman-bench"), help="as bench.speed's")
    parser.add_argument("--json", help="write the JSON here and only the table to standard output")
    return parser.parse_args()


class One:
    """The measurements of one size, on a database of its own; `source` has the store as it is by itself."""

    def __init__(self, bench: Bench, cluster: Cluster, source: str, size: int) -> None:
        self.bench, self.cluster, self.source, self.size = bench, cluster, source, size
        self.user: Machine = bench.machines[""]
        self.next = UNSEEN
        self.loads: list[float] = []

    def measured(self) -> Figures:
        """Measure all of it; the store is on the server before anything else is."""
        alone, owner, member = (self._data(name) for name in ("alone", _OWNER, _MEMBER))
        with self.cluster.database() as database, drains.provider(0.0, f"{self.bench.work}/shared.log") as url:
            self.database: Database = database
            database.upgrade()
            for role in (_OWNER, _MEMBER):
                database.role(role, "memman_writer")
            for data in (alone, owner):
                self._place(data)
                drains.configure(data, url)
                with open(f"{data}/env", "a", encoding="ascii") as env:
                    env.write("MEMMAN_DRAIN_CONCURRENCY=1\n")
            figures: Figures = {"upload": self._upload(owner), "fill": self._fill(member)}
            database.sql("ANALYZE")  # as the server does by itself, some time after a store was filled
            figures["statements"] = statements(database.dsn(_OWNER), owner, database.dsn(_MEMBER), self.next)
            self.next += 1_000
            figures["drains"] = self._drains({"alone": alone, "shared": owner})
            figures["pulls"] = self._pulls(owner, member)
            figures["recall"] = self._recall({"alone": alone, "shared": owner, "member": member})
            figures["bytes"] = self._bytes(alone, member)
            figures["server"] = database.sql("SHOW server_version")[0]
        return figures | {"load": [min(self.loads), max(self.loads)]}

    def _say(self, what: str) -> None:
        self.loads.append(os.getloadavg()[0])
        self.bench.say(f"{self.size:,} memories, load {self.loads[-1]:.1f}: {what}")

    def _data(self, name: str) -> str:
        return self.bench.data(f"shared-{self.size}-{name}")

    def _place(self, data: str) -> None:
        """Copy the store, for all who will share it to see."""
        target = store_path(data, _STORE)
        os.makedirs(os.path.dirname(target), mode=0o700)
        shutil.copyfile(store_path(self.source, _STORE), target)
        os.chmod(target, 0o600)
        with closing(SqliteStore.open(data, _STORE)) as store:
            store.db.execute("INSERT INTO authorship SELECT id, '', 'shared', '' FROM memory")

    def _upload(self, data: str) -> Figures:
        self._say("taking the store to the server")
        began = time.perf_counter()
        moved = migration.to_server(data, _STORE, self.database.dsn(_OWNER), lambda done, total: None)  # noqa: ARG005
        seconds = time.perf_counter() - began
        with self._opened(data, _OWNER) as store:
            members.add(store.server, store.number, self.database.called(_MEMBER), "write")
        return {"seconds": seconds, "rows": sum(moved.rows.values())}

    def _fill(self, data: str) -> Figures:
        self._say("filling a replica, right after the upload")
        return self._pull(data)

    def _pull(self, data: str) -> Figures:
        return self._run(_PULL, data, data, self.database.dsn(_MEMBER))

    def _run(self, code: str, data: str, *given: str) -> Figures:
        command = [self.user.python, "-c", code, *given]
        done = subprocess.run(
            command, env=self.user.env(data), cwd=self.user.project, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(done.stderr)
        found: Figures = json.loads(done.stdout)
        return found

    def _drains(self, folders: Mapping[str, str]) -> Figures:
        """Drain the same notes into each store, in turn, one note at a time."""
        rounds, notes = (2, 10) if self.bench.quick else (10, 25)
        ran: dict[str, list[Figures]] = {name: [] for name in folders}
        for n in range(rounds):
            self._say(f"drains, round {n + 1} of {rounds}")
            for name in (list(folders), list(folders)[::-1])[n % 2]:
                drains.queue(folders[name], self.next, notes, "shared" if name == "shared" else "")
                ran[name].append(self._run(_DRAIN, folders[name]))
            self.next += notes
        return {
            name: {
                "note": spread([took for one in some for took in one["notes"]]),
                "turn": spread([took for one in some for took in one["turns"]]),
                "round_medians_ms": [round(statistics.median(one["notes"]) * 1e3, 2) for one in some],
                "notes_per_second": spread_of([notes / one["whole"] for one in some]),
            }
            for name, some in ran.items()
        }

    def _pulls(self, owner: str, member: str) -> Figures:
        """Pull by as many machines as there are measurements: each is a copy of one that was behind."""
        figures = {}
        behind = f"{member}-behind"
        for changes in sorted(BEHIND, reverse=True):
            if changes != max(BEHIND):
                self._pull(member)
            self._change(owner, member, changes)
            times = min(BEHIND[changes], 3) if self.bench.quick else BEHIND[changes]
            self._say(f"pulls, about {changes:,} changes behind")
            pulled = []
            for _ in range(times):
                shutil.rmtree(behind, ignore_errors=True)
                shutil.copytree(member, behind)
                pulled.append(self._pull(behind))
            figures[str(changes)] = spread([one["seconds"] for one in pulled]) | {
                "changes": pulled[0]["changes"],
                "peak_mib": max(one["peak_mib"] for one in pulled),
            }
        shutil.rmtree(behind)
        return figures

    def _change(self, owner: str, member: str, changes: int) -> None:
        """Have the owner's machine store notes until the member's is at least so many groups of rows behind."""
        with self._opened(owner, _OWNER) as store:
            if changes == 1:
                with store.unit() as unit:
                    unit.set_meta("bench", str(self.next))
            while (left := changes - self._behind(member)) > 0:
                notes = 1 + left // _CHANGES
                write(store, self.next, notes)
                self.next += notes

    def _behind(self, member: str) -> int:
        with self._opened(member, _MEMBER) as store:
            with store.server.transaction() as db:
                turn.look(store.server, db, store.number, position.END)
                behind = turn.pending(db, store.number, position.position(store.db))
                db.execute("COMMIT")
            return behind

    def _opened(self, data: str, role: str) -> Any:
        return closing(ReplicaStore.connected(data, _STORE, self.database.dsn(role)))

    def _recall(self, folders: Mapping[str, str]) -> Figures:
        """Recall as whole processes, on the stores as the drains left them, in turn."""
        self._say("recall")
        cases: dict[str, Case] = {"bare": ([[self.user.python, "-c", "pass"]], self.user.env(folders["alone"]))}
        for query, asked in zip(QUERIES, (corpus.selective(ASKED), corpus.common(ASKED)), strict=True):
            for name, data in folders.items():
                commands = [[self.user.memman, "recall", question] for question in asked]
                cases[f"{name}-{query}"] = commands, self.user.env(data)
        timings = process.measure(cases, 12 if self.bench.quick else 48, self.user.project)
        return {name: timing.record() for name, timing in timings.items()}

    def _bytes(self, alone: str, member: str) -> Figures:
        """Weigh the store by itself, a replica, and what the server has of it, by table; indexes apart."""
        sizes_of = """
        SELECT regexp_replace(relname, '_\\d+$', ''), sum(pg_table_size(oid)), sum(pg_indexes_size(oid)) FROM pg_class
        WHERE relnamespace = 'memman'::regnamespace AND relkind = 'r' GROUP BY 1 ORDER BY 1
        """
        rows = self.database.sql(sizes_of)
        tables = {name: [int(heap), int(indexes)] for name, heap, indexes in rows}
        return {
            "alone": os.path.getsize(store_path(alone, _STORE)),
            "replica": os.path.getsize(store_path(member, _STORE)),
            "server": sum(map(sum, tables.values())),
            "tables": tables,
        }


def spread(seconds: Sequence[float]) -> dict[str, float]:
    """Return median, 95th percentile, least and most in milliseconds, and of how many."""
    return {f"{name}_ms": round(value * 1e3, 3) for name, value in spread_of(seconds).items()} | {"n": len(seconds)}


def spread_of(values: Sequence[float]) -> dict[str, float]:
    """Return median, 95th percentile, least and most."""
    ranked = sorted(values)
    late = ranked[min(int(0.95 * len(ranked)), len(ranked) - 1)]
    return {"median": statistics.median(ranked), "p95": late, "least": ranked[0], "most": ranked[-1]}


if __name__ == "__main__":
    sys.exit(main())
