"""Machines of one person: with a folder that both see or a server, and what a week away leaves on each."""

import shutil
from contextlib import closing
from pathlib import Path

from memman.config.scope import Here
from memman.hot.recall_session import RecallSession
from memman.store.filters import Filters
from memman.store.sqlite import index, record_log
from memman.store.sqlite.store import SqliteStore
from tests.support.box import Box
from tests.support.portable import REPOSITORIES, lines


def machine(box: Box, name: str) -> Box:
    """Return a machine with a data folder of its own."""
    return Box(box.data.parent / name, box.environ | {"MEMMAN_DATA_DIR": str(box.data.parent / name)})


def pair(box: Box) -> tuple[Box, Box, Path]:
    """Return two machines that are synced by one folder, and the folder."""
    one, other, folder = machine(box, "one"), machine(box, "other"), box.data.parent / "shared"
    folder.mkdir()
    done(one, "sync", "--folder", str(folder))
    key = (one.data / "sync" / "key").read_text()
    done(other, "sync", "--folder", str(folder), "--key", "-", input=key)
    return one, other, folder


def current(box: Box) -> list[str]:
    """Return what holds on a machine."""
    return sorted(box.store("SELECT text FROM memory WHERE status = 'current'"))


def done(box: Box, *args: str, **given: object) -> str:
    """Run memman on a machine, without a complaint."""
    ran = box.memman(*args, **given)
    assert ran.returncode == 0, ran.stderr + ran.stdout
    return ran.stdout


def to_server(box: Box, dsn: str) -> str:
    """Take the store of a machine to a server; return what was said of it."""
    return done(box, "migrate", "--to", "postgres", "--dsn", "-", input=dsn)


def connected(box: Box, dsn: str) -> Box:
    """Return a machine once it has the store that a server has."""
    done(box, "team", "connect", "default", "--dsn", "-", input=dsn)
    return box


def told(box: Box, text: str, **columns: str | int) -> str:
    """Have a note remembered and drained by a run of its own."""
    uid = box.remember(text, **columns)
    done(box, "scheduler", "drain")
    return uid


def export(box: Box) -> list[str]:
    """Return the lines of an export but what tells when it was made."""
    return done(box, "export").splitlines()[1:]


def states(box: Box) -> dict[str, dict]:
    """Return what a machine knows of each memory, rule, note and rejected text, as its log says."""
    with closing(SqliteStore(str(box.store_path()))) as store:
        db = store.db
        return {uid: index.state(db, uid) for uid in record_log.memories(db)}


def differing(one: Box, other: Box) -> list:
    """Return the first of what one machine knows otherwise than the other."""
    mine, theirs = states(one), states(other)
    return [(uid, mine.get(uid), theirs.get(uid)) for uid in mine | theirs if mine.get(uid) != theirs.get(uid)][:4]


def answers(box: Box, questions: int) -> list[list[tuple]]:
    """Ask questions about two repositories; return all that can be seen of each hit."""
    recalls, found = RecallSession(str(box.data), "default"), []
    for name in REPOSITORIES:
        for one in lines(f"{name}-questions")[: questions // 2]:
            hits = recalls.hits(one["question"], Filters(here=Here(f"example.org/{name}"), every=True), 20)
            found.append([(*hit.row, hit.score, hit.confidence, hit.scope, hit.labels) for hit in hits])
    recalls.close()
    return found


def apart(box: Box) -> tuple[tuple[Box, Path], tuple[Box, Path]]:
    """Return two machines that are synced, each by a folder of its own that a program keeps like the other's."""
    made = []
    for name in ("one", "other"):
        each, folder = machine(box, name), box.data.parent / f"shared-{name}"
        folder.mkdir()
        given = ("--key", "-") if made else ()
        key = {"input": (made[0][0].data / "sync" / "key").read_text()} if made else {}
        done(each, "sync", "--folder", str(folder), *given, **key)
        made.append((each, folder))
    return made[0], made[1]


def host(box: Box) -> str:
    """Return the host id of a machine."""
    found: str = box.store("SELECT name FROM host WHERE id = 1")[0]
    return found


def carry(one: tuple[Box, Path], other: tuple[Box, Path]) -> None:
    """Do what that program does: bring to each folder what the other's machine has there."""
    for (whose, source), (_, target) in ((one, other), (other, one)):
        shutil.rmtree(target / host(whose), ignore_errors=True)
        if (source / host(whose)).exists():
            shutil.copytree(source / host(whose), target / host(whose))
