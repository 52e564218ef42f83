"""What a session, a drain or a note did is taken back, and that again: recall cannot tell that it ever was."""

import json
import subprocess

import pytest

from memman.commands.place import Place
from memman.commands.undo import Asked, taken_back
from memman.locks import drain_lock, exchanging
from memman.model.errors import Busy
from tests.security.test_purge import holds

TOPICS = ("billing", "search", "login", "export", "mail", "cache", "proxy", "queue", "report", "upload")
PLACES = ("Fly.io", "Render", "Vercel", "Coolify", "Hetzner")
QUESTIONS = [f"{ask} {topic}" for topic in TOPICS for ask in ("where is", "who owns", "port of", "history", "why")]


def filled(box, each=20):
    """Store two hundred memories, among them some in sessions; then let a day's work confirm a few."""
    for number in range(each):
        for place, topic in enumerate(TOPICS):
            kinds = (
                f"The {topic} service number {number} runs on {PLACES[(number + place) % 5]}.",
                f"{topic.title()} job {number} listens on port {8000 + 10 * number + place}.",
                f"Sara owns the {topic} service."
                if number == 2
                else f"The {topic} report {number} is due on day {place}.",
                f"We chose Postgres {number} for {topic} because MySQL lost rows {place + 2} times.",
            )
            box.remember(kinds[number % 4], agent="tester", session=f"s{number % 7}")
    box.drain()


def poison(box, session="evil"):
    """Have a session write thirty notes: new facts, corrections, doubtful ones, and what is known already."""
    around = {"agent": "tester", "session": session}
    for number in range(10):
        topic = TOPICS[number]
        box.remember(
            f"We moved the {topic} service number 4 from {PLACES[(4 + number) % 5]} to Mars-{number}.", **around
        )
        box.remember(f"Tom owns {topic} now.", **around)
        box.remember(
            f"{topic.title()} job 1 listens on port {8010 + number}."
            if number % 2
            else f"Kestrel-{number} is also called {topic.title()}bird and blocks the {topic} queue.",
            **around,
        )
    box.drain()


def asked(box):
    """Return what fifty recalls print."""
    said = [box.memman("recall", "--json", question).stdout for question in QUESTIONS]
    (box.data / "shown.log").unlink()  # or the next drain counts what these have shown
    return said


def state(box):
    """Return all that undo must bring back."""
    return {
        "memory": box.store(
            "SELECT id, text, status, valid_from, valid_to, superseded_by, origin FROM memory"
            " WHERE status <> 'forgotten' ORDER BY id"
        ),
        "meta": box.store(
            # What drains work out anew: neighbours, and topics.
            "SELECT key, value FROM meta WHERE key NOT GLOB 'filled:*' AND key NOT GLOB 'spread:*'"
            " AND key NOT GLOB 'topic*' AND key NOT GLOB 'summary:*' ORDER BY 1"
        ),
        "causal": box.store(
            "SELECT * FROM link WHERE kind = 2 AND src IN (SELECT id FROM memory WHERE status <> 'forgotten')"
            " AND dst IN (SELECT id FROM memory WHERE status <> 'forgotten') ORDER BY 1, 2, 3"
        ),
        "evidence": box.store("SELECT * FROM evidence ORDER BY 1, 2, 3"),
        "vector": box.store(
            "SELECT * FROM vector WHERE memory IN (SELECT id FROM memory WHERE status <> 'forgotten') ORDER BY 1, 2"
        ),
        "code": box.store("SELECT * FROM code WHERE cell >= 0 ORDER BY 1, 2, 3"),
    }


