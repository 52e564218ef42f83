"""A change of one thing leaves what is known of another in force, however alike the two are told."""

from itertools import product

import pytest

from memman.llm.builtin.reconcile import verdict
from memman.llm.builtin.statement import read

SUBJECTS = (
    ("Sales", "Support"),
    ("The EU tenant", "The US tenant"),
    ("The EU tenant", "The tenant"),
    ("Tickets", "Builds"),
    ("Deployments", "Tests"),
    ("The web shop", "The mobile app"),
    ("The old app", "The new app"),
    ("The main site", "The backup site"),
    ("The April release", "The May release"),
    ("Infrastructure", "The platform"),
    ("Store 1", "Store 2"),
    ("Alice", "Bob"),
    ("The IT department", "The HR department"),
    ("Our hosting", "Our monitoring"),
    ("The mobile team", "The backend team"),
)
# The ends of two changes: the second comes to where the first left, or leaves from where it came to.
ENDS = (
    ("Berlin", "Munich", "Hamburg", "Berlin"),
    ("shard 1", "shard 2", "shard 3", "shard 1"),
    ("GitHub", "Jira", "Jenkins", "GitHub"),
    ("Vercel", "Coolify", "Coolify", "Vercel"),
    ("Berlin", "Munich", "Munich", "Paris"),
    ("npm", "Bun", "Bun", "npm"),
)
TOLD = (
    "{subject} moved from {old} to {new}.",
    "We moved {lower} from {old} to {new}.",
    "Last week {lower} switched from {old} to {new}.",
)


def changes():
    """Yield a change told of one subject, and one told of another."""
    for (one, other), (a, b, c, d), told in product(SUBJECTS, ENDS, TOLD):
        for first, second in ((one, other), (other, one)):
            yield sentence(told, second, c, d), sentence(told, first, a, b)


def sentence(told, subject, old, new):
    """Fill in what changed."""
    lower = subject[0].lower() + subject[1:] if subject.startswith(("The", "Our")) else subject
    return told.format(subject=subject, lower=lower, old=old, new=new)


@pytest.mark.parametrize(("new", "old"), sorted(set(changes())))
def test_a_change_of_another_subject_retires_nothing(new, old):
    """Two subjects may pass through the same place."""
    assert verdict(read(new), read(old)) == ("", "")


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("We moved from Munich to Paris.", "Sales moved from Berlin to Munich."),
        ("We went back to npm.", "The docs site moved from npm to Bun."),
        ("Support is back in Berlin.", "Sales moved from Berlin to Munich."),
        ("Builds went back to GitHub.", "Tickets moved from GitHub to Jira."),
        ("We moved from Jenkins to GitHub for builds.", "We moved from GitHub to Jira for tickets."),
        ("We moved from Jenkins to GitHub.", "We moved from GitHub to Jira."),
        ("The US team went back to Slack.", "The team moved from Slack to Teams."),
    ],
)
def test_nobody_in_particular_is_not_somebody(new, old):
    """Who tells of us does not tell of one of us, nor the other way round."""
    assert verdict(read(new), read(old)) == ("", "")


@pytest.mark.parametrize(
    ("new", "old"),
    [
        *((sentence(TOLD[0], one, b, a), sentence(told, one, a, b))
          for one, _ in SUBJECTS for a, b in (("Vercel", "Coolify"), ("Berlin", "Munich")) for told in TOLD),
        ("The web shop went back to Vercel.", "We moved the web shop from Vercel to Coolify."),
        ("In March we moved sales back to Berlin.", "Sales moved from Berlin to Munich."),
        ("We went back to npm last week.", "We finally moved from npm to Bun in May."),
        ("The project is back on npm.", "We moved from npm to Bun."),
        ("The team moved from Bun to pnpm.", "We switched from npm to Bun."),
    ],
)  # fmt: skip
def test_a_change_of_the_same_subject_retires_the_one_before(new, old):
    """Who moves on, or back, is no longer where it had moved to."""
    assert verdict(read(new), read(old))[0] == "UPDATE"
