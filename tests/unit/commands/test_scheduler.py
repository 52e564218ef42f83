"""The drain, the queue and status, through the command line only."""

import json
import os
import pty
import subprocess
import termios

from memman.model.errors import ProviderUnavailable
from memman.model.vocabulary import EDGE_KINDS
from tests.support.box import PATIENCE, no
from tests.support.providers import ScriptedProvider


def told(box, *args):
    """Run a command that must succeed; return its JSON."""
    done = box.memman(*args, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def parked(box, text="The heron nests"):
    """Queue a note and park it, as five failures would."""
    uid = box.memman("remember", text).stdout.strip()
    box.queue("UPDATE note SET state = 'parked', attempts = 5, error = 'it is too strange' WHERE uid = ?", uid)
    return uid


def test_a_drain_says_in_one_line_what_it_did(box):
    """One summary line, and an empty queue is no failure."""
    for text in ("We deploy on Vercel.", "The heron nests."):
        box.memman("remember", text)
    done = box.memman("scheduler", "drain")
    expected = "processed 2 notes: 2 added, 0 superseded, 0 already known; 0 deferred, 0 parked\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, expected, "")
    assert box.memman("scheduler", "drain").stdout.startswith("processed 0 notes")
    assert told(box, "scheduler", "drain")["done"] == 0


def test_a_drain_can_be_narrowed(box):
    """--limit takes so many notes, --store those of one store."""
    for store in ("a", "b"):
        box.memman("store", "create", store)
        for n in range(3):
            box.memman("--store", store, "remember", f"Note {n} of store {store} about herons")
    assert "processed 2 notes" in box.memman("scheduler", "drain", "--limit", "2").stdout
    assert "processed 3 notes" in box.memman("--store", "b", "scheduler", "drain").stdout
    assert "processed 1 note:" in box.memman("scheduler", "drain").stdout


def test_a_drain_prints_each_error_once(box):
    """A provider that is down is named once on standard error; nothing is lost and the exit code says so."""
    box.configure(LLM_PROVIDER="openai", LLM_ENDPOINT="http://127.0.0.1:9", LLM_API_KEY="k", HTTP_TRIES=1)
    for n in range(3):
        box.memman("remember", f"Note {n} about herons")
    done = box.memman("scheduler", "drain")
    assert done.returncode == ProviderUnavailable.exit_code
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("memman: ")
    assert "3 deferred" in done.stdout
    status = told(box, "status")
    assert status["breaker"]
    assert status["queue"]["states"]["pending"] == 3
    assert status["last_drain"]["deferred"] == 3


def test_a_progress_bar_is_only_for_a_terminal(box):
    """On a terminal a drain shows a bar; into a pipe it shows none."""
    box.memman("remember", "We deploy on Vercel.")
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    with subprocess.Popen(
        [box.script, "scheduler", "drain"], env=box.environ, cwd=box.data.parent, stderr=theirs, stdout=subprocess.PIPE
    ) as process:
        process.communicate(timeout=PATIENCE)
    os.write(theirs, b"that was all\n")
    shown = os.read(ours, 65_536)
    os.close(theirs)
    assert b"draining" in shown
    os.close(ours)


def test_the_queue_is_listed_by_state_and_store(box):
    """Waiting notes are listed newest first; done ones when asked for."""
    box.memman("remember", "The first heron")
    box.memman("scheduler", "drain")
    box.memman("remember", "The second heron")
    box.memman("store", "create", "b")
    box.memman("--store", "b", "remember", "The third heron")
    gone = parked(box, "The fourth heron")
    queue = told(box, "scheduler", "queue", "list")
    assert [note["text"] for note in queue] == ["The fourth heron", "The third heron", "The second heron"]
    assert [note["text"] for note in told(box, "scheduler", "queue", "list", "--store", "b")] == ["The third heron"]
    assert [note["uid"] for note in told(box, "scheduler", "queue", "list", "--state", "parked")] == [gone]
    assert len(told(box, "scheduler", "queue", "list", "--state", "done")) == 1
    assert len(told(box, "scheduler", "queue", "list", "--limit", "1")) == 1
    assert gone[-8:] in box.memman("scheduler", "queue", "list").stdout


def test_a_parked_note_is_shown_and_sent_round_again(box):
    """`queue failed` says what went wrong; `retry` lets the next drain take the note."""
    uid = parked(box)
    assert "it is too strange" in box.memman("scheduler", "queue", "failed").stdout
    assert told(box, "scheduler", "queue", "show", uid[-8:])["error"] == "it is too strange"
    assert "The heron nests" in box.memman("scheduler", "queue", "show", uid).stdout
    assert "1 note will be retried" in box.memman("scheduler", "queue", "retry", uid[-8:]).stdout
    assert "1 added" in box.memman("scheduler", "drain").stdout
    refused = box.memman("scheduler", "queue", "retry", uid[-8:])
    assert (refused.returncode, "is not parked" in refused.stderr) == (2, True)


def test_all_parked_notes_are_sent_round_again(box):
    """`retry --all` takes every parked note, of one store where that is named."""
    for n in range(3):
        parked(box, f"Heron number {n}")
    assert "0 notes" in box.memman("scheduler", "queue", "retry", "--all", "--store", "other").stdout
    assert "3 notes" in box.memman("scheduler", "queue", "retry", "--all").stdout
    assert box.states() == {"pending": 3}


def test_purging_deletes_only_what_is_named(box):
    """`purge --done` leaves parked notes; `--parked` asks."""
    box.memman("remember", "The first heron")
    box.memman("scheduler", "drain")
    parked(box)
    assert box.memman("scheduler", "queue", "purge", "--done").stdout == "deleted 1 done\n"
    assert box.states() == {"parked": 1}
    assert box.person("scheduler", "queue", "purge", "--parked", answer=no).returncode == 77
    assert box.states() == {"parked": 1}
    assert box.memman("scheduler", "queue", "purge", "--parked").stdout == "deleted 1 parked\n"


def test_status_shows_the_whole_state(box):
    """Counts, queue, providers, the last drain, schema and vectors are all on one page."""
    box.memman("remember", "--category", "fact", "We deploy on Vercel because Vercel is simple.")
    box.memman("remember", "--category", "preference", "I prefer herons.")
    box.memman("scheduler", "drain")
    parked(box)
    box.memman("remember", "One that waits")
    status = told(box, "status")
    assert sum(status["memories"]["by_status"].values()) == status["last_drain"]["added"]
    assert status["memories"]["by_category"]["preference"] == 1
    assert set(status["edges"]) <= {*EDGE_KINDS}
    assert (status["queue"]["states"]["pending"], status["queue"]["states"]["parked"]) == (1, 1)
    assert status["queue"]["oldest_seconds"] < 60
    assert status["providers"]["llm"]["provider"] == "builtin"
    assert status["providers"]["embed"]["model"]
    assert status["last_drain"]["done"] == 2
    assert status["schema"]["store"] >= 1
    assert status["fingerprints"][0]["vectors"] == status["last_drain"]["added"]
    assert status["store"]["bytes"] > 0
    text = box.memman("status").stdout
    assert all(word in text for word in ("default\n", "memories", "1 parked", "last drain", "embedder", "version"))


def test_status_shows_what_providers_cost(box):
    """Calls, tokens and cost of today are shown a stage, with the budget."""
    with ScriptedProvider() as provider:
        box.use(provider, LLM_PRICE="1,2", EMBED_PRICE=1, BUDGET_USD=5)
        box.memman("remember", "We deploy on Vercel.")
        assert box.memman("scheduler", "drain").returncode == 0
    status = told(box, "status")
    assert {entry["stage"] for entry in status["spend"]["stages"]} >= {"extract", "embed"}
    assert status["spend"]["tokens"] > 0
    assert status["budget"]["usd"] == 5
    extract = next(entry for entry in status["spend"]["stages"] if entry["stage"] == "extract")
    assert extract["calls"] == 1
    assert "extract 1 call" in box.memman("status").stdout


def test_embed_says_what_made_the_vectors(box):
    """`embed status` and `embed reembed` work on a fresh store."""
    box.memman("remember", "We deploy on Vercel.")
    box.memman("scheduler", "drain")
    assert box.memman("embed", "status").returncode == 0
    assert told(box, "embed", "status")
    assert "embedded 0 memories" in box.memman("embed", "reembed").stdout
