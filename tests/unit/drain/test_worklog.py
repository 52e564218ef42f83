"""The worker's log: what drains did, in lines that never hold a note's text, and never in a drain's way."""

import json
import os
import stat
from contextlib import closing
from pathlib import Path

import pytest

from memman.clock import now_ms
from memman.config.places import LOG_FILES, log_path
from memman.drain.health import TRIPS, Health
from memman.drain.worklog import LARGEST, Worklog, lines
from memman.queue.notes import Queue
from tests.support.box import PATIENCE
from tests.support.providers import GARBAGE_BODY, ScriptedProvider, status

SECRET = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"


def log(box):
    """Return every line of the log."""
    return lines(str(box.data), 10_000)


def events(box):
    """Return the events of the log, in order."""
    return [line["event"] for line in log(box)]


def raw(box):
    """Return the log's files as one text."""
    return "".join(path.read_text() for path in sorted((box.data / "logs").iterdir()))


def test_a_drain_says_what_became_of_each_note(box):
    """A line when the drain starts, one a note with its store, its time and its yield, one at the end."""
    uid = box.remember("We deploy billing on Vercel.")
    other = box.remember("The heron nests.", store="birds")
    box.drain()
    assert events(box) == ["drain started", "note done", "note done", "drain ended"]
    started, first, second, ended = log(box)
    assert started["waiting"] == 2
    assert {(line["note"], line["store"], line["added"]) for line in (first, second)} == {
        (uid, "default", 1),
        (other, "birds", 1),
    }
    assert isinstance(first["ms"], int)
    assert (ended["done"], ended["added"], ended["parked"], ended["stopped"]) == (2, 2, 0, "")
    assert ended["level"] == "info"
    assert started["at"] <= first["at"] <= ended["at"] <= now_ms()


def test_the_log_is_private_from_the_start(box):
    """The folder is 0700 and the file 0600, whatever the umask."""
    before = os.umask(0)
    try:
        box.remember("The heron nests.")
        box.drain()
    finally:
        os.umask(before)
    modes = [stat.S_IMODE(os.stat(path).st_mode) for path in (box.data / "logs", log_path(str(box.data)))]
    assert modes == [0o700, 0o600]


def test_a_drain_that_finds_nothing_leaves_no_line(box):
    """The timer comes round every minute; only at level debug is that worth a line."""
    box.drain()
    assert log(box) == []
    box.configure(LOG_LEVEL="debug")
    box.drain()
    assert events(box) == ["drain started", "maintenance", "drain ended"]


def test_trouble_is_logged_with_its_class_and_code(box):
    """Deferred notes, and the breaker's opening and closing, each have their line."""
    with ScriptedProvider(script=[status(503)] * 3) as provider:
        box.use(provider, DRAIN_CONCURRENCY=1)
        for n in range(3):
            box.remember(f"Worker {n} reads topic {n}.")
        box.drain()
        assert [event for event in events(box) if event != "breaker opened"] == [
            "drain started",
            *["note deferred"] * 3,
            "drain ended",
        ]
        deferred = next(line for line in log(box) if line["event"] == "note deferred")
        assert (deferred["error"], deferred["code"]) == ("ProviderUnavailable", 21)
        assert "503" in deferred["message"]
        assert events(box).count("breaker opened") == 1
        box.drain()
    assert events(box).count("breaker closed") == 1


def test_a_breaker_that_opens_and_closes_in_one_drain_is_closed(box):
    """A note that was past its last call when the third failure came closes the breaker for the status too."""
    told = []
    with closing(Queue(str(box.data))) as queue:
        health = Health(queue, lambda event, **_: told.append(event))
        for _ in range(TRIPS):
            health.failed("it answered 503")
        assert queue.meta("breaker") == "it answered 503"
        health.served()
        assert queue.meta("breaker") == ""
    assert told == ["breaker opened", "breaker closed"]


