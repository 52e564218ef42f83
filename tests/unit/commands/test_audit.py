"""What an audit of a store finds, and that it changes nothing."""

import json
import subprocess
import time

import pytest

from tests.support.doubts import DOUBT

DAY = 86_400_000
VPN = "The VPN is down until tomorrow noon."
TEXTS = (
    "Billing is deployed to Fly.io.",
    "Always run the linter before a commit.",
    "ok thanks",
    "The heron is the mascot of the team.",
    "Invoices are archived for ten years.",
    "Deploys are frozen until 2099-01-01.",
)


def audited(box, *args, **given):
    """Run the audit, and return it with its findings by name."""
    done = box.memman("audit", "--json", *args, **given)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return found | {"findings": {one["name"]: one for one in found["findings"]}}


def rows(box):
    """Return every row of a memory, an edge or the log."""
    return [box.store(f"SELECT * FROM {table}") for table in ("memory", "link", "log", "meta")]


@pytest.fixture(name="flawed")
def _flawed(box):
    """Return a box whose memories have a flaw each."""
    for text in TEXTS:
        box.remember(text)
        box.drain()
    edge = "INSERT INTO link VALUES (?, 3, ?, 9000, '') ON CONFLICT DO NOTHING"
    for old, new, text in ((1, 4, "Billing is deployed to Render."), (2, 5, "Run the linter before each commit.")):
        box.alter("UPDATE memory SET text = ? WHERE id = ?", text, new)
        box.alter(edge, new, old)
    box.alter("UPDATE memory SET source = 'agent' WHERE id = 3")
    box.alter("UPDATE freshness SET ends_at = ? WHERE memory = 6", time.time_ns() // 1_000_000 - 2 * DAY)
    box.alter("DELETE FROM receipt WHERE note = (SELECT note FROM memory WHERE id = 6)")
    box.alter("DELETE FROM link WHERE 6 IN (src, dst)")
    box.alter("INSERT INTO scope VALUES (7, '/nowhere/at/all#-', '')")
    box.alter("INSERT OR REPLACE INTO scoped VALUES (3, 7)")
    return box


def test_an_audit_names_each_flaw_and_the_verb_that_mends_it(flawed):
    """Each finding has its count, its share of what was looked at, examples and a verb; nothing is written."""
    before = rows(flawed)
    found = audited(flawed)
    named = {name: [one["text"] for one in finding["examples"]] for name, finding in found["findings"].items()}
    assert named == {
        "junk": ["ok thanks"],
        "duplicate": ["Run the linter before each commit."],
        "contradictory": [TEXTS[0]],
        "maybe replaced": [],
        "unsupported": ["ok thanks"],
        "stale": [TEXTS[5]],
        "no receipt": [TEXTS[5]],
        "no edges": [TEXTS[5]],
        "folder gone": ["ok thanks"],
    }
    assert found["findings"]["contradictory"]["examples"][0]["other"]["text"] == "Billing is deployed to Render."
    assert all(one["share"] == round(one["count"] / 6, 4) for one in found["findings"].values())
    said = flawed.memman("audit").stdout
    assert "6 current memories" in said
    assert "memman insights archive ID" in said
    assert rows(flawed) == before


def test_pairs_that_a_person_settled_and_other_repositories_are_left_alone(flawed):
    """What is maybe replaced is told as such, what was kept apart not at all, nor what holds elsewhere."""
    old, new = flawed.store("SELECT uid FROM memory WHERE id IN (1, 4) ORDER BY id")
    flawed.alter(DOUBT, old, new)
    found = audited(flawed)["findings"]
    assert [found[name]["count"] for name in ("contradictory", "maybe replaced")] == [0, 1]
    flawed.memman("review", "reject", old)
    flawed.alter("UPDATE scoped SET scope = 7 WHERE memory = 2")
    flawed.alter("INSERT INTO scope VALUES (8, 'git.example/else#-', '')")
    flawed.alter("INSERT OR REPLACE INTO scoped VALUES (2, 7), (5, 8)")
    found = audited(flawed)["findings"]
    assert [found[name]["count"] for name in ("contradictory", "maybe replaced", "duplicate")] == [0, 0, 0]


def test_an_audit_without_the_judge_and_of_nothing(flawed, box):
    """Without the judge what only it finds is said to be missing; an empty store has no flaw."""
    box.configure(JUDGE="off")
    found = audited(flawed)["findings"]
    assert [found[name]["count"] for name in ("junk", "contradictory", "stale")] == [None, None, 1]
    assert "the judge is off" in box.memman("audit").stdout
    box.memman("store", "create", "empty")
    assert {one["count"] for one in audited(box, "--store", "empty")["findings"].values()} == {None, 0}


def test_what_is_plain_is_no_junk(box):
    """A fact that is worth little to the judge is one all the same, and so is what has an end; chatter is junk."""
    for text in ("The kitchen is painted green.", "ok thanks", "fix the failing test", VPN):
        box.remember(text)
    box.drain()
    (junk,) = [one for one in audited(box)["findings"].values() if one["name"] == "junk"]
    assert {one["text"] for one in junk["examples"]} == {"ok thanks", "fix the failing test"}
    assert junk["count"] == 2


@pytest.mark.parametrize(
    ("memory", "line"),
    [
        ("We use pnpm, not npm, to install packages.", "Install packages with npm."),
        ("Use four spaces, never tabs.", "Indent with tabs."),
        ("The minimum Python is 3.12.", "We support Python 3.9 and newer."),
        ("Commit messages are in English.", "Write commit messages in German."),
    ],
)
def test_a_rule_that_goes_against_a_memory_is_named(box, memory, line):
    """Whichever of the two was said last."""
    box.remember(memory)
    box.drain()
    file = box.data.parent / "AGENTS.md"
    file.write_text(f"# Rules\n\n- {line}\n- The office is closed on Sundays.\n")
    found = json.loads(box.memman("audit", "--files", str(file), "--json").stdout)["findings"]
    assert [(one["line"], one["finding"]) for one in found] == [(3, "contradictory")]


RULES = """# Rules

- Billing is deployed to Render.
- Run the linter before
  each commit.

The office is closed on Sundays.
"""


def test_files_of_rules_are_compared_with_memory_line_by_line(box):
    """What a file says again, or otherwise, is named with its line and the memory; the rest is not."""
    for text in (TEXTS[0], TEXTS[1], "The kitchen is painted green."):
        box.remember(text)
    box.drain()
    file = box.data.parent / "AGENTS.md"
    file.write_text(RULES)
    found = json.loads(box.memman("audit", "--files", str(file), "--json").stdout)
    told = {(one["line"], one["finding"], one["memory"]["text"]) for one in found["findings"]}
    assert told == {(3, "contradictory", TEXTS[0]), (4, "duplicate", TEXTS[1])}
    assert (found["lines"], found["compared"]) == (3, 3)
    assert f"{file}:4  duplicate" in box.memman("audit", "--files", str(file)).stdout


def test_the_files_of_the_repository_are_found_and_others_must_be_there(box):
    """Without a path it is those at the root of the repository, each once; what is not there is said in one line."""
    root = box.data.parent / "work"
    (root / "below").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", root], check=True, env=box.environ)
    (root / "CLAUDE.md").write_text(RULES)
    (root / "AGENTS.md").symlink_to("CLAUDE.md")
    found = json.loads(box.memman("audit", "--files", "--json", cwd=root / "below").stdout)
    assert found["files"] == [str(root / "AGENTS.md")]
    for args in (("--files", "nowhere.md"), ("nowhere.md",), ("--files",)):
        done = box.memman("audit", *args)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
