"""Until when a statement says that it holds, and what `--until` takes."""

import time

import pytest

from memman.hot.grammar import end
from memman.model.ending import ends, moment
from memman.model.errors import UsageError

MONDAY = int(time.mktime((2026, 11, 23, 9, 0, 0, 0, 0, -1))) * 1000
HOUR = 3_600_000


def written(found, form="%Y-%m-%d"):
    """Write a moment as a test names it."""
    return found and time.strftime(form, time.localtime(found / 1000))


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("The freeze holds until Friday.", "2026-11-28"),
        ("until 2026-12-01 we use staging", "2026-12-02"),
        ("Deploys are frozen through the end of the month.", "2026-12-01"),
        ("Deploys paused until Friday.", "2026-11-28"),
        ("The freeze was extended until Friday.", "2026-11-28"),
        ("until tomorrow", "2026-11-25"),
        ("This week only, reviews go to Anna.", "2026-11-30"),
        ("Reviews go to Anna just for today", "2026-11-24"),
        ("for the next two weeks we deploy by hand", "2026-12-08"),
        ("until March 15th", "2027-03-16"),
        ("until 15 March 2028", "2028-03-16"),
        ("until the end of March", "2027-04-01"),
        ("until next week", "2026-12-07"),
        ("until November 2027", "2027-12-01"),
        ("until 2027", "2028-01-01"),
        ("until the end of the year", "2027-01-01"),
        ("We waited until Friday.", None),
        ("The staging site was down until Friday.", None),
        ("The outage lasted from Tuesday noon until Wednesday morning.", None),
        ("we keep backups for two weeks", None),
        ("open Monday until Friday", None),
        ("the office is open until 6 pm", None),
        ("never merge until CI is green", None),
        ("until 2025-01-01 it was Heroku", None),
        ("until February 30th", None),
        ("until fridays are free", None),
    ],
)
def test_a_statement_says_until_when_it_holds(said, day):
    """A date that is named counts to its last minute; what names none, or one that has passed, has no end."""
    assert written(ends(said, MONDAY)) == day


@pytest.mark.parametrize(
    ("said", "clock"),
    [
        ("Staging is frozen until tomorrow noon.", "11-24 12:00"),
        ("until noon tomorrow", "11-24 12:00"),
        ("until Friday at 6 pm", "11-27 18:00"),
        ("until 6:30pm on Friday", "11-27 18:30"),
        ("until Friday 18:00", "11-27 18:00"),
        ("until 2026-11-27T18:00 at least", "11-27 18:00"),
        ("until Friday, 100 builds at most", "11-28 00:00"),
        ("until Friday 12am", "11-27 00:00"),
    ],
)
def test_a_time_of_the_clock_ends_it_in_the_middle_of_a_day(said, clock):
    """Before its day or behind it; of an hour alone nothing is known."""
    assert written(ends(said, MONDAY), "%m-%d %H:%M") == clock


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("2026-12-01", "12-02 00:00"),
        ("2026-12-01T18:00", "12-01 18:00"),
        ("2026-12-01 18:00", "12-01 18:00"),
        ("12h", "11-23 21:00"),
        ("14d", "12-07 09:00"),
        ("2w", "12-07 09:00"),
        ("Friday", "11-28 00:00"),
        ("next friday", "11-28 00:00"),
        ("Friday 18:00", "11-27 18:00"),
        ("tomorrow", "11-25 00:00"),
        ("end of March", "04-01 00:00"),
        ("end of the week", "11-30 00:00"),
        ("Dec 3", "12-04 00:00"),
        ("7 m", None),
        ("Friday or so", None),
        ("nonsense", None),
        ("2026-13-01", None),
        ("", None),
    ],
)
def test_a_person_names_an_end(said, found):
    """All that the error of --until promises is understood, and nothing that says more."""
    assert written(moment(said, MONDAY), "%m-%d %H:%M") == found


@pytest.mark.parametrize(
    ("said", "why"), [("1m", "minutes or months"), ("2020-01-01", "over already"), ("later", "end of March")]
)
def test_what_is_no_time_to_come_is_refused(said, why):
    """In one line that says what may be said."""
    with pytest.raises(UsageError, match=why):
        end(said, "until")