def test_a_note_that_fails_by_itself_is_logged_failed_and_then_parked(box):
    """Its uid and the class of the error are there; the message, which may quote the note, is not."""
    uid = box.remember("The quixotic heron nests.")
    box.queue("UPDATE note SET store = 'quixotic heron' WHERE uid = ?", uid)
    box.drain()
    box.queue("UPDATE note SET attempts = 4 WHERE uid = ?", uid)
    box.drain()
    troubles = [line for line in log(box) if line.get("error")]
    assert [(line["event"], line["note"]) for line in troubles] == [("note failed", uid), ("note parked", uid)]
    assert {line["error"] for line in troubles} == {"UsageError"}
    assert not any("message" in line for line in troubles)


@pytest.mark.parametrize("level", ["info", "debug"])
def test_no_text_at_level_info_and_no_secret_at_any(box, level):
    """What a note says stays out of the log until level debug asks for it, and a secret even then."""
    box.configure(LOG_LEVEL=level)
    box.remember(f"The quixotic heron uses password {SECRET} for billing.")
    box.drain()
    assert ("quixotic" in raw(box)) == (level == "debug")
    assert SECRET not in raw(box)
    stages = [line["stage"] for line in log(box) if line["event"] == "stage"]
    assert stages == (
        ["redact", "extract", "reconcile", "enrich", "embed", "link", "weigh", "commit"] if level == "debug" else []
    )


def test_a_provider_that_quotes_the_note_is_not_quoted(box):
    """A reply that repeats the text in its error leaves only its status and code in the log."""
    quoting = status(400, body=b'{"error":{"message":"cannot process: The quixotic heron nests","code":"bad_text"}}')
    with ScriptedProvider(script=lambda _: quoting) as provider:
        box.use(provider)
        box.remember("The quixotic heron nests.")
        box.drain()
    with ScriptedProvider(script=lambda _: GARBAGE_BODY) as provider:
        box.use(provider)
        box.drain()
    assert {"note deferred"} <= set(events(box))
    assert "quixotic" not in raw(box)


def test_what_ends_a_drain_early_is_logged(box):
    """A bad value in the env file stops the drain, and the log says so."""
    box.configure(LLM_PROVIDER="nobody")
    assert box.memman("scheduler", "drain").returncode == 78
    (line,) = log(box)
    assert (line["event"], line["error"], line["code"]) == ("drain failed", "BadConfig", 78)


def test_a_log_that_cannot_be_written_hurts_no_drain(box):
    """A file where the folder should be, or a folder where the file should be: notes land all the same."""
    box.data.mkdir(mode=0o700)
    (box.data / "logs").write_text("in the way")
    box.remember("The heron nests.")
    assert box.drain().done == 1
    (box.data / "logs").unlink()
    (box.data / "logs" / "worker.jsonl").mkdir(parents=True)
    box.remember("The ibis nests too.")
    assert box.drain().done == 1
    assert log(box) == []


def test_the_log_turns_over_and_keeps_its_last_parts(tmp_path):
    """Full files move up by one, three are kept, none is larger than it may be, and the newest lines are read back."""
    data = str(tmp_path)
    with Worklog(data, largest=1000) as worklog:
        for n in range(100):
            worklog.write("note done", number=n)
    parts = sorted((tmp_path / "logs").iterdir())
    assert [part.name for part in parts] == ["worker.jsonl", "worker.jsonl.1", "worker.jsonl.2"]
    assert all(part.stat().st_size <= 1000 for part in parts)
    assert all(stat.S_IMODE(part.stat().st_mode) == 0o600 for part in parts)
    kept = [line["number"] for line in lines(data, 100)]
    assert kept == list(range(100 - len(kept), 100))
    assert [line["number"] for line in lines(data, 3)] == [97, 98, 99]
    assert (LARGEST, LOG_FILES) == (5 * 2**20, 3)


def test_a_file_that_is_full_when_opened_turns_over_at_the_first_line(tmp_path):
    """The size counts what earlier drains wrote."""
    for n in range(4):
        with Worklog(str(tmp_path), largest=100) as worklog:
            worklog.write("note done", number=n, filler="x" * 30)
    assert [line["number"] for line in lines(str(tmp_path), 10)] == [1, 2, 3]


