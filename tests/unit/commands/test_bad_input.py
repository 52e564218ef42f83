"""Whatever is typed, found on disk or closed: one clear line, a documented exit code, and nothing lost."""

import json
import os
import subprocess

import pytest

from memman.model.errors import (
    AmbiguousId,
    BadConfig,
    Busy,
    CannotWrite,
    DamagedFile,
    NewerSchema,
    UnknownId,
    UnknownStore,
    UsageError,
)

NOTE = "We deploy on Vercel. The database is Postgres in Frankfurt."
USAGE, ID, STORE, CONFIG = UsageError.exit_code, UnknownId.exit_code, UnknownStore.exit_code, BadConfig.exit_code
DAMAGED, NEWER, WRITE = DamagedFile.exit_code, NewerSchema.exit_code, CannotWrite.exit_code
BROKEN_PIPE = 141
# Keeps root from reading and writing what its permissions forbid.

# Command line -> exit code, what the one line on standard error says.
TYPED = [
    (["foo"], USAGE, "there is no verb 'foo'"),
    (["rember", "x"], USAGE, "did you mean 'remember'?"),
    (["insights", "lst"], USAGE, "did you mean 'list'?"),
    (["insights"], USAGE, "which one? list, show"),
    (["status", "--no-such"], USAGE, "No such option"),
    (["recall", "--limit"], USAGE, "requires an argument"),
    (["recall", "--json=1", "x"], USAGE, "does not take a value"),
    (["list", "--limit", "0"], USAGE, "not in the range"),
    (["list", "--category", "food"], USAGE, "is not one of"),
    (["show"], USAGE, "give an ID, or a question with --query"),
    (["\x1b[31mred\nline"], USAGE, "there is no verb"),
    (["remember", ""], USAGE, "nothing to remember"),
    (["wiki", "build", ""], USAGE, "the name of the folder is empty"),
    (["remember", " \n\t "], USAGE, "nothing to remember"),
    (["remember", b"\xff\xfe"], USAGE, "not UTF-8"),
    (["remember", "--category", "food", "x"], USAGE, "--category takes one of"),
    (["remember", "--importance", "9", "x"], USAGE, "--importance takes one of"),
    (["recall", ""], USAGE, "nothing to search for"),
    (["recall", "--limit", "many", "x"], USAGE, "--limit takes a whole number"),
    (["recall", "--since", "yesterdayish", "x"], USAGE, "--since takes a date"),
    (["recall", "--store", "nope", "x"], STORE, "no store named 'nope'"),
    (["--store", "nope", "list"], STORE, "no store named 'nope'"),
    (["status", "--store", "defalt"], STORE, "did you mean 'default'?"),
    (["store", "use", "nope"], STORE, "no store named 'nope'"),
    (["store", "remove", "nope"], STORE, "no store named 'nope'"),
    (["store", "bind", "nope"], USAGE, "not in a repository"),
    (["store", "create", "../x"], USAGE, "is not allowed"),
    (["store", "create", "a\nb"], USAGE, "is not allowed"),
    (["store", "create", "x" * 300], USAGE, "is not allowed"),
    (["store", "create", ""], USAGE, "is not allowed"),
    (["--store", "", "recall", "x"], USAGE, "is not allowed"),
    (["remember", "--store=../x", "x"], USAGE, "is not allowed"),
    (["show", "zzzz"], ID, "no memory or queued note"),
    (["show", "../x"], USAGE, "is not an id"),
    (["show", "é" * 8], USAGE, "is not an id"),
    (["forget", "ffffffff"], ID, "no memory or queued note"),
    (["forget", "ab"], USAGE, "is not an id"),
    (["purge", "ffffffff"], ID, "no memory or queued note"),
    (["purge", "abcdef", "--undo"], USAGE, "No such option"),
    (["replace", "ffffffff", "x"], ID, "no memory or queued note"),
    (["graph", "related", "ffffffff"], ID, "no memory or queued note"),
    (["scheduler", "queue", "show", "ffffffff"], ID, "no note has the id"),
    (["scheduler", "queue", "retry"], USAGE, "--all"),
    (["scheduler", "queue", "purge"], USAGE, "nothing selected"),
    (["scheduler", "drain", "--limit", "x"], USAGE, "not a valid integer"),
    (["embed", "swap"], USAGE, "Missing option '--to'"),
    (["config", "set", "LLM_MODEL_FAST", "a\nb"], CONFIG, "newline"),
    (["config", "set", "HTTP_TRIES", "99"], CONFIG, "whole number"),
    (["config", "set", "HTTP_TRYS", "9"], CONFIG, "did you mean MEMMAN_HTTP_TRIES?"),
    (["config", "get", "nothing"], CONFIG, "there is no key"),
    (["config", "set", "FOO", "x"], CONFIG, "config show` lists them"),
    (["store", "use", "work"], STORE, "there is no store named 'work': there is only 'default'; `"),
    (["config", "unset", "nothing"], CONFIG, "there is no key"),
    (["log", "list", "--since", "soon"], USAGE, "--since takes a date"),
    (["completion", "tcsh"], USAGE, "is not one of"),
    (["doctor", "--check", "env"], USAGE, "is not one of 'folder', 'integrity'"),
]
# Verbs that must read the queue or the store, and those that must write one.
QUEUE_VERBS = (["remember", "x"], ["status"], ["scheduler", "drain"], ["scheduler", "queue", "list"], ["store", "list"])
STORE_VERBS = (["recall", "x"], ["status"], ["list"], ["log", "list"], ["forget", "abcdef"])
WRITING_VERBS = (
    ["remember", "x"],
    ["scheduler", "drain"],
    ["config", "set", "HTTP_TRIES", "2"],
    ["store", "create", "other"],
    ["store", "use", "default"],
    ["store", "remove", "default"],
    ["scheduler", "queue", "retry", "--all"],
)
ANY_VERBS = (*QUEUE_VERBS, *STORE_VERBS, *WRITING_VERBS)


