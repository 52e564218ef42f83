"""Too little memory, for SQLite or for the process: a refusal or a crash, never damage."""

import random
import shutil
from functools import partial

import pytest

from tests.support.forks import Crew
from tests.support.kinds import KINDS, over
from tests.support.outcomes import DRAIN, Tally, texts

NOTES = (
    "Redis caches the invoices of the billing service.",
    "Anna leads the search team.",
    "We deploy on Tuesdays because the auditors are in on Mondays.",
    "Backups of the invoices run at night.",
    "The search index is rebuilt every Sunday.",
)
NEW = "The payments service listens on port 9001."
HARMS = ("corrupt", "lost", "partly written")
# Bytes beyond what a process has before it opens a file, from where nothing works to where everything does: of
# SQLite's heap, and of the process.
DRAINS = {"heap": (20_000, 4_000_000), "memory": (50_000, 900_000_000)}
REMEMBERS = {"heap": (20_000, 300_000), "memory": (50_000, 3_000_000)}


def limits(number, kinds):
    """Return `number` limits, of each kind by turns."""
    chance, kinds = random.Random(number), list(kinds.items())
    return [{kind: chance.randrange(*bounds)} for kind, bounds in (kinds[n % 2] for n in range(number))]


def starved(box, kind, args, judge, tally, forks, limit):
    """Run a command line with too little memory in a copy of the data folder; judge what it left."""
    data = box.data.with_name("-".join(f"{kind}-{size}" for kind, size in limit.items()))
    shutil.copytree(box.data, data)
    with kind.parted(data):
        done = forks.run(args, data, **limit)
        tally.short += done.code != 0
        uids = judge(data, done)
        tally.look(data, uids)
        tally.finish(forks, data, uids)
    shutil.rmtree(data)


@pytest.mark.slow
@pytest.mark.promise("R6")
@over(*KINDS)
def test_a_drain_short_of_memory_damages_and_loses_nothing(box, kind, rounds, kept):
    """Whatever memory a drain has, both files are sound afterwards, and the next one stores every note once."""
    uids, tally = [box.remember(text) for text in NOTES], Tally()
    with Crew(rounds(1, 2)) as crew:
        crew.each(partial(starved, box, kind, DRAIN, lambda *_: uids, tally), limits(rounds(4, 60), DRAINS))
    assert 0 < tally.short < tally.points
    kept(f"{tally.points} heap limits on a drain, {tally.short} of them too low: {tally.told(*HARMS)}")


@pytest.mark.slow
@pytest.mark.promise("R6")
def test_a_remember_short_of_memory_is_acknowledged_and_there_or_refused(box, kind, rounds, kept):
    """A note whose uid was printed is there, any other is absent or whole, whatever memory there was."""
    before, tally = {box.remember(text): text for text in NOTES[:2]}, Tally()

    def judge(data, done):
        held = texts(data)
        new = {uid: text for uid, text in held.items() if uid not in before}
        assert held == before | new
        assert list(new.values()) in ([], [NEW])
        assert not done.out or [*new] == [done.out.strip()]
        return held

    with Crew(rounds(1, 2)) as crew:
        crew.each(partial(starved, box, kind, ("remember", NEW), judge, tally), limits(rounds(4, 60), REMEMBERS))
    assert 0 < tally.short < tally.points
    kept(f"{tally.points} heap limits on remember, {tally.short} of them too low: {tally.told(*HARMS)}")
