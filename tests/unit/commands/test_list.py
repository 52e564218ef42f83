"""`list`: by category, scope and name; and what happened around a memory: order, marks, days."""

import json
import time

import apsw
import pytest

from memman.commands import list as lists
from memman.commands.place import chosen, opened
from memman.store.sqlite.catalogue import Catalogue
from memman.store.sqlite.reader import SqliteReader
from memman.store.sqlite.schema import migrate

TEXTS = (
    "The nightly backup failed.",
    "Heron got a bigger disk.",
    "Anna owns the schema.",
    "We deploy on Vercel.",
    "Invoices are sent as PDF.",
)
DAY = 86_400_000


@pytest.fixture
def kept(box):
    """Give a box whose store holds five memories, of two sessions."""
    for n, text in enumerate(TEXTS):
        box.remember(text, agent="codex", session="first" if n < 3 else "second")
        time.sleep(0.002)
    box.drain()
    return box


def told(box, *args):
    """Run `list` by day, which must succeed; return its JSON."""
    done = box.memman("list", *(() if "--around" in args else ("--by-day",)), *args, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def texts(entries):
    """Return the texts of entries."""
    return [entry["text"] for entry in entries]


def short(box, text):
    """Return the short id of the memory that says `text`."""
    return box.store("SELECT uid FROM memory WHERE text = ?", text)[0][:8]


def test_around_a_memory_are_those_before_and_after_it(kept):
    """The neighbours in time are listed oldest first, as many as are asked for on either side."""
    middle = short(kept, TEXTS[2])
    assert texts(told(kept, "--around", middle)) == list(TEXTS)
    assert texts(told(kept, "--around", middle, "--limit", "3")) == list(TEXTS[1:4])
    assert texts(told(kept, "--around", middle, "--limit", "2")) == list(TEXTS[1:3])
    assert texts(told(kept, "--around", middle, "--limit", "1")) == [TEXTS[2]]
    assert texts(told(kept, "--around", short(kept, TEXTS[0]), "--limit", "3")) == list(TEXTS[:2])


def test_the_one_asked_about_and_its_session_are_marked(kept):
    """A sign stands before the memory itself, and those of its session say so."""
    entries = told(kept, "--around", short(kept, TEXTS[1]))
    assert [entry["asked"] for entry in entries] == [False, True, False, False, False]
    assert [entry["same_session"] for entry in entries] == [True, True, True, False, False]
    lines = kept.memman("list", "--around", short(kept, TEXTS[1])).stdout.splitlines()
    assert lines[0] == time.strftime("%Y-%m-%d %A", time.localtime(entries[0]["valid_from"] / 1000))
    assert [line[0] for line in lines[1:]] == [" ", ">", " ", " ", " "]
    assert "user, everywhere, same session: The nightly" in lines[1]
    assert "user, everywhere: Heron" in lines[2]
    assert "user, everywhere: We deploy" in lines[4]


def test_the_one_asked_about_is_whole_and_its_neighbours_are_short(kept):
    """A long memory is cut in the list, or told by its summary, and whole where it is asked about."""
    long = (
        "Logs go to Loki with a retention of 14 days, and alerts go to the channel #ops; the retention was shortened"
        " from 30 days since the bill for storage doubled in March, and nobody had looked at logs older than ten days."
    )
    kept.remember(long)
    kept.drain()
    shown = kept.memman("list", "--by-day").stdout
    assert shown.endswith(" user, everywhere: Logs go to Loki with a retention of 14 days…\n")
    asked = kept.memman("list", "--around", short(kept, long), "--limit", "2").stdout.splitlines()
    assert asked[-1].endswith(long)


def test_what_was_replaced_names_its_successor(kept):
    """A superseded memory stays in its place and says what took it."""
    kept.memman("replace", short(kept, TEXTS[3]), "We deploy on Coolify.")
    kept.memman("scheduler", "drain")
    entries = told(kept, "--around", short(kept, TEXTS[3]))
    assert texts(entries) == [*TEXTS, "We deploy on Coolify."]
    assert entries[3]["superseded_by"] == entries[-1]["uid"]
    assert entries[-1]["superseded_by"] is None
    shown = kept.memman("list", "--by-day").stdout
    assert f"superseded by {entries[-1]['uid'][:8]}: We deploy on Vercel." in shown


def test_causes_and_effects_are_named(kept):
    """A causal edge is told at both its ends, unless the other end is forgotten."""
    cause, effect = short(kept, TEXTS[0]), short(kept, TEXTS[1])
    kept.memman("graph", "link", cause, effect, "--type", "causal")
    shown = kept.memman("list", "--around", cause).stdout
    assert f"user, everywhere, led to {effect}: The nightly" in shown
    assert f"because of {cause}: Heron" in shown
    kept.memman("forget", effect)
    assert "led to" not in kept.memman("list", "--around", cause).stdout
    assert TEXTS[1] not in texts(told(kept))


def test_without_a_memory_the_newest_come_by_day(kept):
    """The newest memories are listed with the newest last, each day under its date, between two moments."""
    kept.alter("UPDATE memory SET valid_from = valid_from - ?, recorded_at = recorded_at - ? WHERE id <= 2", DAY, DAY)
    assert texts(told(kept, "--limit", "3")) == list(TEXTS[2:])
    lines = kept.memman("list", "--by-day").stdout.splitlines()
    assert len([line for line in lines if line.startswith("20")]) == 2
    assert texts(told(kept, "--since", "12h")) == list(TEXTS[2:])
    assert texts(told(kept, "--until", "12h")) == list(TEXTS[:2])
    assert texts(told(kept, "--until", "12h", "--limit", "1")) == [TEXTS[1]]
    assert texts(told(kept, "--around", short(kept, TEXTS[3]), "--since", "12h")) == list(TEXTS[2:])
    assert told(kept, "--since", "2d", "--until", "36h") == []


def test_what_was_drained_late_stands_where_it_happened(kept):
    """The order is that of the notes, not of the drain."""
    kept.alter("UPDATE memory SET valid_from = (SELECT min(valid_from) FROM memory) - 1 WHERE id = 5")
    assert texts(told(kept))[0] == TEXTS[4]
    assert texts(told(kept, "--around", short(kept, TEXTS[0]), "--limit", "2"))[:2] == [TEXTS[4], TEXTS[0]]


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["--below", "1"], 2, "--below goes with --least only"),
        (["--stale", "--least"], 2, "--stale and --least are two lists"),
        (["--stale", "--since", "7d"], 2, "--since goes with"),
        (["--scope", "nowhere"], 2, "no scope 'nowhere'"),
        (["--around", "ffffffff"], 3, "no memory"),
        (["--since", "yesterdayish"], 2, "--since takes a date"),
        (["--limit", "0"], 2, "limit"),
    ],
)
def test_mistakes_are_one_line(kept, args, code, said):
    """What cannot be asked is refused in one line that says what to do."""
    done = kept.memman("list", *args)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_what_has_no_place_in_time_says_so(kept):
    """A forgotten memory can be brought back; a note that waits has no neighbours yet; a fresh store is empty."""
    gone = short(kept, TEXTS[2])
    kept.memman("forget", gone)
    done = kept.memman("list", "--around", gone)
    assert (done.returncode, f"forget --undo {gone}" in done.stderr) == (2, True)
    waiting = kept.memman("remember", "A note that waits.").stdout.strip()
    assert "still in the queue" in kept.memman("list", "--around", waiting[-8:]).stderr
    assert kept.memman("list", "--by-day", "--store", "default").returncode == 0
    assert kept.memman("list", "--by-day", "--store", "nowhere").returncode == 11


