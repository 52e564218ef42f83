"""`memman scan` finds secrets that an older version stored, never shows them, and takes them out of every byte."""

import json

import apsw
import pytest

from tests.support.providers import ScriptedProvider

TOKEN = "ghp_" + "Zk3vQ9tLw7Rb2Xy8Nc5Hd1Pf6Gj4Ms0Ua5Tq"
PASSWORD = "vK2xLp9" + "Wd4mQ7"
FILE = f'$.set."file [\\"keys/{TOKEN}\\"]"'
HELD = f"Deploys push with {TOKEN} to the mirror."


def slip(path, sql, *values):
    """Write past every screen, as an older version did."""
    db = apsw.Connection(str(path))
    db.execute(sql, values)
    db.close()


@pytest.fixture
def leaky(box):
    """Leave a store, a queue, a log and a session's file with secrets in them, as an older version may have."""
    box.remember("Deploys push with a token to the mirror.")
    box.remember("The mirror is in Oslo.")
    box.drain()
    assert box.memman("rule", "add", "Push with care.", "--match", "push a-token").returncode == 0
    path = box.store_path()
    uid = box.store("SELECT uid FROM memory ORDER BY id LIMIT 1")[0]
    slip(path, "UPDATE memory SET text = ?, entities = ? WHERE uid = ?", HELD, json.dumps(["Deploys", TOKEN]), uid)
    slip(path, "UPDATE record SET body = replace(body, ?, ?)", "Deploys push with a token to the mirror.", HELD)
    slip(path, "UPDATE record SET body = json_set(body, '$.now.why', ?) WHERE memory = ?", TOKEN, uid)
    slip(path, "UPDATE record SET body = json_set(body, ?, '') WHERE memory = ?", FILE, uid)
    slip(path, "UPDATE receipt SET cwd = ?", f"/home/{TOKEN}")
    slip(path, "UPDATE memory SET screened = 0")
    slip(path, "INSERT INTO fts(rowid, text, terms, context) VALUES (900, ?, ?, '')", HELD, HELD)
    slip(path, "DELETE FROM fts WHERE rowid = 900")
    slip(path, "INSERT INTO scope(repository) VALUES (?), ('[redacted:github-token]')", TOKEN)
    slip(path, "UPDATE scoped SET scope = (SELECT id FROM scope WHERE repository = ?) WHERE memory = 2", TOKEN)
    slip(path, "UPDATE rule SET text = ?, pattern = ?", HELD, f"push {TOKEN}")
    slip(path, "UPDATE record SET body = replace(body, 'push a-token', ?)", f"push {TOKEN}")
    slip(path, "INSERT INTO file VALUES (1, ?, '', NULL)", f"keys/{TOKEN}")
    slip(path, "INSERT INTO meta VALUES (?, ?)", f"mark:{TOKEN}", json.dumps([TOKEN]))
    slip(path, "INSERT OR REPLACE INTO link VALUES (1, 3, 2, 10000, ?)", f"by hand: {TOKEN}")
    box.remember("The password of the spare host is secret.")
    said = (f"The password of the spare host is {PASSWORD}", f"path:{TOKEN}")
    box.queue("UPDATE note SET text = ?, scope = ?, digest = NULL", *said)
    (box.data / "logs").mkdir(exist_ok=True, mode=0o700)
    log = box.data / "logs" / "worker.jsonl"
    log.touch(mode=0o600)
    log.write_text(log.read_text() + json.dumps({"at": 1, "level": "info", "event": "x", "message": HELD}) + "\n")
    sessions = box.data / "sessions"
    sessions.mkdir(exist_ok=True, mode=0o700)
    (sessions / "one").touch(mode=0o600)
    (sessions / "one").write_text(f"\nuse {TOKEN}")
    return box


def everything(box):
    """Return every byte of every file in the data folder."""
    return b"\0".join(path.read_bytes() for path in box.data.rglob("*") if path.is_file())


