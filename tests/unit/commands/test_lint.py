"""What lint finds in memory, and the command that it names for each."""

import json
import os
import subprocess
import time

import pytest

from memman.config.asked import drop_asked
from tests.support.doubts import DOUBT, NEW, OLD, drained

DAY = 86_400_000
VPN = "The VPN is down until tomorrow noon."
SAID = (
    "Billing is deployed to Fly.io.",
    "Always run the linter before a commit.",
    "ok thanks",
    "The heron is the mascot of the team.",
    "Invoices are archived for ten years.",
    "Deploys are frozen until 2099-01-01.",
)
LONG = "The release is made by hand on the first Monday of each month, after " + "the changelog was read again, " * 10
TEXTS = (
    "Billing is deployed to Fly.io.",
    "It only works with the flag set.",
    LONG,
    "The heron is the mascot of the team.",
    "Invoices are archived for ten years.",
)


@pytest.fixture(name="flawed")
def _flawed(box):
    """Return a box with a contradiction, and with what is vague and over-long."""
    for text in TEXTS:
        box.remember(text)
        box.drain()
    box.alter("UPDATE memory SET text = 'Billing is deployed to Render.' WHERE id = 4")
    box.alter("INSERT INTO link VALUES (4, 3, 1, 9000, '') ON CONFLICT DO NOTHING")
    return box


def linted(box, *more):
    """Return what lint finds, as JSON."""
    done = box.memman("lint", "--json", *more)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_each_finding_names_the_command_that_mends_it(flawed):
    """With the memory's own id; nothing is changed, and --only looks for one kind."""
    before = flawed.store("SELECT * FROM memory"), flawed.store("SELECT * FROM record")
    found = {one["kind"]: one for one in linted(flawed)["findings"]}
    assert {kind: found[kind]["text"] for kind in ("contradictory", "vague", "over-long")} == {
        "contradictory": TEXTS[0],
        "vague": TEXTS[1],
        "over-long": LONG.strip(),
    }
    uid = found["over-long"]["uid"][:8]
    assert found["over-long"]["mend"] == f'memman replace {uid} "…"'
    assert flawed.memman("replace", uid, "Releases are made by hand on first Mondays.").returncode == 0
    assert linted(flawed, "--only", "vague")["counts"] == {"vague": 1}
    said = flawed.memman("lint").stdout
    assert f"memman forget {found['contradictory']['uid'][:8]}" in said
    assert "Billing is deployed to Render." in said
    assert (flawed.store("SELECT * FROM memory"), flawed.store("SELECT * FROM record")) == before


def test_a_limit_says_how_many_more_there_are_and_a_sound_store_has_nothing_to_mend(flawed, box):
    """The rest can be asked for by the command that is printed; a kind that there is not is one line."""
    for n in range(2):
        box.remember(f"They moved the lift of house {n} to the yard.")
        box.drain()
    assert "and 2 more: memman lint --only vague --limit 3" in flawed.memman("lint", "--limit", "1").stdout
    box.memman("store", "create", "empty")
    assert box.memman("lint", "--store", "empty").stdout.endswith("nothing to fix\n")
    done = box.memman("lint", "--only", "ugly")
    assert (done.returncode > 0, done.stderr.count("\n")) == (True, 1)


