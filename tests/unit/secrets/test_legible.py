"""Text as it comes: escape sequences, lone surrogates, parts, slash commands and rare line ends."""

import json

import pytest

from memman.hot.frame import uncommanded
from memman.model.text import clean
from memman.queue.late import counts
from memman.secrets import legible, screened
from tests.support.hook_calls import hook

LINK = "\x1b]8;;https://example.org/x\x1b\\our page\x1b]8;;\x1b\\"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("\x1b[1;31mfails\x1b[0m on \x1b[38;2;1;2;3mred\x1b[m", "fails on red"),
        (f"see {LINK} first", "see our page first"),
        ("\x1b]0;title\aport 9191", "port 9191"),
        ("\x9b31mred\x9b0m \x9d8;;u\x9clink", "red link"),
        ("\x1b(B\x1b)0\x1b7plain\x1b8", "plain"),
        ("cut off \x1b[", "cut off "),
        ("never closed \x1b]8;;words that stay", "never closed 8;;words that stay"),
        ("\x1b\x1b[2Kline", "line"),
        ("lone \ud83d and caf\udce9, a pair \ud83d\ude00", "lone \ufffd and caf\ufffd, a pair \U0001f600"),
        ("中文 stays [31m] as typed; U+2028 \u2028 too", "中文 stays [31m] as typed; U+2028 \u2028 too"),
    ],
)
def test_whole_sequences_and_lone_surrogates_go(text, left):
    """Nothing of a sequence stays, and nothing of the words goes; the same for what is written and what is shown."""
    assert (legible(text), screened(text)) == (left, left)
    assert clean(text) == " ".join(left.split())


def test_a_secret_in_colours_is_one():
    """What a terminal would show as one word is looked at as one."""
    key = "AKIA" + "QYLPMN5HHHFPZAM2"
    assert key not in screened(f"key \x1b[31m{key[:7]}\x1b[1m{key[7:]}\x1b[0m")
    assert "[redacted:" in screened(f"key \x1b[31m{key[:7]}\x1b[1m{key[7:]}\x1b[0m")


@pytest.mark.parametrize(
    ("prompt", "left"),
    [
        ("/clear", ""),
        ("/model fast", ""),
        ("/fix 为什么不响应", "为什么不响应"),
        ("  /feature Add a login page.\nUse bun.", "Add a login page.\nUse bun."),
        ("/etc/hosts is wrong", "/etc/hosts is wrong"),
        ("a /b", "a /b"),
        ("", ""),
    ],
)
def test_what_follows_a_command_is_the_users(prompt, left):
    """A leading slash makes a command, unless the word goes on as a path."""
    assert uncommanded(prompt) == left


def test_a_question_behind_a_command_is_answered_and_its_turn_kept(box):
    """So is one in a prompt that is a list of parts; an image among them is passed over."""
    box.remember("The shop's dev server listens on port 9191.")
    box.drain()
    words = "why does the dev server of the shop not answer on its port"
    parts = [{"type": "image", "source": {}}, {"type": "text", "text": f"{words} today"}]
    for session, prompt in (("a", f"/fix {words}"), ("b", parts)):
        fields = {"session_id": session, "cwd": str(box.data.parent), "prompt": prompt}
        assert b"9191" in hook(box, "user-prompt", "claude-code", json.dumps(fields).encode()).stdout
        hook(box, "stop", "claude-code", json.dumps(fields | {"last_assistant_message": "Done."}).encode())
    assert box.queue("SELECT text FROM note WHERE channel = 'turn' AND state = 'pending'") == [words, f"{words} today"]


def test_a_payload_that_is_too_long_is_counted(box):
    """Its turn goes on, and status says that it was not read."""
    box.remember("The heron nests by the river.")
    raw = json.dumps({"session_id": "s", "prompt": "x" * (4 << 20)}).encode()
    assert hook(box, "user-prompt", "claude-code", raw).stdout == b""
    assert counts(str(box.data), 60)["large"] == 1
    assert "payloads above 4 MB not read 1" in box.memman("status").stdout


def test_only_a_line_feed_ends_a_line(box):
    """U+2028 and its like stay where they are, in a list of notes and a list to import."""
    said = "the banner reads\u2028hello\x85there\x0cagain"
    assert len(box.memman("remember", "--lines", "-", input=f"{said}\nsecond").stdout.split()) == 2
    (box.data.parent / "list.txt").write_text(f"third {said}\n")
    assert "1 to import" in box.memman("import", str(box.data.parent / "list.txt"), "--dry-run").stdout