def test_what_an_older_version_stored_is_found_and_not_shown(leaky):
    """Every place is named with the rule; neither the list nor JSON nor any verb that looks shows the secret."""
    ended = leaky.memman("scan")
    assert ended.returncode == 1
    assert {"github-token", "password"} <= set(ended.stdout.split())
    named = [one["id"] for one in json.loads(leaky.memman("scan", "--json").stdout)["findings"]]
    (rule,) = leaky.store("SELECT uid FROM rule")
    assert {"scope", "meta", rule} <= {*named}
    assert named.count(rule) >= 3  # a rule's text, its pattern, and its record
    for where in ("default", "queue", "logs/worker.jsonl", "sessions/one"):
        assert where in ended.stdout
    uid = leaky.store("SELECT uid FROM memory ORDER BY id LIMIT 1")[0]
    looks = (
        *(("scan",), ("scan", "--json"), ("recall", "what do deploys push with"), ("show", uid)),
        *(("recall", "--json", "deploys push"), ("recall", "--budget", "300", "deploys push")),
        *(("recall", "password of the spare host"), ("recall", "--json", "password spare host")),
        *(("list",), ("list", "--json"), ("list", "--by-day"), ("list", "--by-day", "--json")),
        *(("log", "list"), ("log", "list", "--json"), ("log", "worker"), ("log", "worker", "--json"), ("prime",)),
        *(("scheduler", "queue", "list"), ("scheduler", "queue", "list", "--json"), ("status",)),
    )
    for args in looks:
        ended = leaky.memman(*args)
        assert TOKEN.lower() not in ended.stdout.lower(), args
        assert PASSWORD not in ended.stdout + ended.stderr, args
    assert "[redacted:github-token]" in leaky.memman("recall", "what do deploys push with").stdout


def test_fix_takes_them_out_of_every_byte(leaky):
    """After --fix no file has a byte of the secret, the memory is found by its other words, and its row is sound."""
    ended = leaky.memman("scan", "--fix")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert " removed; " in ended.stdout
    left = everything(leaky).lower()
    assert TOKEN.lower().encode() not in left
    assert PASSWORD.lower().encode() not in left
    assert "[redacted:github-token]" in leaky.recall("what do deploys push with")[0]
    assert leaky.memman("doctor", "--check", "integrity").returncode == 0
    assert leaky.memman("scan").returncode == 0
    assert leaky.store("SELECT repository FROM scope JOIN scoped ON scope = id WHERE memory = 2") == [
        "[redacted:github-token]"
    ]
    assert "[redacted:github-token]" in leaky.memman("rule", "list").stdout
    assert leaky.store("SELECT count(*) FROM log WHERE verb = 'redact'") == [2]  # the memory and the rule
    leaky.drain()
    assert "[redacted:password]" in leaky.recall("password of the spare host")[0]


def test_a_provider_never_sees_what_an_older_version_stored(leaky):
    """A stored secret is taken out of what reconcile and re-embedding send."""
    with ScriptedProvider() as provider:
        leaky.use(provider)
        leaky.remember("Deploys push with a new token to the mirror in Oslo.")
        leaky.drain()
        assert leaky.memman("embed", "reembed").returncode == 0
        sent = "".join(str(got.body) for got in provider.received)
    assert "[redacted:github-token]" in sent
    assert TOKEN not in sent
    assert PASSWORD not in sent


def test_a_backup_is_named_and_left_as_it_is(leaky):
    """What only a copy holds is named by its path, and keeps the exit code at 1."""
    assert leaky.memman("backup", "create").returncode == 0
    ended = leaky.memman("scan", "--fix")
    assert ended.returncode == 1
    assert "this copy contains secrets" in ended.stdout


def test_an_agent_may_look_and_not_mend(leaky):
    """`scan` is an agent's too; `scan --fix` is a person's."""
    leaky.environ["CLAUDECODE"] = "1"
    assert leaky.memman("scan").returncode == 1
    assert leaky.memman("scan", "--fix").returncode == 77


def test_nothing_found_is_said(box):
    """A clean folder, even an empty one, ends with 0."""
    assert box.memman("scan").stdout == "0 secrets found\n"
