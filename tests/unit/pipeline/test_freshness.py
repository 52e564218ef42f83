"""Until when memories hold: ends that they say, files that change, and what a person or an agent says of them."""

import json
import os
import subprocess
import time

import pytest

MONDAY = int(time.mktime((2026, 11, 23, 9, 0, 0, 0, 0, -1))) * 1000
DAY = 86_400_000


def told(box, *args):
    """Run memman, which must succeed, and return what it prints."""
    done = box.memman(*args)
    assert done.returncode == 0, done.stderr
    return done.stdout


def uids(box):
    """Return each memory's id by its text."""
    return dict(box.store("SELECT text, uid FROM memory"))


def ended(box, text, days=2):
    """Have a memory be past its end since some days."""
    at = time.time_ns() // 1_000_000 - days * DAY
    box.alter("UPDATE freshness SET ends_at = ? WHERE memory = (SELECT id FROM memory WHERE text = ?)", at, text)


FREEZE, HOST = "Deploys to production are frozen until Friday.", "Deploys to production run on Nomad."


@pytest.fixture(name="frozen")
def _frozen(box):
    """Return a box with a memory that is past its end and one that holds."""
    box.remember(FREEZE, category="preference")
    box.remember(HOST)
    box.drain()
    ended(box, FREEZE)
    return box


def test_what_is_past_its_end_is_labelled_and_stands_back(frozen):
    """Recall shows it below what holds and says so; no session begins with it, no prompt brings it up; lists say it."""
    query = "are deploys to production frozen"
    first, second = told(frozen, "recall", query).splitlines()
    assert HOST in first
    assert "past its end 2d ago" in second
    assert json.loads(told(frozen, "recall", "--json", query))["hits"][1]["labels"] == ["past its end 2d ago"]
    assert FREEZE not in told(frozen, "prime")
    payload = json.dumps({"session_id": "s", "prompt": f"{query}?"})
    hook = ("hook", "user-prompt", "--host", "codex")
    assert FREEZE not in frozen.memman(*hook, input=payload).stdout
    for verb in (("list",), ("list", "--by-day"), ("insights", "stale")):
        assert "past its end 2d ago" in told(frozen, *verb)
    told(frozen, "insights", "expire", uids(frozen)[FREEZE], "--never")
    assert "past its end" not in told(frozen, "recall", query)
    assert FREEZE in told(frozen, "prime")
    assert FREEZE in frozen.memman(*hook, input=payload.replace('"s"', '"t"')).stdout


def test_what_is_past_its_end_takes_no_line_of_what_holds(box):
    """However few hits are asked for, and whatever sessions reported of it, what holds is among them."""
    closed = [f"Deploys to production are frozen until Friday, says {name}." for name in ("Ana", "Bo", "Cem", "Dee")]
    for text in (*closed, HOST):
        box.remember(text, category="fact")
    box.drain()
    for text in closed:
        ended(box, text)
    query = ("recall", "are deploys to production frozen", "--limit")
    told(box, "insights", "feedback", uids(box)[closed[0]], "helpful")
    assert HOST in told(box, *query, "1")
    first, second = told(box, *query, "2").splitlines()
    assert HOST in first
    assert "past its end" in second


def test_a_recall_as_of_a_time_before_the_end_is_as_it_was(frozen):
    """Then it held, and is neither labelled nor put below others."""
    frozen.alter("UPDATE memory SET recorded_at = recorded_at - ?, valid_from = valid_from - ?", 9 * DAY, 9 * DAY)
    frozen.alter("UPDATE record SET at = at - ?", 9 * DAY)
    query = ("recall", "are deploys to production frozen", "--as-of")
    then = told(frozen, *query, "5d")
    assert "past its end" in told(frozen, *query, "1d")
    frozen.alter("UPDATE freshness SET ends_at = NULL")
    assert then == told(frozen, *query, "5d") == told(frozen, *query, "1d")