@pytest.mark.slow
def test_a_poisoned_session_is_undone_and_that_too(box):
    """Fifty recalls print the same bytes after the undo as before the session, and after its undo as before it."""
    filled(box)
    clean, before = asked(box), state(box)
    (last,) = box.store("SELECT max(id) FROM log")
    poison(box)
    poisoned, worse = asked(box), state(box)
    verbs = dict(box.store("SELECT verb, count(*) FROM log WHERE id > ? GROUP BY 1", last))
    assert verbs.keys() >= {"add", "supersede", "doubt", "confirm"}, verbs
    assert sum(one != other for one, other in zip(clean, poisoned, strict=True)) > 20
    dry = json.loads(box.memman("undo", "--session", "evil", "--dry-run", "--json").stdout)
    assert state(box) == worse
    report = undone(box, "--session", "evil")
    assert dry | {"id": report["id"]} == report
    assert (asked(box), state(box)) == (clean, before)
    box.drain()
    assert (asked(box), state(box)) == (clean, before)
    undone(box, report["id"])
    assert (asked(box), state(box)) == (poisoned, worse)
    assert box.memman("doctor", "--check", "integrity").returncode == 0
    assert box.store("SELECT count(*) FROM log WHERE verb = 'undo' AND memory = act") == [2]


def undone(box, *args):
    """Run an undo and return its report."""
    done = box.memman("undo", *args, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def statuses(box):
    """Return the status of each memory by its text."""
    return dict(box.store("SELECT text, status FROM memory"))


OLD, NEW = "The billing service runs on Fly.io.", "We moved the billing service from Fly.io to Render."


def moved(box):
    """Store a memory and what supersedes it; return the uid of the note of the latter."""
    box.remember(OLD)
    box.drain()
    uid = box.remember(NEW, session="later", agent="tester", source="user")
    box.drain()
    assert statuses(box) == {OLD: "superseded", NEW: "current"}
    return uid


@pytest.mark.parametrize("way", ["id", "since"])
def test_what_a_note_superseded_holds_again(box, way):
    """By a note's id or since a time."""
    note = moved(box)
    if way == "since":
        box.store("UPDATE receipt SET at = at - 9000000 WHERE note <> ?", note)
    report = undone(box, *(("--since", "2h") if way == "since" else (note,)))
    assert statuses(box) == {OLD: "current", NEW: "forgotten"}
    undone(box, report["id"])
    assert statuses(box) == {OLD: "superseded", NEW: "current"}


def test_a_note_that_waits_leaves_the_queue_and_comes_back(box):
    """An undo takes it out, no drain stores it, and the undo of that puts it back to be stored."""
    note = box.remember(OLD)
    report = undone(box, note)
    assert box.store("SELECT count(*) FROM record WHERE instr(body, ?)", OLD) == [0]  # nobody else is told of it
    box.drain()
    assert not statuses(box)
    undone(box, report["id"])
    box.drain()
    assert statuses(box) == {OLD: "current"}


def test_what_was_changed_since_is_left(box):
    """A memory that a person has forgotten since stays so, and the undo names it."""
    moved(box)
    (uid,) = box.store("SELECT uid FROM memory WHERE text = ?", OLD)
    assert box.memman("forget", uid).returncode == 0
    report = undone(box, "--session", "later")
    assert [(one["id"], one["why"]) for one in report["left"]] == [(uid, "was changed since")]
    assert statuses(box) == {OLD: "forgotten", NEW: "forgotten"}


def test_what_was_replaced_again_stays_replaced(box):
    """Where only what replaced a memory is undone, the memory is replaced by what came after that, until it is back."""
    note = moved(box)
    newest = "We moved the billing service from Render to Hetzner."
    box.remember(newest, session="latest", agent="tester", source="user")
    box.drain()
    heir = "SELECT n.text FROM memory m JOIN memory n ON n.id = m.superseded_by WHERE m.text = ?"
    report = undone(box, note)
    assert [(one["text"], one["why"]) for one in report["left"]] == [(OLD, "is still superseded by later memories")]
    assert statuses(box) == {OLD: "superseded", NEW: "forgotten", newest: "current"}
    assert box.store(heir, OLD) == [newest]
    undone(box, report["id"])
    assert statuses(box) == {OLD: "superseded", NEW: "superseded", newest: "current"}
    assert box.store(heir, OLD) == [NEW]


def around(box):
    """Store a memory, and say it again in a repository whose file it names and with an end; return that note."""
    work = box.data.parent / "work"
    work.mkdir()
    (work / "deploy.toml").write_text("one")
    for args in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *args], cwd=work, check=True)
    text = "The billing deploy is set in deploy.toml."
    box.remember(text)
    box.drain()
    note = box.remember(text, cwd=str(work), ends_at=4_000_000_000_000)
    box.drain()
    return note


