"""A person's first use, on real input: this repository's own README and commit log."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# What a good answer to each line of questions.txt says.
QUESTIONS = (ROOT / "e2e/questions.txt").read_text().splitlines()
# The log ends here, so that a later commit's message cannot change an answer; a clone without it feeds the README.
REVISION = "c908b0e05"
ANSWERS = ("3.11", "notes wait", "memman_store", "no daemon", "apache 2.0")


@pytest.fixture(name="env", scope="module")
def _env(user: dict[str, str]) -> dict[str, str]:
    """Return an environment whose store holds README and log, drained by the built-in model."""
    env = user
    subprocess.run([ROOT / "e2e/feed.sh", REVISION], env=env, check=True)
    done = subprocess.run(["memman", "scheduler", "drain"], env=env, check=True, capture_output=True, text=True)
    assert "0 deferred, 0 parked" in done.stdout
    return env


@pytest.mark.parametrize(("question", "answer"), list(zip(QUESTIONS, ANSWERS, strict=True)))
def test_the_answer_is_among_the_top_three_hits(env: dict[str, str], question: str, answer: str) -> None:
    """Each of five questions about the project finds its answer among the first three hits."""
    done = subprocess.run(
        ["memman", "recall", "--limit", "3", question], env=env, check=True, capture_output=True, text=True
    )

    assert answer in done.stdout.lower()
