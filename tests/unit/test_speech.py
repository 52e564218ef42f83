"""What of a prompt is its author's own, and what they pasted without a fence."""

import json
import time
from pathlib import Path

import pytest

from memman.judge.judge import Judge
from memman.llm.builtin.turn import turn
from memman.pipeline.speech import continued, own

# Prompts, and what in them was pasted or is their author's own; `later` ones showed what the patterns lacked.
PROMPTS = [
    json.loads(line) for line in Path(__file__).with_name("prompts.jsonl").read_text(encoding="utf-8").splitlines()
]
JUDGE = Judge()


def prompts(which, *, own):
    """Return (prompt, what is said in it) of one set."""
    return [(p["text"], p["said"]) for p in PROMPTS if (p["set"], p["own"]) == (which, own)]


def kept(text):
    """Return what the judge keeps of a prompt."""
    return [fact["text"] for fact in turn({"user": own(text), "agent": "", "summary": ""}, JUDGE)["facts"]]


@pytest.mark.parametrize(("which", "size", "at_most"), [("first", 40, 2), ("later", 100, 5)])
def test_what_was_pasted_unfenced_is_not_the_users(which, size, at_most):
    """Of files, command output, chats, mails, tickets, reviews and other models' answers nothing is the user's."""
    told = prompts(which, own=False)
    assert len(told) == size
    leaked = [text for text, pasted in told if any(said in own(text) for said in pasted)]
    assert len(leaked) <= at_most, leaked


@pytest.mark.parametrize(("which", "size", "at_least"), [("first", 25, 21), ("later", 55, 42)])
def test_what_the_user_says_beside_a_paste_is_kept(which, size, at_least):
    """Before a paste, after it, or in a list that they typed."""
    told = prompts(which, own=True)
    assert len(told) == size
    assert [text for text, said in told if not all(one in own(text) for one in said)] == []
    caught = [text for text, said in told if all(any(one in fact for fact in kept(text)) for one in said)]
    assert len(caught) >= at_least, [text for text, _ in told if text not in caught]


@pytest.mark.parametrize(
    "text",
    [
        "from now on always use tabs",
        "class names are PascalCase here",
        "function names use snake_case",
        "package names are always lowercase",
        "using tabs is fine",
        "config.yml: always keep the keys sorted",
        "as I said: never use tabs",
        "make docs/readme.md shorter in the first part\nnever use badges",
        "go through src/app.py\nalways use early returns",
        "let's deploy at 10:00\nnever earlier",
        "[Image #1] I prefer dark charts",
    ],
)
def test_a_sentence_that_looks_like_code_is_still_said(text):
    """A keyword, a file's name or an attachment at its beginning makes nobody else's of it."""
    assert own(text) == text.removeprefix("[Image #1] ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import os, sys\nfix it", ""),
        ("def run(self):\nfix it", ""),
        ("from a import b\n\nfix it", "fix it"),
        ("class Foo\n\nfix it", "fix it"),
        ("C:\\src> dir\nnever", ""),
        ("src/App.cs(12,3): never", ""),
    ],
)
def test_code_and_prompts_of_a_shell_are_a_machines(text, said):
    """Imports, definitions, prompts and a compiler's lines are not said."""
    assert own(text) == said


def test_the_summary_of_a_session_that_goes_on_is_not_the_prompts():
    """What a host writes as the user when a session grew too long is the agent's; what stood before it is theirs."""
    summary = "This session is being continued from a previous conversation that ran out of context. I prefer tabs."
    assert continued(summary) == ("", summary)
    assert continued("no, use uv\n\n" + summary) == ("no, use uv\n\n", summary)
    assert continued("use uv") == ("use uv", "")


HOSTILE = (
    "a\n\n",
    "a: b\n",
    "x=",
    "said\n",
    "a.",
    "a/",
    "I said ",
    "a@b",
    "w",
    "From: ",
    "git ",
    "dear x,\n\n",
    "AB-1 ",
)


@pytest.mark.parametrize("part", HOSTILE)
def test_a_long_prompt_costs_little(part):
    """No pattern runs away over 64 kB."""
    text = part * (65_536 // len(part))
    began = time.process_time()
    own(text)
    assert time.process_time() - began < 2