@pytest.fixture
def kept(box):
    """Give a box whose store holds two memories."""
    box.remember(NOTE)
    assert box.drain().added == 2
    return box


def assert_one_line(done, code, says):
    """Check an exit code and that standard error is one line of ours."""
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("memman: ")
    assert done.stderr[:-1].isprintable()
    assert says in done.stderr


def memories(box):
    """Return the texts that `insights list` shows."""
    return [memory["text"] for memory in json.loads(box.memman("list", "--json").stdout)]


@pytest.mark.parametrize(("args", "code", "says"), TYPED, ids=lambda value: str(value)[:40])
def test_a_bad_command_is_one_line_and_changes_nothing(kept, args, code, says):
    """A bad command gives one line and its exit code, queues nothing and removes nothing."""
    assert_one_line(kept.memman(*args), code, says)
    assert sorted(memories(kept)) == ["The database is Postgres in Frankfurt.", "We deploy on Vercel."]
    assert kept.states() == {"done": 1}


@pytest.mark.parametrize("given", [b"", b" \n", b"\xff\xfe\x00", b"a\0b", b"x" * 65_537], ids=lambda raw: repr(raw[:8]))
def test_bad_text_on_standard_input_is_refused(box, given):
    """Empty, binary and over-long input is refused, whether asked for with - or piped in."""
    for args in (["remember", "-"], ["remember"]):
        done = box.memman(*args, input=given, text=False)
        assert done.returncode == USAGE
        assert done.stderr.count(b"\n") == 1
        assert done.stdout == b""
    assert not box.data.exists() or box.states() == {}


def test_text_up_to_the_limit_is_taken(box):
    """64 KiB of text, of any script and many lines, is queued as it is."""
    text = ("naïve café 記憶 🐘\n" * 4000).encode()[:65_536].decode(errors="ignore")
    assert box.memman("remember", "-", input=text).returncode == 0
    assert box.queue("SELECT text FROM note") == [text.strip()]


def test_an_ambiguous_id_names_the_candidates(kept):
    """An id that several notes end with names up to five of them."""
    for n in range(7):
        kept.remember(f"note number {n}")
    for uid in kept.queue("SELECT uid FROM note WHERE state = 'pending'"):
        kept.queue("UPDATE note SET uid = substr(uid, 1, 28) || 'beef', digest = NULL WHERE uid = ?", uid)
    done = kept.memman("forget", "beef")
    assert_one_line(done, AmbiguousId.exit_code, "and others")
    assert done.stderr.count("beef, ") == 4
    assert kept.states() == {"done": 1, "pending": 7}


@pytest.mark.parametrize("args", QUEUE_VERBS, ids=" ".join)
def test_a_damaged_queue_is_named_and_left_alone(kept, args):
    """A queue.db full of garbage gives one line and is not touched."""
    _spoil(kept.queue_path)
    garbage = kept.queue_path.read_bytes()
    assert_one_line(kept.memman(*args), DAMAGED, "queue.db is damaged")
    assert kept.queue_path.read_bytes() == garbage


@pytest.mark.parametrize("args", STORE_VERBS, ids=" ".join)
def test_a_damaged_store_is_named_and_left_alone(kept, args):
    """A memman.db full of garbage gives one line and is not touched."""
    _spoil(kept.store_path())
    garbage = kept.store_path().read_bytes()
    assert_one_line(kept.memman(*args), DAMAGED, "memman.db is damaged")
    assert kept.store_path().read_bytes() == garbage


