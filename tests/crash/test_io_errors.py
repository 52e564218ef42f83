"""Every single I/O error, once and from then on: what was acknowledged is there, what failed is absent or whole.

The long form strikes at every operation, the short one at a sample that has each kind of error.
"""

import random
import shutil
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count, product

import pytest

from memman.model import errors
from tests.support.forks import Forks
from tests.support.kinds import KINDS, over
from tests.support.outcomes import DRAIN, Tally, texts
from tests.support.vfs import ERRORS

CODES = {error.exit_code for error in vars(errors).values() if isinstance(error, type)}
FAULTS = tuple(product(ERRORS, (False, True)))
HARMS = ("lost", "partly written", "corrupt")
OLD = "The payments service listens on port 9000."
NOTES = (
    "Redis caches the invoices of the billing service.",
    "The payments service listens on port 9001.",
    "Anna leads the search team.",
    "We deploy on Tuesdays because the auditors are in on Mondays.",
    "Backups of the invoices run at night.",
)
NEW = "The search index is rebuilt every Sunday."


class Sweep:
    """Strikes at operations of one command line, each in a copy of a data folder, and has each outcome judged."""

    def __init__(self, template, kind, args, judge, sample):
        self.template, self.kind, self.args, self.judge, self.sample = template, kind, args, judge, sample
        self.tally = Tally()

    def run(self):
        """Sweep every kind of error; return the tally."""
        workers = 1 if self.sample else 2
        faults = FAULTS[:: 4 if self.kind and self.sample else 1]
        with ThreadPoolExecutor(workers) as pool:
            for swept in [pool.submit(self._some, faults[n::workers]) for n in range(workers)]:
                swept.result()
        assert self.tally.points
        return self.tally

    def _some(self, kinds):
        with Forks() as forks:
            for kind in kinds:
                for at in self._places(forks, *kind):
                    if not self._struck(forks, *kind, at):
                        break

    def _struck(self, forks, errors, lasting, at):
        copy = self._copy(f"{errors}-{lasting}-{at}")
        with self.kind.parted(copy):
            done = forks.run(self.args, copy, errors=errors, at=at, lasting=lasting)
            if done.struck:
                assert_told(done)
                self.judge(self.tally, forks, copy, done)
        shutil.rmtree(copy, ignore_errors=True)
        return done.struck

    def _places(self, forks, errors, lasting):
        """Return every place, or a few of those that an undisturbed run has."""
        if not self.sample:
            return count(1)
        copy = self._copy(f"{errors}-{lasting}")
        with self.kind.parted(copy):
            seen = forks.run(self.args, copy, errors=errors).seen
        return sorted(random.Random(lasting).sample(range(1, seen + 1), min(self.sample, seen)))

    def _copy(self, name):
        copy = self.template.with_name(f"{self.template.name}-{name}")
        if self.template.exists():
            shutil.copytree(self.template, copy)
        return copy


def assert_told(done):
    """Assert that a run ended with a code of memman's own, and one line for each thing that was wrong."""
    assert done.code in CODES | {0}, done
    assert all(line.startswith("memman: ") for line in done.err.splitlines()), done
    assert "internal error" not in done.err, done
    assert done.err or not done.code, done


def judge_remember(before, tally, forks, data, done):
    """Judge a disturbed remember of NEW."""
    held = texts(data)
    new = {uid: text for uid, text in held.items() if uid not in before}
    assert held == before | new, done
    if done.code:
        assert done.out == "", done
        assert list(new.values()) in ([], [NEW]), done
    else:
        assert new == {done.out.strip(): NEW}, done
    tally.look(data, held)
    tally.finish(forks, data, held)


def judge_drain(uids, tally, forks, data, _):
    """Judge a disturbed drain."""
    tally.look(data, uids)
    tally.finish(forks, data, uids)


def said(done):
    """Return the texts of the hits, in order."""
    return [line.partition(": ")[2] for line in done.out.splitlines()]


def judge_recall(right, tally, _, data, done):
    """Judge a disturbed recall: the right answer, or word of what could not be read."""
    if not (set(said(done)) <= set(right) if done.err else said(done) == right):
        tally.harm.append(("wrong answers", data.name, done))
    tally.points += 1


@pytest.mark.slow
@pytest.mark.promise("R4")
@pytest.mark.parametrize("first", [True, False], ids=["the first", "a later"])
def test_whatever_operation_fails_a_remember_is_acknowledged_and_there_or_refused(box, kind, rounds, kept, first):
    """Each note whose uid was printed is in the queue; each other is absent or whole; the next drain takes them all."""
    if not first:
        for text in NOTES:
            box.remember(text)
    judge = partial(judge_remember, texts(box.data))
    tally = Sweep(box.data, kind, ("remember", NEW), judge, rounds(4, 0)).run()
    kept(f"{tally.points} points of {'the first' if first else 'a later'} remember: {tally.told(*HARMS)}")


@pytest.mark.slow
@pytest.mark.promise("R4")
@over(*KINDS)
def test_whatever_operation_fails_a_drain_of_five_notes_loses_and_halves_none(box, kind, rounds, kept):
    """After each error both files are sound, each note is stored whole or not at all, and the next drain ends it."""
    uids = [box.remember(OLD)]
    box.drain()
    uids += [box.remember(text) for text in NOTES]
    tally = Sweep(box.data, kind, DRAIN, partial(judge_drain, uids), rounds(1 if kind else 5, 0)).run()
    kept(f"{tally.points} points of a drain of 5: {tally.told(*HARMS)}")


@pytest.mark.promise("R4")
def test_whatever_operation_fails_recall_answers_rightly_or_says_what_it_could_not_read(box, kind, rounds, kept):
    """No error leaves out or changes a hit in silence."""
    for text in NOTES[:3]:
        box.remember(text)
    box.drain()
    box.remember(NOTES[4])
    query = ("recall", "billing", "invoices")
    with Forks() as forks:
        right = said(forks.run(query, box.data))
    assert len(right) >= 2
    tally = Sweep(box.data, kind, query, partial(judge_recall, right), rounds(5, 0)).run()
    kept(f"{tally.points} points of a recall: {tally.told('wrong answers')}")