def test_ends_and_files_that_a_confirmation_gave_are_undone(box):
    """What an older memory got from it is gone, even if the file has changed since, and comes back by the next undo."""
    note = around(box)
    asked = ("SELECT ends_at FROM freshness", "SELECT path FROM file")
    assert [box.store(sql) for sql in asked] == [[4_000_000_000_000], ["deploy.toml"]]
    box.store("UPDATE file SET changed_at = 1")
    report = undone(box, note)
    assert [[one for one in box.store(sql) if one] for sql in asked] == [[], []]
    undone(box, report["id"])
    assert [box.store(sql) for sql in asked] == [[4_000_000_000_000], ["deploy.toml"]]


def test_a_purge_clears_what_undos_keep_of_a_memory(box):
    """No byte of a file's name is left, nor of notes that waited; a rule promoted from the memory goes with it."""
    undone(box, around(box))
    undone(box, box.remember("The zanderquil waits."))
    (uid,) = box.store("SELECT uid FROM memory")
    assert len(json.loads(box.memman("undo", "list", "--json").stdout)) == 2
    assert box.memman("rule", "promote", uid, "--match", "fly deploy", "--do", "ask").returncode == 0
    assert box.store("SELECT 1 FROM record WHERE kind = 'held until' AND act IN (SELECT note FROM receipt)")
    assert box.memman("purge", uid).returncode == 0
    assert holds(box, ["deploy.toml", "zanderquil"]) == set()
    assert json.loads(box.memman("undo", "list", "--json").stdout) == []  # nothing is left to bring back
    assert box.store("SELECT count(*) FROM rule") == [0]


def test_an_undo_waits_for_drains_before_it_keeps_stores_steady(box, monkeypatch):
    """As a round of a sync does, which holds off drains and then who changes a store: neither waits for the other."""
    box.remember("The heron is the mascot of the team.")
    box.drain()
    monkeypatch.setattr("memman.locks.PATIENCE", 0)
    with drain_lock(str(box.data)), exchanging(str(box.data)), pytest.raises(Busy, match="a drain is running"):
        taken_back(Place(str(box.data), "default", ""), Asked(since=0))


def test_an_undo_is_told_by_one_id_wherever_it_is_told(box):
    """The id that `undo` prints is that of `undo list`, the log, `history` and `why`; sessions count it no more."""
    box.remember("The staging API listens on port 9090.", session="s1")
    box.drain()
    (uid,) = box.store("SELECT uid FROM memory")
    assert "1 memory," in box.memman("log", "sessions").stdout
    told = box.memman("undo", uid).stdout.rpartition(" ")[2].strip()
    for verb in (("undo", "list"), ("log", "list"), ("show", uid)):
        assert told in box.memman(*verb).stdout, verb
    assert "0 memories," in box.memman("log", "sessions").stdout
    assert "forgotten" in box.memman("log", "--session", "s1").stdout


def acted(box, session="evil"):
    """Have an agent in a session forget a memory, report another as wrong, and write a note."""
    texts = (OLD, "The heron is the mascot of the team.", "The lift is inspected in May.")
    for text in texts:
        box.remember(text, session="first", agent="tester")
    box.drain()
    uids = dict(box.store("SELECT text, uid FROM memory"))
    assert box.memman("forget", uids[texts[2]]).returncode == 0  # a person does
    box.store("UPDATE receipt SET at = at - 9000000")
    box.store("UPDATE record SET at = at - 9000000")
    box.environ.update(MEMMAN_AGENT="tester", MEMMAN_SESSION=session)
    assert box.memman("forget", uids[OLD]).returncode == 0
    assert box.memman("insights", "feedback", uids[texts[1]], "wrong").returncode == 0
    for name in ("MEMMAN_AGENT", "MEMMAN_SESSION"):
        del box.environ[name]
    return [uids[text] for text in texts]


