"""Moments given to --since, --until and --as-of: dates, times, so long ago, and words for days."""

import time

import pytest

from memman.hot.grammar import moment
from memman.model.errors import UsageError

DAY = 86_400_000
NOW = int(time.mktime((2026, 11, 18, 15, 30, 0, 0, 0, -1))) * 1000  # a Wednesday


def midnight(month, day):
    """Return when a day of that year begins here."""
    return int(time.mktime((2026, month, day, 0, 0, 0, 0, 0, -1))) * 1000


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("today", midnight(11, 18)),
        ("yesterday", midnight(11, 17)),
        ("Yesterday", midnight(11, 17)),
        ("3 days ago", NOW - 3 * DAY),
        ("1 day ago", NOW - DAY),
        ("90 minutes ago", NOW - 90 * 60_000),
        ("2 weeks ago", NOW - 14 * DAY),
        ("two weeks ago", midnight(11, 2)),
        ("last week", midnight(11, 9)),
        ("last month", midnight(10, 1)),
        ("March 2026", midnight(3, 1)),
        ("monday", midnight(11, 16)),
        ("3d", NOW - 3 * DAY),
        ("12h", NOW - DAY // 2),
        ("2026-11-01", midnight(11, 1)),
        ("2026-11-01T10:00", midnight(11, 1) + DAY * 10 // 24),
    ],
)
def test_a_moment_is_read_however_it_is_written(text, meant):
    """A day that has a name means its beginning, so long ago means that moment."""
    assert moment(text, "since", NOW) == meant


@pytest.mark.parametrize(
    "text", ["", "soon", "yesterdayish", "the yesterday of Redis", "days ago", "-3d", "9999999d", "2026-13-01"]
)
def test_what_names_no_moment_is_refused(text):
    """The refusal names the option, and a form of each kind."""
    with pytest.raises(UsageError, match=r"^--as-of takes a date like .* yesterday, 3 days ago"):
        moment(text, "as_of", NOW)


@pytest.mark.parametrize("said", ["yesterday", "today", "3 days ago"])
def test_recall_takes_words_for_a_day(box, said):
    """What was stored a moment ago was recorded since then, and not before."""
    box.remember("We deploy on Coolify.")
    box.drain()
    assert "Coolify" in box.memman("recall", "deploy", "--since", said).stdout
    until = box.memman("recall", "deploy", "--until", said)
    assert (until.returncode, until.stdout) == (0, "")
