"""What a person purges is gone: not a byte of it in the data folder, whatever it had become of it, and no way back."""

import json
import random
import shutil
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from memman.hot.session import Session
from memman.recovery.backup import take
from memman.sqlite import open_reader, open_writer
from memman.upkeep.idle import idle
from tests.support.box import PATIENCE, no
from tests.support.kinds import KINDS, over
from tests.support.providers import ScriptedProvider, respond


class Words:
    """Makes nonsense of letters that occurs nowhere else."""

    def __init__(self):
        self.chance, self.made = random.Random(15), []

    def __call__(self):
        """Return a word nobody has used."""
        self.made.append("".join(self.chance.choices("bdfgkmnprtvz", k=12)))
        return self.made[-1]


def stored(box, words):
    """Store a memory in the middle of its session, so that its neighbours' context holds it."""
    session = words.chance.randbytes(4).hex()
    around = {"agent": "tester", "session": session}
    box.remember(f"The {session} gateway listens on port 8443.", **around)
    text = f"The {words()} service caches invoices in {words()}, says {words()}."
    uid = box.remember(text, entities=words(), **around)
    box.remember(f"The {session} frontend is built by Vite.", **around)
    box.drain()
    return uid


def asked_about(box, words):
    """Store a memory with a question that a model wrote, in words of its own."""
    text, question = f"The {words()} depot closes at noon.", f"When is {words()} shut?"

    def answer(asked):
        said = respond(asked)
        return said | {"facts": [one | {"questions": [question]} for one in said["facts"]]} if "facts" in said else said

    settings = (box.data / "env").read_text()
    with ScriptedProvider(respond=answer) as provider:
        box.use(provider, EMBED_PROVIDER="builtin", EMBED_ENDPOINT="", EMBED_MODEL="", LOG_LEVEL="debug")
        uid = box.remember(text)
        box.drain()
    (box.data / "env").write_text(settings)
    assert box.store("SELECT count(*) FROM memory WHERE instr(keywords, ?)", question) == [1]
    return uid


def superseded(box, words):
    """Store a memory and what takes its place, which stays."""
    uid = box.remember(f"The {words()} cluster runs on {words()}.")
    box.drain()
    box.remember("The cluster runs on Nomad.", replaces=uid)
    box.drain()
    return uid


def succeeding(box, words):
    """Store a memory that takes the place of another, which stays."""
    old = box.remember(f"The number {words.chance.random()} is the limit.")
    box.drain()
    uid = box.remember(f"The limit is called {words()} now.", replaces=old)
    box.drain()
    return uid


def forgotten(box, words):
    """Store a memory and forget it."""
    uid = box.remember(f"The {words()} queue is drained by {words()}.")
    box.drain()
    assert box.memman("forget", uid).returncode == 0
    return uid


def waiting(box, words):
    """Leave a note waiting."""
    return box.remember(f"The {words()} build needs {words()}.", entities=words())


def parked(box, words):
    """Leave a note given up on, with the journal of what it cost and an error that quotes it."""
    uid = box.remember(f"The {words()} job fails.")
    box.queue("UPDATE note SET state = 'parked', error = text WHERE uid = ?", uid)
    box.queue("INSERT INTO journal SELECT uid, 'extract', 'x', text, NULL FROM note WHERE uid = ?", uid)
    return uid


def turn(box, words):
    """Leave what a turn of an agent said waiting."""
    return box.remember(f"No, use {words()} instead.", channel="turn", reply=f"I will use {words()}.", session="s9")


def noted(box, words):
    """Store a line that an agent noted, with what the user typed, also behind a line that stays."""
    typed = f"from now on the {words()} relay is asked by {words()}"
    said = {"channel": "noted", "agent": "tester", "session": words.chance.randbytes(4).hex()}
    said |= {"reply": json.dumps([["user", typed]])}
    box.remember(f"Relay {words.chance.random()} is asked first.", **said)
    uid = box.remember(f"The {words.made[-1]} relay is asked from now on.", **said)
    box.drain()
    assert typed in box.store("SELECT typed FROM turn")
    return uid


def half_done(box, words):
    """Store a note whose text the queue still has: the drain died in between."""
    text = f"The {words()} worker polls {words()}."
    uid = box.remember(text)
    drain = box.start_drain(MEMMAN_FAILPOINT="committed")
    drain.communicate(timeout=PATIENCE)
    assert box.queue("SELECT text FROM note WHERE uid = ?", uid) == [text]
    return uid