@pytest.mark.parametrize("way", ["--session", "--since"])
def test_what_a_session_forgot_and_reported_is_undone(box, way):
    """Without a note of its own; what others forgot stays so, and the undo of that has all as the session left it."""
    forgotten, reported, others = acted(box)
    for verb in (("show", forgotten), ("log", "list", "--memory", forgotten)):
        (line,) = (line for line in box.memman(*verb).stdout.splitlines() if "  forget " in line)
        assert line.endswith("tester evil"), verb
    (line,) = (one for one in json.loads(box.memman("log", "list", "--json").stdout) if one["verb"] == "feedback")
    assert (line["agent"], line["session"]) == ("tester", "evil")
    left = state(box)
    report = undone(box, way, {"--session": "evil", "--since": "2h"}[way])
    became = {one["id"]: one["became"] for one in report["memories"]}
    assert became == {forgotten: "restored", reported: "no longer reported wrong"}
    assert dict(box.store("SELECT uid, status FROM memory")) == {
        forgotten: "current", reported: "current", others: "forgotten",
    }  # fmt: skip
    assert box.recall("where does billing run") == [OLD]
    assert box.store("SELECT kind FROM evidence WHERE kind = 'wrong'") == []
    assert "nothing to undo" in box.memman("undo", "--session", "evil").stderr
    undone(box, report["id"])
    assert state(box) == left
    assert box.recall("where does billing run") == []


def test_since_a_time_whatever_a_person_changed_is_taken_back(box):
    """What was protected, ended, restored or approved, too; not only notes and what was forgotten."""
    kept, gone = (box.remember(text) for text in ("Alpha is the cache.", "Beta is the queue."))
    box.drain()
    uids = dict(box.store("SELECT note, uid FROM memory"))
    box.memman("forget", uids[gone])
    for table in ("record", "receipt"):
        box.store(f"UPDATE {table} SET at = at - 9000000")
    box.person("insights", "protect", uids[kept])
    box.memman("insights", "expire", uids[kept])
    box.memman("forget", "--undo", uids[gone])
    report = undone(box, "--since", "2h")
    assert {one["id"]: one["became"] for one in report["memories"]} == {
        uids[kept]: "without an end; no longer protected",
        uids[gone]: "undone",
    }
    assert box.store("SELECT text FROM memory WHERE status = 'current'") == ["Alpha is the cache."]


def test_the_last_session_is_undone_by_that_word(box):
    """As `log --session last` shows it."""
    for session in ("one", "two"):
        box.remember(f"The heron of session {session} nests by the river.", agent="tester", session=session)
        box.drain()
    assert [one["text"] for one in undone(box, "--session", "last")["memories"]] == [
        "The heron of session two nests by the river."
    ]


def test_a_time_since_which_nothing_came_is_told_plainly(box):
    """In one line, which says that there is nothing to undo."""
    done = box.memman("undo", "--since", "2h")
    assert (done.returncode, done.stderr) == (3, "memman: there is nothing to undo since then\n")


def test_notes_and_undos_are_named_by_any_beginning_that_names_no_other(box):
    """Of the whole id or of the eight letters that are shown; one that several begin with is refused in one line."""
    notes = [box.remember(text, session="s1") for text in (OLD, "The heron is the mascot of the team.")]
    box.drain()
    waiting = box.remember("The lift is inspected in May.")
    for note in (*notes, waiting):
        for part in (note, note[:-2], note[-8:], note[-8:-3], note[-8:-3].upper()):
            (shown,) = json.loads(box.memman("show", part, "--json").stdout)
            assert note in (shown.get("note"), shown["uid"]), part
    for part in (notes[0][:-2], notes[0][-8:-3]):
        assert OLD in box.memman("show", part).stdout, part
        assert OLD in box.memman("purge", part, "--dry-run").stdout
    done = box.memman("undo", notes[0][:4], "--dry-run")
    assert (done.returncode, done.stderr.count("\n")) == (3, 1)
    assert "ambiguous" in done.stderr
    report = undone(box, notes[0][-8:-3])
    for part in (report["id"][:-2], report["id"][-8:-3], report["id"][-8:], report["id"]):
        assert f"undo {report['id'][-8:]}" in json.loads(box.memman("undo", part, "--dry-run", "--json").stdout)["what"]


def test_a_time_to_come_undoes_nothing(box):
    """It is said so in one line."""
    done = box.memman("undo", "--since", "2199-01-01", "--dry-run")
    assert done.returncode == 2
    assert "in the future" in done.stdout + done.stderr
