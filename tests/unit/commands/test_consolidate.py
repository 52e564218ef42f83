"""Memories that say the same become one when a person agrees, and its undo brings back all as it was."""

import json

import pytest

from memman.commands.consolidate import of_two_things
from tests.support.box import no

SAID = ("Always run the linter before a commit.", "Run the linter before each commit.")
OTHERS = ("Billing is deployed to Fly.io.", "Invoices are archived for ten years.")
TABLES = ("memory", "link", "mark", "claim", "evidence", "scoped", "freshness", "code", "vector")


def state(box):
    """Return all that recall reads."""
    return {table: sorted(map(str, box.store(f"SELECT * FROM {table}"))) for table in TABLES}


@pytest.fixture(name="twice")
def _twice(box, unjudged):  # noqa: ARG001 - which would know that it is said already
    """Return a box that was told one thing twice."""
    for text in (SAID[0], *OTHERS, SAID[1]):
        box.remember(text)
        box.drain()
    box.alter("INSERT OR IGNORE INTO link VALUES (4, 3, 1, 9000, '')")
    return box


def proposed(box, *more):
    """Return what would become one: the text that stays, and those that go into it."""
    done = box.memman("consolidate", "--dry-run", "--json", *more)
    assert done.returncode == 0, done.stderr
    groups = json.loads(done.stdout)["groups"]
    return [(one["into"]["text"], [other["text"] for other in one["memories"]]) for one in groups]


def test_what_says_the_same_becomes_one_and_its_undo_is_exact(twice):
    """The one that stays is found by the words of the other; nothing happens before a person agrees."""
    before = state(twice)
    ((stays, (goes,)),) = proposed(twice)
    assert {stays, goes} == {*SAID}
    assert twice.person("consolidate", answer=no).returncode > 0
    assert state(twice) == before
    done = twice.memman("consolidate")
    assert "1 memory merged; to undo this: memman undo " in done.stdout
    assert twice.store("SELECT text FROM memory WHERE status = 'superseded'") == [goes]
    assert twice.recall(goes)[0] == stays
    assert twice.memman("consolidate").stdout == "no two memories say the same\n"
    act = done.stdout.rpartition(" ")[2].strip()
    assert twice.memman("undo", act).returncode == 0
    assert state(twice) == before


def test_what_is_protected_elsewhere_or_kept_apart_stays(twice):
    """A person's protected memory is the one that stays; what holds elsewhere, and what is otherwise, is no pair."""
    uids = twice.store("SELECT uid FROM memory ORDER BY id")
    assert proposed(twice, uids[1]) == []
    assert len(proposed(twice, uids[3])) == 1
    for uid, text in ((uids[0], SAID[0]), (uids[3], SAID[1])):
        assert twice.memman("insights", "protect", uid).returncode == 0
        assert [stays for stays, _ in proposed(twice)] == ([text] if uid == uids[0] else [])
    twice.memman("insights", "protect", "--undo", uids[0])
    twice.alter("INSERT INTO scope VALUES (7, '/nowhere#-', '')")
    twice.alter("INSERT OR REPLACE INTO scoped VALUES (1, 7)")
    assert proposed(twice) == []


@pytest.mark.parametrize(
    ("one", "other", "two"),
    [
        ("Backups of the image worker are made hourly.", "We back up the image service hourly.", True),
        ("The order dashboard listens on port 9379.", "9379 is the port of the report dashboard.", True),
        ("Team Comet owns the login service.", "Team Comet owns the payment gateway.", True),
        ("Team Dune owns the search service.", "Nomad deploys the search service.", True),
        ("Go is the language of the order importer.", "The order importer runs in Dublin.", True),
        ("We host the payment gateway in Ohio.", "Ohio is where the payment gateway is hosted.", False),
        (*SAID, False),
    ],
)
def test_what_is_said_of_two_things_is_never_one(one, other, two):
    """The judge finds these the same: where words side by side differ, they are about two things."""
    assert of_two_things(one, other) is of_two_things(other, one) is two


def test_a_persons_words_take_the_place_of_scattered_lines(twice):
    """They are the person's own note, linked to what they replace, and undone by its id; one line refuses the rest."""
    before = {text: twice.recall(text)[0] for text in OTHERS}
    uids = twice.store("SELECT uid FROM memory WHERE text IN (?, ?)", *OTHERS)
    words = "Billing runs on Fly.io, and its invoices are archived for ten years."
    for ids, said in ((uids[:1], words), ([uids[0], "abcd1234"], words), (uids, " ")):
        done = twice.memman("consolidate", *ids, "--text", said)
        assert (done.returncode > 0, done.stderr.count("\n")) == (True, 1)
    done = twice.memman("consolidate", *uids, "--text", words)
    assert "2 memories merged" in done.stdout
    assert [twice.recall(text)[0] for text in OTHERS] == [words, words]
    (made,) = json.loads(twice.memman("list", "--limit", "1", "--json").stdout)
    assert (made["text"], made["source"], made["scope"]) == (words, "user", "")
    assert twice.memman("undo", done.stdout.rpartition(" ")[2].strip()).returncode == 0
    assert {text: twice.recall(text)[0] for text in OTHERS} == before
    assert twice.recall(words) == [] or words not in twice.recall(words)