def test_a_damaged_store_loses_no_note(kept):
    """With its store damaged a note still waits in the queue after a drain, and the other stores are listed."""
    kept.memman("store", "create", "other")
    _spoil(kept.store_path())
    assert kept.memman("remember", "Keep this.").returncode == 0
    done = kept.memman("scheduler", "drain")
    assert_one_line(done, 12, "memman.db is damaged")
    assert kept.states() == {"done": 1, "pending": 1}
    listed = kept.memman("store", "list")
    assert listed.returncode == 0
    assert "other" in listed.stdout
    assert "is damaged" in listed.stdout


def test_recall_answers_from_the_store_when_the_queue_is_damaged(kept):
    """With a damaged queue recall still shows what is stored, and says what it could not search."""
    _spoil(kept.queue_path)
    done = kept.memman("recall", "where do we deploy")
    assert_one_line(done, 0, "queued notes were not searched")
    assert "Vercel" in done.stdout


@pytest.mark.parametrize("args", [["remember", "x"], ["status"], ["scheduler", "drain"]], ids=" ".join)
def test_a_newer_queue_is_refused(kept, args):
    """A queue.db of a newer schema gives one line and stays as it is."""
    kept.queue("PRAGMA user_version = 999")
    assert_one_line(kept.memman(*args), NEWER, "upgrade memman; nothing was changed")


@pytest.mark.parametrize("args", STORE_VERBS, ids=" ".join)
def test_a_newer_store_is_refused(kept, args):
    """A memman.db of a newer schema gives one line and stays as it is."""
    kept.store("PRAGMA user_version = 999")
    assert_one_line(kept.memman(*args), NEWER, "upgrade memman; nothing was changed")


@pytest.mark.parametrize("args", ANY_VERBS, ids=" ".join)
def test_a_data_folder_that_is_a_file_is_named(box, args):
    """MEMMAN_DATA_DIR naming a file gives one line that names it."""
    box.data.write_text("not a folder")
    assert_one_line(box.memman(*args), WRITE, str(box.data))


@pytest.mark.parametrize("args", [["status"], ["recall", "x"], ["list"], ["log", "list"], ["store", "list"]])
def test_looking_creates_nothing(box, args):
    """Verbs that only look leave a fresh machine as it was."""
    assert box.memman(*args).returncode == 0
    assert not box.data.exists()


@pytest.mark.parametrize("args", WRITING_VERBS, ids=" ".join)
def test_a_read_only_data_folder_is_named(kept, args):
    """Writing to a read-only data folder gives one line; looking still works."""
    _chmod(kept.data, 0o500, 0o400)
    assert_one_line(kept.mortal(*args), WRITE, str(kept.data))
    assert "Vercel" in kept.mortal("recall", "where do we deploy").stdout
    assert "2 current" in kept.mortal("status").stdout


@pytest.mark.parametrize("args", ANY_VERBS, ids=" ".join)
def test_a_closed_data_folder_is_named(kept, args):
    """A data folder that may not be looked into is an error, not an empty memory."""
    kept.data.chmod(0)
    try:
        assert_one_line(kept.mortal(*args), WRITE, str(kept.data))
    finally:
        kept.data.chmod(0o700)


@pytest.mark.parametrize("args", QUEUE_VERBS, ids=" ".join)
def test_an_unreadable_queue_is_named(kept, args):
    """A queue.db that may not be opened gives one line."""
    kept.queue_path.chmod(0)
    assert_one_line(kept.mortal(*args), WRITE, "queue.db")


def test_a_configuration_others_can_read_is_refused(kept):
    """An env file with loose permissions stops what would use its secrets, and says how to mend it."""
    (kept.data / "env").write_text("MEMMAN_LLM_API_KEY=sk-1234\n")
    (kept.data / "env").chmod(0o644)
    assert_one_line(kept.memman("scheduler", "drain"), CONFIG, "run chmod 600")


@pytest.mark.parametrize("args", [("status",), ("config", "show")], ids=" ".join)
def test_what_shows_the_configuration_still_does_when_it_is_wrong(kept, args):
    """A bad value and loose permissions are named on standard error; everything else is shown."""
    (kept.data / "env").write_text("MEMMAN_HTTP_TRIES=many\nMEMMAN_HTTP_TIMEOUT=7\n")
    (kept.data / "env").chmod(0o644)
    process = kept.memman(*args)
    assert process.returncode == 0
    assert "chmod 600" in process.stderr
    assert "MEMMAN_HTTP_TRIES takes a whole number" in process.stderr
    assert process.stdout


def test_a_store_name_in_the_environment_is_checked(box):
    """MEMMAN_STORE may not walk out of the data folder."""
    box.environ["MEMMAN_STORE"] = "../../etc"
    for args in (["remember", "x"], ["recall", "x"], ["status"]):
        assert_one_line(box.memman(*args), USAGE, "is not allowed")


