"""A full disk: refusals with exit code 74, everything acknowledged still readable, and all is well once it is freed.

The disk is a real one of 2 MB in a namespace of its own; where nobody may make that, that test is skipped.
"""

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.box import PATIENCE, Box
from tests.support.forks import Forks
from tests.support.kinds import KINDS, over
from tests.support.outcomes import DRAIN, Tally, committed, texts, waiting

SIZE = 3 * 2**20
MOUNT = ("sh", "-c", f'mount -t tmpfs -o size={SIZE} tmpfs "$0" && exec "$@"')
NAMESPACES = (("unshare", "--mount"), ("unshare", "--map-root-user", "--mount"))
OLD = "Anna leads the search team."
NEW = "There is room again."
HARMS = ("corrupt", "lost", "partly written")
TURN = {"session_id": "s1", "prompt": "no, the invoices are cached by Redis", "last_assistant_message": "Understood."}
EVENTS = ("session-start", "user-prompt", "stop", "pre-compact", "session-end")


@pytest.fixture
def disk(tmp_path):
    """Return the command that runs another on a disk of SIZE bytes, mounted at the path that it ends with."""
    place = tmp_path / "disk"
    place.mkdir()
    for namespace in NAMESPACES:
        command = (*namespace, *MOUNT, str(place))
        if subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0:
            return command
    pytest.skip("nobody may mount a file system here")


class Fill:
    """What fills the disk beside memman, seen from outside its namespace."""

    def __init__(self, forks, place):
        forks.run(("version",), place)  # by its end the disk is mounted
        self.inside = Path(f"/proc/{forks.process.pid}/root{place}")
        self.path = self.inside / "fill"

    def leave(self, room):
        """Fill the disk but for `room` bytes."""
        disk = os.statvfs(self.inside)
        self.path.write_bytes(bytes(max(0, disk.f_bavail * disk.f_frsize - room)))

    def copied(self, data, to):
        """Copy the data folder out, to be looked into: SQLite cannot open it through /proc."""
        shutil.rmtree(to, ignore_errors=True)
        shutil.copytree(self.inside / data.name, to)
        return to


def refused(done):
    """Assert that a run was refused for want of room, in one line."""
    assert (done.code, done.out, done.err.count("\n")) == (74, "", 1), done
    assert done.err.startswith("memman: "), done


def filled(forks, data, chance, acknowledged, pages=0):
    """Remember until that is refused; each uid printed before goes to `acknowledged` with its text."""
    for number in range(1000):
        text = (
            f"Service number {number} listens on port {number} {'of the machine room ' * chance.randrange(12)}".strip()
        )
        done = forks.run(("remember", text), data, pages=pages)
        if done.code:
            refused(done)
            return
        acknowledged[done.out.strip()] = text
    pytest.fail("the disk never filled up")


class Round:
    """One data folder on the small disk, from its first note to its last drain."""

    def __init__(self, forks, fill, data, copy, tally):
        self.forks, self.fill, self.data, self.copy, self.tally = forks, fill, data, copy, tally
        self.acknowledged = {}

    def fill_up(self, room, chance):
        """Leave some room on the disk, and remember until there is none."""
        self.fill.leave(room)
        filled(self.forks, self.data, chance, self.acknowledged)
        self.look()
        assert texts(self.copy) == self.acknowledged | dict.fromkeys(committed(self.copy), "")

    def go_on(self):
        """Recall, drain and answer an agent's events while the disk is full."""
        done = self.forks.run(("recall", "service", "number", "listens", "port"), self.data)
        assert done.code == 0, done
        assert ("Service number" in done.out) == (self.acknowledged.keys() > {*committed(self.copy)}), done
        done = self.forks.run(DRAIN, self.data)
        assert done.code in {0, 74}, done
        self.tally.short += done.code != 0
        self.look()
        for event in EVENTS:
            done = self.forks.run(("hook", event, "--host", "claude-code"), self.data, json.dumps(TURN))
            assert (done.code, done.err) == (0, ""), (event, done)

    def recover(self):
        """Free the disk: a note is taken, a drain ends all there is, and recall finds it."""
        self.fill.path.unlink()
        self.acknowledged[self.forks.run(("remember", NEW), self.data).out.strip()] = NEW
        done = self.forks.run(DRAIN, self.data)
        assert (done.code, done.err) == (0, ""), done
        self.look()
        assert waiting(self.copy) == []
        assert NEW in self.forks.run(("recall", "room", "again"), self.data).out
        self.tally.points += 1
        self.tally.acknowledged += len(self.acknowledged)

    def look(self):
        """Look at what is on the disk."""
        self.tally.look(self.fill.copied(self.data, self.copy), self.acknowledged)


