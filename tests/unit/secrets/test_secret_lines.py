"""Lines of prose, code and settings: the secrets in them go, everything else stays, and nothing takes long."""

import random
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memman.secrets import HIDDEN, suspicious
from memman.secrets.matcher import redact
from memman.secrets.rules import RULES

LINES = Path(__file__).parents[2] / "data"
SECRET = [
    line.replace("¶", "\n") for line in (LINES / "secret_lines.txt").read_text().replace("¦", "").splitlines()[1:]
]
BENIGN = [line.replace("¶", "\n") for line in (LINES / "benign_lines.txt").read_text().splitlines()]
PIECE = 6


@pytest.mark.parametrize("line", SECRET)
def test_a_secret_is_taken_out(line):
    """No six characters of the secret are left, alone on its line or amid a text, and the prefilter saw it."""
    secret = re.search("«(.+)»", line, re.DOTALL)[1]
    said = line.replace("«", "").replace("»", "")
    for text in (said, f"We met on Monday.\n{said}\nThen we left."):
        left = redact(text)
        assert "[redacted:" in left or "[private]" in left
        assert not [secret[at : at + PIECE] for at in range(len(secret) - PIECE + 1) if secret[at : at + PIECE] in left]
        assert suspicious(text)
        assert redact(left) == left


@pytest.mark.parametrize("line", BENIGN)
def test_what_is_no_secret_stays(line):
    """Placeholders, types, code, names and talk about secrets stay as they are."""
    assert redact(line) == line


def test_the_lists_are_long_enough():
    """A rate over fewer than sixty lines would say little."""
    assert min(len(set(SECRET)), len(set(BENIGN))) >= 60


def test_a_secret_behind_what_is_none_is_found():
    """What looks like a value and is none does not hide the secret that begins in it."""
    assert redact("token: PASSWORD=vK2xLp9Wd4") == "token: PASSWORD=[redacted:password]"
    assert redact("secret: https://x.example/?token=Zk3vQ9tLw7&b=1").endswith("?token=[redacted:generic-secret]&b=1")


def test_a_long_secret_leaves_no_tail():
    """A value that is longer than what a rule looks at goes whole."""
    assert redact(f"client_secret={'Zk3vQ9tLw7' * 200} and more") == "client_secret=[redacted:generic-secret] and more"


WORD = st.sampled_from([word for rule in RULES for word in rule.words] + [rule.caught for rule in RULES])
PIECES = st.one_of(
    WORD, WORD.map(str.upper), st.sampled_from([*HIDDEN, *"=: \"'\n", " is ", "x1Yz9Kq2Lm7"]), st.text(max_size=3)
)


@given(st.lists(PIECES, max_size=8).map("".join), st.sampled_from(["", *HIDDEN]), st.integers(0, 200))
def test_the_prefilter_flags_whatever_the_rules_change(text, mark, at):
    """Over texts made of what rules look for, split or not: what the rules change is suspicious."""
    text = text[:at] + mark + text[at:]
    if redact(text) != text:
        assert suspicious(text)


RUNS = st.text("AZaz09+/", min_size=1, max_size=70)
BROKEN = st.one_of(
    WORD, RUNS, RUNS.map(lambda run: "LS0tLS1CRUdJTi" + run), st.sampled_from([*"=: \"'\n\\%<>", "\\n", "==", "MII"])
)


@given(st.lists(BROKEN, max_size=12).map("".join), st.integers(0, 300))
def test_no_text_stops_the_rules(text, at):
    """Over words of rules, runs of base64 and breaks of lines, cut anywhere: no rule raises."""
    for part in (text, text[:at], text[at:]):
        assert isinstance(redact(part), str)


def repeated(rule, longest):
    """Yield texts that are all beginnings of what a rule looks for."""
    for word in {rule.words[0], rule.words[-1], rule.caught[:16]}:
        for end in (
            *("", "=", ":=", "=abc&", ": ", " is ", " for ", "=a;", "-", "@", '": "', "a" * 16, "a1B2" * 25, "é"),
            *("a1B2c3d4 ", "(" + "x" * 38, "\u200b", "=\n"),
        ):
            yield (word + end) * (longest // len(word + end))
        for run in ("a", "A1b2", " ", ".", '"', "=", "-", "://", "\n", "\\", '\\"', '""', "a\\", "abcd1 "):
            yield f"{word}={run * (longest // len(run))}"
            yield f"{word} {run * (longest // len(run))}"


def seconds(text):
    """Return how long the rules take, at best of two."""
    taken = []
    for _ in range(2):
        began = time.process_time()
        redact(text)
        taken.append(time.process_time() - began)
    return min(taken)


@pytest.mark.parametrize("rule", RULES, ids=[rule.name for rule in RULES])
def test_a_rule_takes_time_in_proportion_to_the_text(rule, rounds):
    """Of texts full of beginnings none takes long, and one that takes noticeable time takes it in proportion."""
    longest, noticed = rounds(16_384, 65_536), rounds(0.1, 0.4)
    texts = list(repeated(rule, longest))
    for text in random.Random(rule.name).sample(texts, min(rounds(10, 1000), len(texts))):
        began = time.process_time()
        redact(text)
        if time.process_time() - began > noticed:
            # In proportion it would be four times, to the square sixteen.
            assert seconds(text) < 9 * seconds(text[: longest // 4]), text[:60]


def test_a_text_without_a_secret_stays_as_it_is() -> None:
    """Invisible characters are looked through, and go only where they hid a secret."""
    assert redact("a\u200bb \u202e c") == "a\u200bb \u202e c"
    assert "ghp_" not in redact("ghp_Zk3vQ9tLw7Rb2Xy8\u200bNc5Hd1Pf6Gj4Ms0Ua5Tq")