def test_a_reader_who_leaves_is_no_failure(kept):
    """A pipe closed by its reader ends the command in silence."""
    for args in (["list"], ["--help"], ["status"], ["recall", "deploy"], ["log", "list", "--json"]):
        reader, writer = os.pipe()
        os.close(reader)
        done = kept.memman(*args, capture_output=False, stdout=writer, stderr=subprocess.PIPE)
        os.close(writer)
        assert (done.returncode, done.stderr) == (BROKEN_PIPE, "")


def test_a_full_disk_under_the_output_is_one_line(kept):
    """Output that cannot be written is an error of its own."""
    for args in (["status"], ["recall", "where do we deploy"], ["--help"]):
        with open("/dev/full", "w") as full:
            done = kept.memman(*args, capture_output=False, stdout=full, stderr=subprocess.PIPE)
        assert_one_line(done, WRITE, "No space left")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_lose_nothing(box, closed):
    """With standard streams closed a note is still queued, drained and found."""
    for args in ("remember A heron nests on the roof", "scheduler drain", "recall heron", "status"):
        done = subprocess.run(
            ["sh", "-c", f"{box.script} {args} {closed}"],
            env=box.environ,
            cwd=box.data.parent,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
    assert "heron" in box.memman("recall", "heron").stdout


def test_names_that_are_no_text_cost_no_note(box):
    """Bytes that are no text in a folder's name, a session or an entity are replaced; the note is kept."""
    folder = os.fsencode(box.data.parent) + b"/d\xff"
    os.mkdir(folder)
    box.environ["CLAUDE_CODE_SESSION_ID"] = "s\udcff"
    assert box.memman("remember", "--entities", b"e\xff", "The heron nests", cwd=folder).returncode == 0
    assert box.queue("SELECT entities, session FROM note") == [("e\ufffd", "s\ufffd")]
    assert "heron" in box.memman("recall", "heron", cwd=folder).stdout


def test_no_home_is_no_problem_with_a_data_folder(box):
    """HOME unset: MEMMAN_DATA_DIR is enough."""
    del box.environ["HOME"]
    assert box.memman("remember", "x y z").returncode == 0


def test_an_empty_home_is_no_home(box):
    """HOME set to nothing does not put the memory at the root of the disk."""
    del box.environ["MEMMAN_DATA_DIR"]
    box.environ["HOME"] = ""
    assert_one_line(box.memman("remember", "x y z"), CONFIG, "set HOME or MEMMAN_DATA_DIR")


def test_control_characters_never_reach_the_terminal(box):
    """Escape sequences in a note are not printed, waiting or stored."""
    box.memman("remember", "-", input="Beware of \x1b[31mred\x1b[0m ink and \u202ebidi\u202c marks")
    listed = box.memman("scheduler", "queue", "list").stdout
    box.memman("scheduler", "drain")
    for text in (listed, box.memman("list").stdout, box.memman("log", "list").stdout):
        assert "Beware" in text
        assert not {"\x1b", "\u202e"} & set(text)


# Deletes the folder that the command behind it is run in.
_DELETED = ("sh", "-c", 'mkdir deleted && cd deleted && rmdir ../deleted && exec "$@"', "sh")


@pytest.mark.parametrize("words", ["bootstrap --dry-run", "wiki build pages", "sync --folder shared"])
def test_a_deleted_working_folder_is_named_as_what_is_wrong(box, words):
    """Nothing failed to be written: there is no folder to start from."""
    assert_one_line(box.memman(*words.split(), before=_DELETED), USAGE, "the folder you are in was deleted: go to")


def test_two_drains_at_once_are_one(box):
    """While a drain holds the lock a second drain waits until its deadline, and removing a team leaves at once."""
    from memman.locks import drain_lock

    box.memman("store", "create", "other")
    with drain_lock(str(box.data)):
        waited = box.memman("scheduler", "drain", "--deadline", "1")
        assert waited.returncode == Busy.exit_code
        assert "another drain is already running" in waited.stderr.splitlines()[-1]
        assert_one_line(box.memman("store", "remove", "other"), Busy.exit_code, "a drain is running; try again")


def _spoil(path):
    """Overwrite a database with garbage, its log with it."""
    for name in (f"{path}-wal", f"{path}-shm"):
        if os.path.exists(name):
            os.remove(name)
    path.write_bytes(b"this was a database once; " * 4000)


def _chmod(folder, folders, files):
    for place, _, names in os.walk(folder, topdown=False):
        for name in names:
            os.chmod(f"{place}/{name}", files)
        os.chmod(place, folders)
