"""Power cuts at random moments of real remembers and drains: nothing damaged, nothing acknowledged missing."""

import json
import random
import shutil
import subprocess
import sys
from collections import Counter
from functools import partial

import pytest

from tests.support.forks import Crew
from tests.support.kinds import KINDS, over
from tests.support.outcomes import DRAIN, Tally, waiting
from tests.support.powercut import Disk
from tests.support.tape import read

SEED = 11
SETTING = "MEMMAN_DRAIN_CONCURRENCY=4"


def workload():
    """Return command lines: notes short and long, four drains, one of them cut short, and a setting."""
    chance = random.Random(SEED)
    long = " as is written down at length" * 20
    notes = (
        ("remember", f"Service number {n} listens on port {8000 + n}{long[: chance.randrange(4) * 110]}.")
        for n in range(20)
    )
    commands = [next(notes), ("config", "set", *SETTING.removeprefix("MEMMAN_").split("="))]
    for size, drain in ((3, DRAIN), (6, (*DRAIN, "--limit", "4")), (5, DRAIN), (3, DRAIN)):
        commands += [*(next(notes) for _ in range(size)), drain]
    return [*commands, *notes]


def recorded(box):
    """Run the workload on tape and return its events."""
    root, tape = box.data.parent, box.data.parent.with_name("tape")
    command = (sys.executable, "-m", "tests.support.tape", str(root), str(tape))
    subprocess.run(command, input=json.dumps(workload()), text=True, env=box.environ, check=True)
    return list(read(tape))


class Ears:
    """What was acknowledged up to a moment: the uids of notes, and the settings."""

    def __init__(self):
        self.commands = workload()
        self.uids, self.settings = [], []

    def hear(self, kind, _, *rest):
        """Hear an event."""
        words = self.commands[rest[0]] if kind in {"said", "ended"} else ()
        if kind == "ended":
            assert rest[1] == 0, words
        if kind == "said" and words[0] == "remember":
            self.uids.append(rest[1].strip())
        if kind == "ended" and words[0] == "config":
            self.settings.append(SETTING)


def judge(tally, kind, uids, settings, whole, forks, folder):
    """Judge one image: both databases sound, every note and setting there, and a drain ends what is left."""
    data = folder / "memman"
    lost = set(settings) - set((data / "env").read_text().splitlines() if (data / "env").exists() else ())
    tally.harm += [("lost", folder.name, setting) for setting in lost]
    with kind.parted(data):
        tally.look(data, uids, whole)
        tally.finish(forks, data, {*uids, *waiting(data)}, whole)
    shutil.rmtree(folder)


@pytest.mark.slow
@pytest.mark.promise("R3")
@over(*KINDS)
def test_a_power_cut_damages_nothing_and_loses_nothing_acknowledged(box, kind, rounds, kept):
    """Whatever a cut leaves of unsynced writes, each printed uid is in queue or store, and a drain finishes it."""
    disk, ears = Disk(str(box.data.parent)), Ears()
    disk.lay()
    events = recorded(box)
    box.drain()
    whole = Counter(box.store("SELECT note FROM memory"))
    cuts, each = rounds(2 if kind else 5, 600), rounds(2, 5)
    wanted = sorted(random.Random(SEED).sample(range(len(events)), cuts))
    played, tally = 0, Tally()
    with Crew(rounds(1, 2)) as crew:
        for cut in wanted:
            for event in events[played:cut]:
                disk.play(event)
                ears.hear(*event)
            played = cut
            folders = [box.data.parent.with_name(f"image-{cut}-{n}") for n in range(each)]
            for folder in folders:
                folder.mkdir()
                disk.image(random.Random(folder.name), str(folder))
            crew.each(partial(judge, tally, kind, ears.uids, ears.settings, whole), folders)
    kept(f"{tally.points} images of {len(wanted)} power cuts: {tally.told('corrupt', 'lost')}")