@pytest.mark.slow
@pytest.mark.promise("R5")
def test_a_full_disk_costs_nothing_that_was_acknowledged(box, disk, rounds, kept):
    """Notes are refused with 74 and drains say so; what was acknowledged is recalled, and drained once there is room.

    Hooks stay silent all the while.
    """
    chance, tally = random.Random(3), Tally()
    with Forks(*disk) as forks:
        fill = Fill(forks, disk[-1])
        for number in range(rounds(2, 50)):
            this = Round(forks, fill, Path(disk[-1], f"round-{number}"), box.data, tally)
            if number % 2:
                this.acknowledged[forks.run(("remember", OLD), this.data).out.strip()] = OLD
                assert forks.run(DRAIN, this.data).code == 0
            this.fill_up(chance.randrange(90_000, 250_000), chance)
            this.go_on()
            this.recover()
            shutil.rmtree(fill.inside / this.data.name)
    assert tally.short
    found = tally.told(*HARMS)
    kept(f"{tally.points} rounds on a 2 MB disk, {tally.acknowledged} acknowledged, {tally.short} drains cut: {found}")


@pytest.mark.slow
@pytest.mark.promise("R5")
@over(*KINDS)
def test_a_database_that_may_grow_no_further_costs_nothing_that_was_acknowledged(box, kind, rounds, kept):
    """Whatever its `max_page_count`, a queue refuses with 74 and a team leaves notes waiting; both work without it."""
    chance, tally = random.Random(5), Tally()
    with Forks() as forks:
        for number in range(rounds(1 if kind else 2, 50)):
            data, acknowledged = box.data.with_name(f"round-{number}"), {}
            kind.join(Box(data, box.environ | {"MEMMAN_DATA_DIR": str(data)}))
            with kind.parted(data):
                filled(forks, data, chance, acknowledged, pages=chance.randrange(12, 15))
                assert texts(data) == acknowledged
                done = forks.run(DRAIN, data, pages=chance.randrange(12, 40))
                assert done.code in {0, 74}, done
                tally.short += done.code != 0
                tally.look(data, acknowledged)
                tally.finish(forks, data, acknowledged)
    assert tally.short
    kept(f"{tally.points} rounds of max_page_count, {tally.acknowledged} acknowledged: {tally.told(*HARMS)}")


def test_a_small_file_that_does_not_fit_stays_as_it_was(box):
    """Where a disk takes only part of a small file, the old one stays whole and no draft is left."""
    box.configure(LLM_MODEL_FAST="old")
    before = (box.data / "env").read_bytes()
    code = (
        "import resource; from memman.config.places import write_file;"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)); write_file('{box.data}/env', 'x' * 10_000)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.stderr.splitlines()[-1].startswith("memman.model.errors.CannotWrite: ")
    assert (box.data / "env").read_bytes() == before
    assert [path.name for path in box.data.iterdir()] == ["env"]


def test_recall_takes_a_queue_that_was_never_made_for_an_empty_one(box):
    """Where a full disk kept the first note from making the queue, recall complains of nothing."""
    box.data.mkdir(mode=0o700)
    (box.data / "queue.db").touch(mode=0o600)
    done = box.memman("recall", "invoices")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