def test_an_end_is_said_with_the_note_and_bad_ones_are_refused(box):
    """--until wins over what the text says; what is no time to come is refused, with nothing queued."""
    told(box, "remember", "--until", "3d", FREEZE)
    for wrong in ("yesterday", "2020-01-01", "whenever", ""):
        done = box.memman("remember", "--until", wrong, HOST)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), wrong
    box.drain()
    (end,) = box.store("SELECT ends_at FROM freshness")
    assert abs(end - time.time_ns() // 1_000_000 - 3 * DAY) < DAY / 2
    assert list(uids(box)) == [FREEZE]
    assert box.memman("insights", "expire", uids(box)[FREEZE], "--at", "2020-01-01").returncode == 2
    assert box.memman("insights", "expire", uids(box)[FREEZE], "--at", "3d", "--never").returncode == 2


def test_a_memory_can_be_ended_now(box):
    """Without an option: it is labelled as past its end from then on, and shown nowhere unasked."""
    told(box, "remember", FREEZE)
    box.drain()
    assert "is over now" in box.memman("insights", "expire", uids(box)[FREEZE]).stdout
    assert "past its end" in box.memman("recall", FREEZE).stdout
    assert "past its end" in box.memman("insights", "stale").stdout
    assert FREEZE not in box.memman("prime").stdout


def git(folder, *args):
    """Run git in a folder."""
    named = ("-c", "user.name=x", "-c", "user.email=x@example.com")
    plain = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", "-C", str(folder), *named, *args], env=plain, capture_output=True, check=True)


def test_a_memory_that_names_a_changed_file_says_so_until_it_is_verified(box, tmp_path):
    """Only tracked files count; what is restored is unchanged again, and verifying reads the file anew."""
    shop = tmp_path / "shop"
    (shop / "src").mkdir(parents=True)
    named, loose = shop / "src" / "ports.toml", shop / "loose.toml"
    named.write_text("port = 1\n")
    git(shop, "init", "--quiet")
    git(shop, "add", ".")
    git(shop, "commit", "--quiet", "--message", "Begin")
    loose.write_text("x\n")
    box.memman("remember", "The server's port is in ports.toml, and notes are in loose.toml.", cwd=shop)
    box.drain()
    held = subprocess.run(["git", "hash-object", named], capture_output=True, text=True, check=True).stdout.strip()
    assert box.store("SELECT path FROM file") == ["src/ports.toml"]
    assert box.store("SELECT blob FROM file") == [held]
    (uid,) = uids(box).values()

    def labelled():
        box.drain()
        return "file changed since" in box.memman("recall", "where is the server's port", cwd=shop).stdout

    assert not labelled()
    named.write_text("port = 2\n")
    assert labelled()
    assert "file changed since" in told(box, "insights", "stale")
    named.write_text("port = 1\n")
    assert not labelled()
    named.unlink()
    assert labelled()
    named.write_text("port = 3\n")
    told(box, "insights", "verify", uid)
    assert not labelled()
    assert "1 verified" in told(box, "show", uid)
    shop.rename(tmp_path / "gone")
    assert not labelled()


def test_old_and_reported_memories_are_stale_by_their_category(box):
    """The ages are a setting; feedback against a memory lists it, and what a person verifies is listed no more."""
    box.configure(STALE_DAYS="fact=10")
    box.remember(HOST, category="fact")
    box.remember("The mascot of the team is a heron.", category="insight")
    box.drain()
    box.alter("UPDATE memory SET valid_from = valid_from - ?", 20 * DAY)
    assert told(box, "insights", "stale").count("\n") == 1
    told(box, "insights", "feedback", uids(box)["The mascot of the team is a heron."], "stale")
    assert "reported wrong or stale" in told(box, "insights", "stale")
    for uid in uids(box).values():
        told(box, "insights", "verify", uid)
    assert told(box, "insights", "stale") == "nothing is out of date, as far as can be told\n"
    assert box.memman("config", "set", "STALE_DAYS", "facts=1").returncode == 78


def test_an_agent_may_look_and_report_but_not_change(box):
    """What is stale, what is least worth and feedback are open to agents; the rest is a person's."""
    box.remember(HOST)
    box.drain()
    (uid,) = uids(box).values()
    box.environ["CLAUDECODE"] = "1"
    for verb in (("stale",), ("candidates",), ("feedback", uid, "helpful")):
        assert box.memman("insights", *verb).returncode == 0
    for verb in (("expire", uid, "--never"), ("verify", uid), ("archive", uid), ("restore", uid)):
        assert "only a person" in box.memman("insights", *verb).stderr
    assert "only a person" in box.memman("insights", "archive", "--least").stderr


@pytest.mark.parametrize(("until", "said"), [("1m", "minutes or months"), ("2020-01-01", "is over already")])
def test_an_end_that_cannot_be_meant_is_refused(box, until, said):
    """In one line that says why."""
    done = box.memman("remember", "--until", until, "Reviews go to Anna.")
    assert done.returncode == 2
    assert said in done.stderr


def test_where_nothing_is_stale_or_worth_little_it_is_said(box):
    """An empty list is a line."""
    assert "nothing is out of date" in told(box, "insights", "stale")
    assert "no memory is worth so little" in told(box, "insights", "candidates")