def promoted(box, words):
    """Store a memory of which a rule was made, and snooze that."""
    uid = box.remember(f"The {words()} relay is driven by {words()}.")
    box.drain()
    assert box.memman("rule", "promote", uid, "--match", "nc relay", "--do", "deny").returncode == 0
    (rule,) = box.store("SELECT uid FROM rule")
    assert box.memman("rule", "snooze", rule, "--for", "2h").returncode == 0
    return uid


def ruled_once(box, words):
    """Store a memory of which a rule was made, and remove that."""
    uid = promoted(box, words)
    (rule,) = box.store("SELECT uid FROM rule")
    assert box.memman("rule", "remove", rule).returncode == 0
    return uid


def unruled(box, words):
    """Make a rule, and remove it."""
    rule = json.loads(box.memman("rule", "add", f"Leave {words()} to {words()}.", "--json").stdout)["uid"]
    assert box.memman("rule", "remove", rule).returncode == 0
    return rule


WAYS = (
    *(stored, asked_about, superseded, succeeding, forgotten, waiting, parked, turn, noted, half_done),
    *(promoted, ruled_once, unruled),
)


def test_a_purge_leaves_the_prompts_of_others_alone(box):
    """What waits for its turn's end in another session and says nothing of what is purged is kept."""
    uid = box.remember("The vault rotor is called zebraquux.")
    box.drain()
    for name, prompt in (("s1", "From now on run the linter first."), ("s2", "forget zebraquux")):
        with Session(str(box.data), "codex", name) as session:
            session.prompt = prompt
    assert box.memman("purge", uid, "--json").returncode == 0
    kept = []
    for name in ("s1", "s2"):
        with Session(str(box.data), "codex", name) as session:
            kept.append(session.prompt)
    assert kept == ["From now on run the linter first.", ""]


@pytest.mark.promise("S15")
@over(*KINDS)
def test_no_byte_of_what_was_purged_is_left_in_the_data_folder(box, kind, rounds, kept):
    """Whatever it had become, a purged text is in no file; what keeps it outside the files in use is named.

    Nor is it on the server, in the folder or on the other machine, once that has been up to date again.
    """
    box.configure(LOG_LEVEL="debug")
    wanted, words, counts, found, named, seen = rounds(len(WAYS), 100), Words(), Counter(), 0, 0, 0
    box.remember("The staging database is Postgres 16 on db-stage-2.")
    box.drain()
    for number in range(wanted):
        way = WAYS[number % len(WAYS)]
        uid = way(box, words)
        with Session(str(box.data), "codex", "s9") as session:
            session.prompt = f"forget all about {' '.join(words.made[-4:])}"
        box.store("ANALYZE")  # samples of what indexes hold
        kind.meet()
        seen += any(word[2:].encode() in kind.beyond().lower() for word in words.made)
        copy = box.store_path().with_name("memman.db.schema-1.bak")
        shutil.copy(box.store_path(), copy)
        backup = take(str(box.data))
        held = holds(box, words.made)
        assert held, f"nothing to purge in round {number}"
        done = box.memman("purge", uid, "--json")
        assert done.returncode == 0, done.stderr
        receipt = json.loads(done.stdout)
        assert receipt["scrubbed"]
        named += backup.id in receipt["backups"]
        left = holds(box, words.made)
        outside = {path for path in left if "/backups/" in path or path.endswith(".bak")}
        assert {path for path in outside if path.endswith(".bak")} <= set(receipt["files"]), way.__name__
        found += len(left - outside)
        assert left == outside, (way.__name__, left)
        kind.meet()
        elsewhere = kind.beyond().lower()
        assert [word for word in words.made if word[2:].encode() in elsewhere] == [], way.__name__
        counts[way.__name__] += 1
        shutil.rmtree(box.data / "backups")
        copy.unlink()
        words.made.clear()
    assert (found, named) == (0, wanted)
    assert bool(seen) == bool(kind)
    assert box.store("PRAGMA integrity_check") == ["ok"]
    assert box.recall("staging database") == ["The staging database is Postgres 16 on db-stage-2."]
    kept(f"{wanted} purged texts of {len(counts)} kinds: {found} files hold a byte of one, {named} backups named")