def test_torn_and_foreign_lines_are_passed_over(tmp_path):
    """A line cut short by a crash, bytes that are no text, and JSON that is no line do not hide the others."""
    path = tmp_path / "logs" / "worker.jsonl"
    path.parent.mkdir()
    good = json.dumps({"at": 5, "level": "info", "event": "note done"})
    path.write_bytes(b'{"at": 1, "ev\n\xff\xfe\n[]\n17\n{"at":"x","event":1}\n' + good.encode() + b'\n{"at": 9')
    assert lines(str(tmp_path), 10) == [{"at": 5, "level": "info", "event": "note done"}]
    assert lines(str(tmp_path), 10, since=6) == []
    assert lines(str(tmp_path / "nowhere"), 10) == []


def test_a_line_after_a_torn_one_is_not_lost(box):
    """What a crash tore off is ended first, so that the next drain's lines can be read."""
    box.remember("The heron nests.")
    box.drain()
    with open(log_path(str(box.data)), "ab") as torn:
        torn.write(b'{"at": 9, "ev')
    before = len(log(box))
    box.remember("The ibis nests too.")
    box.drain()
    assert len(log(box)) == before + 3
    assert b"\n\n" not in Path(log_path(str(box.data))).read_bytes()


def test_a_line_that_did_not_fit_on_the_disk_is_the_last(box):
    """A file that may grow no further ends the log of that drain, and its notes land all the same."""
    box.remember("The heron nests.")
    box.drain()
    room = os.stat(log_path(str(box.data))).st_size + 10
    code = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "from memman.drain.worklog import Worklog\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, {room}))\n"
        f"with Worklog({str(box.data)!r}) as log: log.write('note done'); log.write('note done')\n"
    )
    with box.start_drain(code) as writer:
        assert writer.communicate(timeout=PATIENCE) == ("", "")
    box.remember("The ibis nests too.")
    box.drain()
    assert events(box)[-3:] == ["drain started", "note done", "drain ended"]


def test_no_word_of_a_providers_error_is_logged(box):
    """Its code may be made of the note's words."""
    answer = status(400, body=json.dumps({"error": {"code": "quixotic_heron_nests"}}).encode())
    with ScriptedProvider(script=lambda _: answer) as provider:
        box.use(provider)
        box.remember("The quixotic heron nests.")
        box.drain()
    assert "quixotic_heron" not in raw(box)
    assert "400" in raw(box)


def test_the_verb_shows_the_log(box):
    """`log worker` prints lines for people, or as JSON; --limit and --since narrow them."""
    uid = box.remember("The heron nests.")
    box.drain()
    told = json.loads(box.memman("log", "worker", "--json").stdout)
    assert told == log(box)
    printed = box.memman("log", "worker").stdout.splitlines()
    assert len(printed) == 3
    assert f"note done {uid[-8:]}  store=default" in printed[1]
    assert len(box.memman("log", "worker", "--limit", "1").stdout.splitlines()) == 1
    assert box.memman("log", "worker", "--since", "2100-01-01").stdout == "no drain has written to the log\n"
    assert box.memman("log", "worker", "--since", "soon").returncode == 2


def test_the_log_of_a_store_is_counted_by_verb_and_day(box):
    """`log list --stats` sums up what was done; --since narrows it, and --memory does not go with it."""
    for text in ("We deploy on Vercel.", "The heron nests."):
        box.remember(text)
    box.drain()
    box.alter("UPDATE record SET at = 86400000 * 366 + 43200000 WHERE id = (SELECT min(id) FROM log)")
    told = json.loads(box.memman("log", "list", "--stats", "--json").stdout)
    assert told["verbs"] == {"add": 2}
    today, long_ago = told["days"]
    assert long_ago.startswith("1971-01-0")
    assert today > long_ago
    since = json.loads(box.memman("log", "list", "--stats", "--since", "7d", "--json").stdout)
    assert since == {"verbs": {"add": 1}, "days": {today: {"add": 1}}}
    assert box.memman("log", "list", "--stats").stdout.splitlines()[0].split() == ["in", "all", "2", "add"]
    assert box.memman("log", "list", "--stats", "--memory", "x").returncode == 2
