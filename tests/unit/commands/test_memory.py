"""What a person does to memories: replace, forget, look, link, read the log. Through the command line only."""

import json
from itertools import pairwise

import pytest

DEPLOY, DATABASE, HERON = "We deploy on Vercel.", "Postgres runs in Frankfurt.", "The staging box is called Heron."


@pytest.fixture
def kept(box):
    """Give a box whose store holds three memories of three notes."""
    for text in (DEPLOY, DATABASE, HERON):
        box.memman("remember", "--source", "user", text)
    assert box.drain().added == 3
    return box


def told(box, *args):
    """Run a command that must succeed; return its JSON."""
    done = box.memman(*args, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def listed(box, **filters):
    """Return the listed memories by text."""
    options = [f"--{name}={value}" for name, value in filters.items()]
    return {memory["text"]: memory for memory in told(box, "list", *options)}


def short(box, text):
    """Return the short id of the memory that says `text`."""
    return listed(box, status="all")[text]["uid"][:8]


# --- replace ---


def test_replace_supersedes_at_the_next_drain(kept):
    """A replaced memory gives way to the new text, and stays in the history."""
    done = kept.memman("replace", short(kept, DEPLOY), "We deploy on Coolify.")
    assert done.returncode == 0
    assert len(done.stdout.strip()) == 32
    assert "1 superseded" in kept.memman("scheduler", "drain").stdout
    assert kept.memman("recall", "where do we deploy").stdout.count("deploy") == 1
    assert "Coolify" in kept.memman("recall", "where do we deploy").stdout
    assert "Vercel" in kept.memman("recall", "--history", "where do we deploy").stdout
    assert listed(kept, status="superseded").keys() == {DEPLOY}


def test_replace_hides_the_old_text_before_the_drain(kept):
    """Recall shows the replacement at once, and not what it replaces."""
    kept.memman("replace", short(kept, DEPLOY), "We deploy on Coolify.")
    shown = kept.memman("recall", "where do we deploy").stdout
    assert "Coolify" in shown
    assert "Vercel" not in shown


def test_replace_inherits_hints_unless_told_otherwise(kept):
    """Category, importance and entities are taken over, and each can be said anew."""
    told(kept, "remember", "--category=decision", "--importance=5", "--entities=Bun", "We build with Bun.")
    kept.memman("scheduler", "drain")
    old = short(kept, "We build with Bun.")
    new = told(kept, "replace", old, "We build with esbuild.", "--importance", "2")
    assert (new["category"], new["importance"], new["entities"]) == ("decision", 2, ["Bun"])


def test_replace_takes_the_text_from_a_pipe(kept):
    """- reads the replacing text from standard input."""
    kept.memman("replace", short(kept, DEPLOY), "-", input="We deploy on Hetzner.\nWith Kamal.")
    assert kept.queue("SELECT text FROM note WHERE state = 'pending'") == ["We deploy on Hetzner.\nWith Kamal."]


def test_replace_of_a_note_that_waits(box):
    """A note can be replaced before it is drained: recall shows only the newer, the store keeps both."""
    old = box.memman("remember", "The heron nests on the roof").stdout.strip()
    new = box.memman("replace", old[-8:], "On Fridays we deploy the mobile app").stdout.strip()
    assert box.queue("SELECT replaces FROM note WHERE uid = ?", new) == [old]
    assert box.memman("recall", "heron roof").stdout == ""
    assert "1 superseded" in box.memman("scheduler", "drain").stdout
    assert "nests" not in box.memman("recall", "heron roof").stdout
    assert "nests" in box.memman("recall", "--history", "heron roof").stdout


def test_replace_wants_the_current_memory(kept):
    """What is superseded or forgotten cannot be replaced; the message says what to do instead."""
    old = short(kept, DEPLOY)
    kept.memman("replace", old, "We deploy on Coolify.")
    kept.memman("scheduler", "drain")
    done = kept.memman("replace", old, "We deploy on Fly.")
    assert done.returncode == 2
    assert short(kept, "We deploy on Coolify.") in done.stderr
    kept.memman("forget", short(kept, HERON))
    assert "--undo" in kept.memman("replace", short(kept, HERON), "x").stderr


# --- forget ---


def test_forget_takes_effect_at_once_and_can_be_undone(kept):
    """A forgotten memory is not recalled, in the present or the past, until it is restored."""
    old = short(kept, HERON)
    assert kept.memman("recall", "heron").stdout
    assert kept.memman("forget", old).stdout == f"forgotten  {old}  {HERON}\n"
    for more in ([], ["--history"], ["--as-of", "0m"]):
        assert kept.memman("recall", "staging heron", *more).stdout == ""
    assert HERON not in listed(kept)
    assert kept.memman("forget", old).stdout.startswith("already forgotten")
    assert kept.memman("forget", "--undo", old).stdout.startswith("restored")
    assert HERON in kept.memman("recall", "heron").stdout
    assert kept.memman("forget", "--undo", old).stdout.startswith("not forgotten")


def test_what_is_restored_and_was_replaced_is_told_to_be_superseded(kept):
    """Though what took its place is gone by now: one line says how it holds again."""
    old = short(kept, HERON)
    kept.memman("replace", old, "The heron is the mascot of the other team.")
    kept.memman("scheduler", "drain")
    new = short(kept, "The heron is the mascot of the other team.")
    for one in (old, new):
        kept.memman("forget", one)
    again = f"to restore it: memman insights reinstate {old}\n"
    assert kept.memman("forget", "--undo", old).stdout == f"superseded again  {old}  {HERON}\n{again}"
    kept.memman("forget", old)
    assert kept.memman("insights", "restore", old).stdout == f"superseded again  {old}  {HERON}\n{again}"
    assert kept.memman("insights", "reinstate", old).returncode == 0
    assert HERON in kept.memman("recall", "heron").stdout


def test_forget_takes_everything_that_came_of_a_note(box):
    """The id of a drained note forgets all its memories."""
    uid = box.memman("remember", f"{DEPLOY} {DATABASE}").stdout.strip()
    box.memman("scheduler", "drain")
    assert {record["text"] for record in told(box, "forget", uid[-8:])} == {DEPLOY, DATABASE}
    assert listed(box) == {}
    told(box, "forget", "--undo", uid)
    assert listed(box).keys() == {DEPLOY, DATABASE}


def test_what_is_named_twice_is_forgotten_once(box):
    """A memory that two ids name is told once, as forgotten by this command."""
    uid = box.remember(DEPLOY)
    box.drain()
    (memory,) = box.store("SELECT uid FROM memory")
    assert [record["changed"] for record in told(box, "forget", memory, uid)] == [True]
    assert [record["changed"] for record in told(box, "forget", "--undo", uid, memory)] == [True]


def test_forget_names_what_stays_out_of_force(box):
    """What a forgotten memory had replaced does not come back by itself, and forget says so."""
    old, new = "We deploy on Vercel.", "We moved from Vercel to Coolify."
    for said in (old, new):
        box.remember(said)
        box.drain()
    ((before, after),) = box.store("SELECT o.uid, n.uid FROM memory o JOIN memory n ON n.id = o.superseded_by")
    shown = box.memman("forget", after).stdout
    assert "had replaced" in shown
    assert before[:8] in shown
    assert old in shown
    told(box, "forget", "--undo", after)
    known = {"ends_at": None, "file_changed_at": None}
    assert [record["replaced"] for record in told(box, "forget", after)] == [[{"id": before, "text": old} | known]]


def test_forget_reaches_a_note_that_waits(box):
    """A note that is not drained yet is gone at once, no drain brings it back, and --undo does."""
    uid = box.memman("remember", HERON).stdout.strip()
    assert HERON in box.memman("forget", uid[-8:]).stdout
    assert box.memman("recall", "heron").stdout == ""
    assert "processed 0 notes" in box.memman("scheduler", "drain").stdout
    assert box.memman("recall", "heron").stdout == ""
    assert box.states() == {}
    assert HERON in box.memman("forget", "--undo", uid[-8:]).stdout
    assert HERON in box.memman("recall", "heron").stdout


def test_forget_wins_against_a_drain_that_has_the_note_already(box):
    """A note forgotten while a drain has it in hand is not stored but as what is forgotten."""
    uid = box.memman("remember", HERON).stdout.strip()
    row = box.queue("SELECT * FROM note")[0]
    box.memman("forget", uid)
    # What a drain at work holds: the note itself, whatever the queue says by now.
    box.queue(f"INSERT INTO note VALUES ({', '.join('?' * len(row))})", *row)
    box.memman("scheduler", "drain")
    assert listed(box) == {}
    assert listed(box, status="forgotten").keys() == {HERON}


def test_forget_is_all_or_nothing(kept):
    """One unknown id among several forgets none."""
    done = kept.memman("forget", short(kept, HERON), "ffffffff")
    assert done.returncode == 3
    assert HERON in listed(kept)


def test_ids_are_short_and_in_either_case(kept):
    """Four digits of an id will do where they are unambiguous, in either case."""
    uid = listed(kept)[HERON]["uid"]
    assert told(kept, "show", uid[:5].upper())[0]["uid"] == uid
    assert told(kept, "show", uid)[0]["uid"] == uid


def test_stores_do_not_see_each_other(kept):
    """An id of one store means nothing in another."""
    kept.memman("store", "create", "other")
    for verb in (["forget"], ["show"], ["graph", "related"]):
        done = kept.memman(*verb, short(kept, HERON), "--store", "other")
        assert done.returncode == 3
        assert "'other'" in done.stderr
    assert HERON in listed(kept)


# --- insights ---


def test_insights_are_listed_newest_first_and_filtered(kept):
    """The list is newest first and narrows by category, source, status and number."""
    told(kept, "remember", "--category=insight", "--source=web", "I prefer tabs.")
    kept.memman("scheduler", "drain")
    assert list(listed(kept)) == ["I prefer tabs.", HERON, DATABASE, DEPLOY]
    assert list(listed(kept, category="insight")) == ["I prefer tabs."]
    assert list(listed(kept, source="web")) == ["I prefer tabs."]
    assert list(listed(kept, limit=2)) == ["I prefer tabs.", HERON]
    kept.memman("forget", short(kept, HERON))
    assert list(listed(kept, status="forgotten")) == [HERON]
    assert len(listed(kept, status="all")) == 4


def test_show_tells_where_a_memory_came_from(kept):
    """Everything known is shown: text, provenance, validity, entities, edges."""
    (record,) = told(kept, "show", short(kept, DEPLOY))
    assert record["text"] == DEPLOY
    assert record["provenance"]["cwd"] == str(kept.data.parent)
    assert record["provenance"]["host"]
    assert record["source"] == "user"
    assert "Vercel" in record["entities"]
    assert record["keywords"] == []  # the built-in model knows no word for a thing that its text does not say
    assert record["valid_to"] is None
    assert sum(record["edges"].values()) > 0
    text = kept.memman("show", short(kept, DEPLOY)).stdout
    assert all(part in text for part in (record["uid"], record["note"], DEPLOY, "Vercel", "valid", "host"))


def test_show_is_not_cut(box):
    """A long memory is shown whole."""
    text = "The heron stands " + "very " * 200 + "still."
    box.memman("remember", text)
    box.memman("scheduler", "drain")
    memory = max(told(box, "list"), key=lambda memory: len(memory["text"]))
    assert len(memory["text"]) > 200
    assert memory["text"] in box.memman("show", memory["uid"]).stdout


def test_show_knows_notes_that_wait(box):
    """A pending note is shown with its state."""
    uid = box.memman("remember", HERON).stdout.strip()
    (record,) = told(box, "show", uid[-8:])
    assert (record["kind"], record["state"], record["text"]) == ("note", "pending", HERON)
    assert HERON in box.memman("show", uid).stdout


# --- graph ---


def test_related_walks_the_edges(kept):
    """Memories around one are listed with kind, direction and distance; forgotten ones are not."""
    found = told(kept, "graph", "related", short(kept, DEPLOY), "--depth", "3")
    assert found["memory"]["text"] == DEPLOY
    assert {memory["text"] for memory in found["related"]} == {DATABASE, HERON}
    assert all(memory["kind"] and memory["direction"] in {"to", "from"} for memory in found["related"])
    kept.memman("forget", short(kept, HERON))
    found = told(kept, "graph", "related", short(kept, DEPLOY), "--depth", "3")
    assert {memory["text"] for memory in found["related"]} == {DATABASE}
    assert told(kept, "graph", "related", short(kept, DEPLOY), "--edge", "causal")["related"] == []


def test_related_goes_as_far_as_it_is_told(kept):
    """Along a chain each step further names one memory more, with its distance."""
    chain = [short(kept, text) for text in (DEPLOY, DATABASE, HERON)]
    for one, other in pairwise(chain):
        assert kept.memman("graph", "link", one, other, "--type", "causal").returncode == 0
    for depth, expected in ((1, [(DATABASE, 1)]), (2, [(DATABASE, 1), (HERON, 2)])):
        walked = told(kept, "graph", "related", chain[0], "--edge", "causal", "--depth", str(depth))["related"]
        assert [(memory["text"], memory["depth"]) for memory in walked] == expected


def test_a_persons_edge_is_kept(kept):
    """A linked pair is related, whatever the drain thinks of it later, and the log says so."""
    one, other = short(kept, DEPLOY), short(kept, DATABASE)
    done = kept.memman("graph", "link", one, other, "--type", "causal", "--weight", "0.4", "--note", "same region")
    assert done.returncode == 0
    (edge,) = told(kept, "graph", "related", one, "--edge", "causal")["related"]
    assert (edge["text"], edge["direction"], edge["weight"]) == (DATABASE, "to", 0.4)
    assert edge["detail"] == "manual: same region"
    (back,) = told(kept, "graph", "related", other, "--edge", "causal")["related"]
    assert back["direction"] == "from"
    assert told(kept, "log", "list", "--limit", "1")[0]["verb"] == "link"


def test_a_persons_edge_survives_a_rebuild(kept):
    """Rebuilding the graph relinks every memory and leaves what a person made."""
    one, other = short(kept, DEPLOY), short(kept, DATABASE)
    kept.memman("graph", "link", one, other, "--type", "temporal", "--weight", "0.01", "--note", "mine")
    assert told(kept, "graph", "rebuild")["relinked"] == 3
    details = [edge["detail"] for edge in told(kept, "graph", "related", one, "--edge", "temporal")["related"]]
    assert "manual: mine" in details


@pytest.mark.parametrize("weight", ["-1", "1.5", "nan", "heavy"])
def test_a_weight_is_between_nothing_and_one(kept, weight):
    """A weight outside 0 to 1 is refused."""
    done = kept.memman("graph", "link", short(kept, DEPLOY), short(kept, DATABASE), f"--weight={weight}")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_a_memory_is_not_linked_to_itself(kept):
    """Both ends of an edge must differ."""
    done = kept.memman("graph", "link", short(kept, DEPLOY), short(kept, DEPLOY))
    assert (done.returncode, done.stderr) == (2, "memman: a memory cannot be linked to itself\n")


# --- log ---


def test_the_log_shows_before_and_after(kept):
    """Each change is listed with what it changed, newest first, and narrows by memory, time and number."""
    old = short(kept, DEPLOY)
    kept.memman("replace", old, "We deploy on Coolify.")
    kept.memman("scheduler", "drain")
    kept.memman("forget", short(kept, HERON))
    assert [line["verb"] for line in told(kept, "log", "list")] == ["forget", "supersede", "add", "add", "add", "add"]
    change, added = told(kept, "log", "list", "--memory", old)
    assert change["before"]["status"] == "current"
    assert change["after"]["status"] == "superseded"
    assert change["after"]["superseded_by"] == listed(kept)["We deploy on Coolify."]["uid"]
    assert added["after"]["text"] == DEPLOY
    assert "status: current → superseded" in kept.memman("log", "list", "--memory", old).stdout
    assert len(told(kept, "log", "list", "--limit", "2")) == 2
    assert told(kept, "log", "list", "--since", "2100-01-01") == []
    assert len(told(kept, "log", "list", "--since", "1h")) == 6