def test_what_was_purged_does_not_come_back(box):
    """A drain that still has the note, a note said again by a restored backup: neither brings a purged memory back."""
    uid = box.remember("Redis caches the invoices of the billing service.")
    assert box.memman("backup", "create").returncode == 0
    box.drain()
    (memory,) = box.store("SELECT uid FROM memory")
    assert box.memman("purge", memory).returncode == 0
    assert box.store("SELECT note, outcome FROM receipt") == [(uid, "purged")]
    done = box.memman("backup", "restore", "latest")
    assert done.returncode == 0, done.stderr
    assert box.drain().done == 0
    assert box.recall("Redis invoices") == []


def test_a_reader_keeps_the_bytes_until_the_next_drain(box):
    """While somebody reads an older state a purge says that bytes are left; the next drain after it wipes them.

    Though no note waits, that drain has something to do.
    """
    uid = box.remember("The bdfgkmnprtvz service caches invoices.")
    box.drain()
    assert idle(str(box.data))
    with closing(open_reader(str(box.store_path()))) as reader:
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM memory").get == 1
        done = box.memman("purge", uid, "--json")
        assert json.loads(done.stdout)["scrubbed"] is False
        assert holds(box, ["bdfgkmnprtvz"])
    assert not idle(str(box.data))
    assert box.memman("scheduler", "drain").returncode == 0
    assert holds(box, ["bdfgkmnprtvz"]) == set()
    assert box.queue("SELECT value FROM meta WHERE key = 'scrubbing'") == [""]


def test_bytes_that_were_free_already_go_too(box):
    """What lies in pages that something freed without wiping them is in no file once anything is purged."""
    uid = box.remember("Redis caches the invoices.")
    box.drain()
    for path, checked in ((box.store_path(), True), (box.queue_path, False)):
        with closing(open_writer(str(path), checked=checked)) as db:
            db.execute("PRAGMA secure_delete=OFF")
            db.execute("CREATE TABLE old(text); INSERT INTO old VALUES (?)", (20_000 * "bdfgkmnprtvz ",))
            db.execute("DROP TABLE old; PRAGMA wal_checkpoint(TRUNCATE)")
    assert {box.store_path(), box.queue_path} <= set(map(Path, holds(box, ["bdfgkmnprtvz"])))
    assert box.memman("purge", uid).returncode == 0
    assert holds(box, ["bdfgkmnprtvz"]) == set()


def test_the_others_of_a_note_and_of_a_chain_stay(box):
    """Of a chain of three the middle goes: the first is superseded by the last from then on, and both are sound."""
    first = box.remember("The limit is one.")
    box.drain()
    second = box.remember("The limit is two.", replaces=first)
    box.drain()
    third = box.remember("The limit is three.", replaces=second)
    box.drain()
    assert box.memman("purge", second).returncode == 0
    rows = dict(box.store("SELECT note, id FROM memory"))
    assert box.store("SELECT note, status, superseded_by FROM memory ORDER BY id") == [
        (first, "superseded", rows[third]),
        (third, "current", None),
    ]
    assert box.memman("show", first).returncode == 0
    assert box.memman("log", "list").returncode == 0
    assert box.memman("doctor", "--check", "integrity").returncode == 0


def test_a_purge_names_what_it_deletes_and_is_answered_with_it(box):
    """The question shows each text and wants an id's beginning typed, or their number; else nothing goes."""
    uids = [box.remember(f"Redis caches the {what}.") for what in ("invoices", "sessions")]
    box.drain()
    first, second = box.store("SELECT uid FROM memory ORDER BY id")
    declined = box.person("purge", first, answer=no)
    assert (declined.returncode, declined.stdout) == (77, "")
    assert f"{first[:8]}  user  Redis caches the invoices." in declined.asked
    assert f"Type {first[:4]} to go on" in declined.asked
    assert "Type 2 to go on" in box.person("purge", first, second, answer=no).asked
    assert box.person("purge", first, answer=lambda asked: no(asked).replace("no", "yes")).returncode == 77
    assert box.person("purge", first, answer=lambda asked: no(asked).replace("no", first[:4] + "x")).returncode == 77
    assert box.store("SELECT note FROM memory ORDER BY id") == uids
    assert box.person("purge", first, answer=lambda asked: no(asked).replace("no", first[:8])).returncode == 0
    assert box.person("purge", second).returncode == 0
    assert box.store("SELECT note FROM memory") == []


def holds(box, words):
    """Return the files of the data folder in which one of the words is, or most of it, in either case."""
    parts = [word[2:].encode() for word in words]
    files = [path for path in box.data.rglob("*") if path.is_file()]
    return {str(path) for path in files if any(part in path.read_bytes().lower() for part in parts)}
