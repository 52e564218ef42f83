"""`show`: where a memory comes from, what it was before and became afterwards, and where it was shown."""

import json
from itertools import pairwise

import pytest

TEXTS = ["We deploy on Vercel.", "We deploy on Coolify.", "We deploy on Hetzner."]


@pytest.fixture
def uids(box):
    """Give the uids of three versions of a decision, the second said by an agent."""
    first = box.remember(TEXTS[0], agent="codex", session="s1")
    box.drain()
    for old, new in pairwise(TEXTS):
        (uid,) = box.store("SELECT uid FROM memory WHERE text = ?", old)
        box.environ["MEMMAN_SESSION"] = f"after {first[:4]}" if new == TEXTS[1] else "last"
        assert box.memman("replace", uid, new).returncode == 0
        box.drain()
    return box.store("SELECT uid FROM memory ORDER BY id")


def told(box, uid):
    """Return the versions of a memory."""
    return json.loads(box.memman("show", uid, "--json").stdout)[0]["history"]


def verbs(version):
    """Return what was done to a version."""
    return [line["verb"] for line in version["changes"]]


def test_history_follows_the_chain_both_ways(box, uids):
    """Asked of any version, all are told, oldest first, with what took the place of each, when, by whom and why."""
    for number, uid in enumerate(uids):
        versions = told(box, uid[:8])
        assert [one["text"] for one in versions] == TEXTS
        assert [one["asked"] for one in versions] == [n == number for n in range(3)]
    first, second, third = versions
    assert [verbs(one) for one in versions] == [["add", "supersede"], ["add", "supersede"], ["add"]]
    added, gone = first["changes"]
    assert (added["agent"], added["session"]) == ("codex", "s1")
    assert (gone["after"]["superseded_by"], gone["after"]["why"]) == (second["uid"], "replaced on request")
    assert gone["session"].startswith("after ")
    assert gone["at"] == second["recorded_at"]
    assert third["status"] == "current"
    said = box.memman("show", uids[1]).stdout.splitlines()
    assert [line[:10] for line in said if line[:1] == ">"] == [f"> {uids[1][:8]}"]
    assert any("current → superseded" in line and uids[2][:8] in line for line in said)


def test_what_was_taken_back_stays_in_the_history(box, uids):
    """A reinstated memory still names what had taken its place; so does one that an undo brought back."""
    assert box.memman("insights", "reinstate", uids[0]).returncode == 0
    first = told(box, uids[0])[0]
    assert verbs(first) == ["add", "supersede", "reinstate"]
    assert [one["text"] for one in told(box, uids[0])] == TEXTS
    assert box.memman("undo", "--session", "last").returncode == 0
    first, second, third = told(box, uids[1])
    assert (second["status"], third["status"]) == ("current", "forgotten")
    assert verbs(second) == ["add", "supersede", "undo"]
    undone = second["changes"][-1]
    assert (undone["before"]["status"], undone["after"]["status"]) == ("superseded", "current")
    assert "last" in undone["after"]["why"]
    assert verbs(third) == ["add", "undo"]


def test_what_is_alone_has_a_history_of_its_own(box):
    """A memory that nothing replaced is told alone; a note that waits has none."""
    waiting = box.memman("show", box.remember("The heron is the mascot."))
    assert (waiting.returncode, "pending" in waiting.stdout, "history" in waiting.stdout) == (0, True, False)
    box.drain()
    (uid,) = box.store("SELECT uid FROM memory")
    box.memman("forget", uid)
    (only,) = told(box, uid)
    assert verbs(only) == ["add", "forget"]
    assert box.memman("show", "zz!").returncode == 2


DEPLOY = "We deploy billing to Fly.io from the main branch."


def test_it_tells_where_a_memory_comes_from_and_where_it_was_shown(replaced):
    """Agent, session, commit, drain and models of its note, what it replaced and why, and each showing."""
    old, new = replaced.store("SELECT uid FROM memory ORDER BY id")
    first, second = json.loads(replaced.memman("show", old, new, "--json").stdout)
    assert (first["superseded_by"], [one["uid"] for one in second["history"]]) == (new, [old, new])
    came = first["provenance"]
    assert [came[name] for name in ("agent", "session", "repository", "revision")] == [
        "codex",
        "s1",
        "acme/shop",
        "abc123",
    ]
    assert came["drain"]
    assert first["models"]["extract"] == "openai/small"
    assert [one["verb"] for one in first["history"][0]["changes"]] == ["add", "supersede"]
    (shown,) = second["shown"]
    assert (shown["way"], shown["session"], shown["times"]) == ("recall", "s2", 2)
    said = replaced.memman("show", old).stdout
    assert all(part in said for part in ("extract: openai/small", new[:8], "replaced on request", "abc123"))
    assert "recall s2, 2 times" in replaced.memman("show", new).stdout


def test_somebody_without_a_name_is_a_number(box):
    """A container may know its user by number alone."""
    box.remember("The heron nests.", user="0")
    box.drain()
    (uid,) = box.store("SELECT uid FROM memory")
    assert "user number 0" in " ".join(box.memman("show", uid).stdout.split())
