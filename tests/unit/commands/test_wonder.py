"""What memory was asked and could not answer, what it holds weakly, and what is said otherwise."""

import json
import os
import subprocess
import time

from memman.config.asked import drop_asked
from tests.support.doubts import NEW, OLD, drained

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