def test_a_store_without_memories_has_no_timeline(box):
    """Nothing stored gives nothing, and no failure."""
    assert told(box) == []
    assert told(box, "--until", "1h") == []


@pytest.fixture
def large():
    """Give the catalogue of a store of 20,000 rows, one a second, with a gap in the middle."""
    db = apsw.Connection(":memory:")
    migrate(db, ":memory:")
    db.execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
        "INSERT INTO memory(id, uid, note, text, category, importance, entities, keywords, summary, source, origin,"
        " valid_from, recorded_at) SELECT i, i, i, i, 'fact', 3, '[]', '[]', '', 'user', '', i * 1000, i * 1000 + 1"
        " FROM n WHERE i NOT BETWEEN 9000 AND 11000"
    )
    return Catalogue(SqliteReader(db), ":memory:")


def test_what_is_around_a_memory_of_a_large_store_is_given_in_order(large):
    """However large the store, what is given is what was asked for, in order, across a gap too."""
    assert large.around(5_000, 10, 10) == [(row * 1_000, row) for row in range(4_990, 5_011)]
    assert [row for _, row in large.around(8_999, 2, 2)] == [8_997, 8_998, 8_999, 11_001, 11_002]


def test_the_functions_have_defaults(kept):
    """In process, too, the newest twenty and ten either side are what is given."""
    with opened(chosen()) as store:
        assert texts(lists.by_day(store)) == list(TEXTS)
        assert texts(lists.around(store, short(kept, TEXTS[2]))) == list(TEXTS)


def test_a_list_is_of_a_scope_or_of_a_name(box):
    """A repository, or what holds everywhere; what mentions a name; both together, and of what is worth least too."""
    weir, crane = "The heron nests at the weir.", "The heron is the mascot."
    invoices = "Invoices are numbered per year."
    box.remember(weir, repository="acme/shop", scope="repository")
    for text in (crane, invoices):
        box.remember(text)
    box.drain()

    def found(*args):
        done = box.memman("list", *args, "--json")
        assert done.returncode == 0, done.stderr
        return {one["text"] for one in json.loads(done.stdout)}

    assert found("--scope", "shop") == {weir}
    assert found("--scope", "personal") == {crane, invoices}
    assert found("--about", "heron") == {weir, crane}
    assert found("--about", "heron", "--scope", "shop") == {weir}
    assert found("--least", "--below", "2", "--scope", "shop") == {weir}