@pytest.fixture(name="many")
def _many(box):
    """Return a box whose memories have a flaw each."""
    for text in SAID:
        box.remember(text)
        box.drain()
    edge = "INSERT INTO link VALUES (?, 3, ?, 9000, '') ON CONFLICT DO NOTHING"
    for old, new, text in ((1, 4, "Billing is deployed to Render."), (2, 5, "Run the linter before each commit.")):
        box.alter("UPDATE memory SET text = ? WHERE id = ?", text, new)
        box.alter(edge, new, old)
    box.alter("UPDATE memory SET source = 'agent' WHERE id = 3")
    box.alter("UPDATE freshness SET ends_at = ? WHERE memory = 6", time.time_ns() // 1_000_000 - 2 * DAY)
    box.alter("DELETE FROM link WHERE 6 IN (src, dst)")
    box.alter("INSERT INTO scope VALUES (7, '/nowhere/at/all#-', '')")
    return box


def named(box, *more):
    """Return the texts of what lint finds, by kind."""
    found = {}
    for one in linted(box, *more)["findings"]:
        found.setdefault(one["kind"], []).append(one["text"])
    return found


def test_each_flaw_is_named(many):
    """Once for each kind that it is, with the other memory where there is one."""
    assert named(many) == {
        "junk": ["ok thanks"],
        "duplicate": ["Run the linter before each commit."],
        "contradictory": [SAID[0]],
        "stale": [SAID[5]],
        "no edges": [SAID[5]],
    }
    (against,) = linted(many, "--only", "contradictory")["findings"]
    assert against["other"]["text"] == "Billing is deployed to Render."


def test_pairs_that_a_person_settled_and_other_repositories_are_left_alone(many):
    """What is maybe replaced waits for a review; that, what was kept apart and what holds elsewhere is not told."""
    kinds = ("contradictory", "duplicate")
    only = [word for kind in kinds for word in ("--only", kind)]
    old, new = many.store("SELECT uid FROM memory WHERE id IN (1, 4) ORDER BY id")
    many.alter(DOUBT, old, new)
    assert linted(many, *only)["counts"] == {"duplicate": 1}
    many.memman("review", "reject", old)
    many.alter("UPDATE scoped SET scope = 7 WHERE memory = 2")
    many.alter("INSERT INTO scope VALUES (8, 'git.example/else#-', '')")
    many.alter("INSERT OR REPLACE INTO scoped VALUES (2, 7), (5, 8)")
    assert linted(many, *only)["counts"] == {}


def test_what_is_plain_is_no_junk(box):
    """A fact that is worth little to the judge is one, and so are what has an end and a decision; chatter is junk."""
    lasting = ("The kitchen is painted green.", "We considered MySQL 8 but rejected it.", VPN)
    for text in (*lasting, "ok thanks", "fix the failing test"):
        box.remember(text)
    box.drain()
    assert set(named(box, "--only", "junk")["junk"]) == {"ok thanks", "fix the failing test"}


PORT = "which port does the staging database listen on"


def wondered(box):
    """Return what there is to wonder about, as JSON."""
    done = box.memman("wonder", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_question_is_open_until_memory_answers_it(box):
    """Asked in nearly the same words it counts once more; one that has an answer is not kept."""
    box.remember("Invoices are archived for ten years.")
    box.drain()
    assert box.memman("wonder").stdout.startswith("nothing: ")
    for query in (PORT, PORT + "?", "for how long are invoices archived"):
        box.memman("recall", query)
    box.environ["MEMMAN_AGENT"] = "codex"
    box.memman("recall", "who is on call in December")
    assert [(one["question"], one["times"]) for one in wondered(box)["asked"]] == [
        (PORT + "?", 2),
        ("who is on call in December", 1),
    ]
    said = box.memman("wonder", "--limit", "1").stdout
    assert "  2 times  last " in said
    assert "and 1 more: --limit lists more" in said
    box.remember("The staging database listens on port 5433.")
    assert [one["question"] for one in wondered(box)["asked"]] == ["who is on call in December"]


def test_what_another_repository_asked_is_a_flag_away(box, tmp_path):
    """A customer's open questions are not read in another's repository, unless one asks for all."""
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        subprocess.run(["git", "init", "-q", folder], check=True)
    box.environ["MEMMAN_AGENT"] = "codex"
    box.memman("remember", "--scope", "repository", "The lift is inspected in May.", cwd=there)
    box.drain()
    box.memman("recall", PORT, cwd=there)
    assert box.memman("wonder", cwd=here).stdout.startswith("nothing: ")
    every = box.memman("wonder", "--all-scopes", cwd=here).stdout
    assert [f"there  {PORT}" in every, "The lift is" in every] == [True, True]
    assert PORT in box.memman("wonder", cwd=there).stdout


def test_what_is_held_weakly_and_what_is_said_otherwise(box):
    """An agent's lone word, and a pair of which nobody knows yet which holds."""
    drained(box, OLD, NEW)
    box.remember("The lift is inspected in May.", source="agent", agent="codex")
    box.drain()
    found = wondered(box)
    assert [one["text"] for one in found["weak"]] == ["The lift is inspected in May."]
    assert [(one["text"], one["other"]["text"]) for one in found["against"]] == [(OLD, NEW)]
    said = box.memman("wonder").stdout
    assert f"maybe replaced by {found['against'][0]['other']['uid'][:8]}  {NEW}" in said


def test_no_question_outlives_a_purge_a_secret_or_its_time(box):
    """A purged word takes the questions with it; a key is never written; after 90 days a question is dropped."""
    key = "DB_PASSWORD=Zt4-qui9Lbh2"
    box.remember("The heron is the mascot of the team.")
    box.drain()
    for query in (f"what is {key} on staging", "mascot of the other building in Rome", PORT):
        box.memman("recall", "--min-confidence", "1", query)
    kept = box.data / "asked.log"
    assert key[-8:] not in kept.read_text()
    assert kept.stat().st_mode & 0o777 == 0o600
    box.memman("purge", box.store("SELECT uid FROM memory")[0])
    assert "mascot" not in kept.read_text()
    assert PORT in kept.read_text()
    kept.write_text(kept.read_text() + f"1\tdefault\t\t\t{PORT}\ntorn\n")
    drop_asked(str(box.data))
    assert kept.read_text().count(PORT) == 1
    kept.write_text("".join(f"{time.time_ns() // 1_000_000}\tdefault\t\t\t{PORT} {n:099}\n" for n in range(900)))
    drop_asked(str(box.data))
    assert 0 < os.path.getsize(kept) < 131_072 // 2
