"""A person's first use, on real input: this repository's own README and commit log."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# What a good answer to each line of questions.txt says.
QUESTIONS = (ROOT / "e2e/questions.txt").read_text().splitlines()
# The log is fed up to here, so that a later commit's message cannot change an answer. They are counted, not named: a
# history that is written anew has other names.
COMMITS = 40
ANSWERS = ("3.11", "notes wait", "memman_store", "no daemon", "apache 2.0")


@pytest.fixture(name="env", scope="module")
def _env(user: dict[str, str]) -> dict[str, str]:
    """Return an environment whose store holds README and log, drained by the built-in model."""
    env = user
    subprocess.run([ROOT / "e2e/feed.sh", str(COMMITS)], env=env, check=True)
    done = subprocess.run(["memman", "scheduler", "drain"], env=env, check=True, capture_output=True, text=True)
    notes = COMMITS + 1 + (ROOT / "README.md").read_text().count("\n## ")
    assert done.stdout.startswith(f"processed {notes} notes")
    assert "0 deferred, 0 parked" in done.stdout
    return env


@pytest.mark.parametrize(("question", "answer"), list(zip(QUESTIONS, ANSWERS, strict=True)))
def test_the_answer_is_among_the_top_three_hits(env: dict[str, str], question: str, answer: str) -> None:
    """Each of five questions about the project finds its answer among the first three hits."""
    done = subprocess.run(
        ["memman", "recall", "--limit", "3", question], env=env, check=True, capture_output=True, text=True
    )

    assert answer in done.stdout.lower()
