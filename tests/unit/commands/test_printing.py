"""What verbs print: lists that say when they are cut, tables at a terminal, questions that ask what is meant."""

import json
import re

import pytest

from memman.clock import now_ms
from memman.commands.printing import past
from memman.model.plural import counted
from memman.model.text import duration, outdated
from tests.support.terminal import typed

CHANNEL = "The team channel for deployments of the booking service is called deploy-booking and has a bot"


@pytest.fixture
def stored(box):
    """Give a box with three memories."""
    for text in (f"{CHANNEL} that posts.", "The heron nests by the river.", "Invoices are numbered per year."):
        box.remember(text)
    box.drain()
    return box


@pytest.mark.parametrize(
    "verb",
    [
        ("list",),
        ("log", "list"),
        ("log", "worker"),
        ("list", "--by-day"),
        ("log", "learned"),
        ("log", "diff"),
    ],
    ids=" ".join,
)
def test_a_list_that_is_cut_says_so(stored, verb):
    """On standard error, as data and as text; a list that is whole says nothing."""
    for more in ((), ("--json",)):
        cut, whole = stored.memman(*verb, "--limit", "2", *more), stored.memman(*verb, "--limit", "500", *more)
        assert re.fullmatch(r"memman: 2 of [3-9]: --limit lists more\n", cut.stderr)
        assert (whole.returncode, whole.stderr) == (0, "")


def test_a_queue_that_is_cut_says_so(box):
    """What waits in the queue is no exception."""
    for number in range(3):
        box.remember(f"Shelf {number} is full.")
    assert "2 of 3: --limit lists more" in box.memman("scheduler", "queue", "list", "--limit", "2").stderr


@pytest.mark.parametrize("columns", [60, 80])
def test_a_table_has_heads_and_fits_at_a_terminal(stored, columns):
    """No line is wider than the terminal, and no word is lost; elsewhere a line is a memory, without heads."""
    environ = stored.environ | {"COLUMNS": str(columns)}
    code, seen = typed([stored.script, "list"], environ, stored.data.parent, "")
    lines = seen.replace("\r\n", "\n").strip("\n").split("\n")
    heads = lines[0].removeprefix("\x1b[1m").removesuffix("\x1b[0m")
    assert (code, heads.split()[:5]) == (0, ["id", "age", "category", "source", "importance"])
    assert max(map(len, lines[1:])) <= columns
    assert f"{CHANNEL} that posts." in " ".join(" ".join(lines).split())
    assert len(stored.memman("list").stdout.splitlines()) == 3


def test_an_undo_says_what_would_be_done_before_it_is(stored):
    """The question and the dry run say so; afterwards it is said as done."""
    dry = stored.memman("undo", "--since", "1h", "--dry-run").stdout
    assert dry.count("would be undone") == 3
    done = stored.memman("undo", "--since", "1h")
    assert (done.asked.count("would be undone"), done.stdout.count("would be"), done.stdout.count("undone")) == (
        3,
        0,
        3,
    )


def test_a_purge_leaves_no_side_of_a_change_that_names_nothing(stored):
    """The log of what a purged memory had replaced says that it was superseded, and not by None."""
    (old,) = stored.store("SELECT uid FROM memory WHERE text LIKE 'Invoices%'")
    stored.memman("replace", old, "Invoices are numbered per customer.")
    stored.drain()
    (new,) = stored.store("SELECT uid FROM memory WHERE text LIKE '%per customer.'")
    assert stored.memman("purge", new).returncode == 0
    told = stored.memman("log", "list")
    assert told.returncode == 0, told.stderr
    assert "superseded" in told.stdout
    assert "None" not in told.stdout + stored.memman("show", old).stdout


def marked(box, why):
    """Mark the first memory as maybe replaced by the second, as a drain does."""
    from memman.store.sqlite.store import open_store

    store = open_store(str(box.data), "default")
    old, new = (row for (row,) in store.db.execute("SELECT id FROM memory ORDER BY id LIMIT 2"))
    with store.unit() as unit:
        assert unit.doubt(old, new, now_ms(), why)
    store.close()


def test_of_two_memories_review_asks_which_holds(stored):
    """Not whether to approve."""
    marked(stored, "says otherwise, 61% sure")
    (one,) = json.loads(stored.memman("review", "list", "--json").stdout)
    walked = stored.person("review", "all", answer=lambda said: "q\n" if said.endswith("quit? ") else "")
    assert "1 of 1: Does the newer replace the older? yes, no, both hold, edit, skip, quit?" in walked.asked
    done = stored.memman("review", "approve", one["uid"])
    assert "Does the newer replace the older? [y/N] " in done.asked
    assert stored.store("SELECT status FROM memory ORDER BY id")[0] == "superseded"


def test_a_terse_decision_is_no_junk(box):
    """What was tried and given up is worth keeping; what was said in passing is not."""
    for text in ("Tried GraphQL for the mobile API, reverted.", "ok thanks"):
        box.remember(text)
    box.drain()
    found = json.loads(box.memman("lint", "--json", "--only", "junk").stdout)["findings"]
    assert [one["text"] for one in found] == ["ok thanks"]


def test_one_is_no_several():
    """Counts and ages are written as people say them."""
    assert (counted(1, "fact"), counted(2, "memory"), duration(1.2), duration(7200)) == (
        *("1 fact", "2 memories", "1 second", "2 hours"),
    )
    assert [*outdated(1000, None, 1000)] == ["past its end"]
    assert [*outdated(1000, None, 4000)] == ["past its end 3s ago"]
    assert past(now_ms() + 60_000) == "just now"
    assert past(now_ms() - 7_200_000) == "2h ago"
