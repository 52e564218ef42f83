"""Lines of prose, code and settings: the secrets in them go, everything else stays, and nothing takes long."""

import base64
import random
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memman.secrets import HIDDEN, suspicious
from memman.secrets.matcher import redact
from memman.secrets.rules import PRIVATE, RULES

TOKEN = "ghp_" + "Zk3vQ9tLw7Rb2Xy8Nc5Hd1Pf6Gj4Ms0Ua5Tq"
LINES = Path(__file__).parents[2] / "data"
SECRET = [
    line.replace("¶", "\n") for line in (LINES / "secret_lines.txt").read_text().replace("¦", "").splitlines()[1:]
]
BENIGN = [line.replace("¶", "\n") for line in (LINES / "benign_lines.txt").read_text().splitlines()]
PIECE = 6


def pieces(secret):
    """Return every six characters of a secret that stand together."""
    return [secret[at : at + PIECE] for at in range(len(secret) - PIECE + 1)]


def test_a_secret_is_taken_out():
    """No six characters of a secret are left, alone on its line or amid a text; the prefilter saw it."""
    missed = []
    for line in SECRET:
        secret = re.search("«(.+)»", line, re.DOTALL)[1]
        said = line.replace("«", "").replace("»", "")
        for text in (said, f"We met on Monday.\n{said}\nThen we left."):
            left = redact(text)
            gone = ("[redacted:" in left or "[private]" in left) and not any(one in left for one in pieces(secret))
            missed += [] if gone and suspicious(text) and redact(left) == left else [(text, left)]
    assert missed == [], "\n".join(map(repr, missed))


def test_what_is_no_secret_stays():
    """Placeholders, types, code, names and talk about secrets stay as they are."""
    touched = [(line, redact(line)) for line in BENIGN if redact(line) != line]
    assert touched == [], "\n".join(map(repr, touched))


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


def test_redacting_twice_changes_nothing_more():
    """Markers are not taken for secrets."""
    once = redact("\n".join(rule.caught for rule in RULES))
    assert redact(once) == once
    assert redact(f"[redacted:github-token]: {TOKEN[4:]}") == f"[redacted:github-token]: {TOKEN[4:]}"


def test_nothing_of_a_secret_is_left_behind_its_marker():
    """A value that goes on after a bracket or a dollar sign is taken out whole."""
    assert redact("SECRET_KEY='django-insecure-9k$w9x&^t!r%mz0q'") == "SECRET_KEY='[redacted:generic-secret]'"


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


@pytest.mark.slow
def test_a_rule_takes_time_in_proportion_to_the_text(rounds):
    """Of texts full of beginnings none takes long, and one that takes noticeable time takes it in proportion."""
    longest, noticed, slow = rounds(16_384, 65_536), rounds(0.1, 0.4), []
    for rule in RULES:
        texts = list(repeated(rule, longest))
        for text in random.Random(rule.name).sample(texts, min(rounds(3, 1000), len(texts))):
            began = time.process_time()
            redact(text)
            # In proportion it would be four times, to the square sixteen.
            if time.process_time() - began > noticed and seconds(text) >= 9 * seconds(text[: longest // 4]):
                slow.append((rule.name, text[:60]))
    assert slow == [], "\n".join(map(repr, slow))


def test_a_text_without_a_secret_stays_as_it_is() -> None:
    """Invisible characters are looked through, and go only where they hid a secret."""
    assert redact("a\u200bb \u202e c") == "a\u200bb \u202e c"
    assert "ghp_" not in redact("ghp_Zk3vQ9tLw7Rb2Xy8\u200bNc5Hd1Pf6Gj4Ms0Ua5Tq")


PASSAGES = (
    "<private>abc</private>",
    "<PRIVATE >a\nb</Private >",
    "<private>never closed",
    "<private x='1'>a</private>",
    "<private>a<private>b</private>c</private>",
    "< private >a</ private>",
    "&lt;private&gt;a&lt;/private&gt;",
)
HOSTILE = {
    "one word": "a" * 65_536,
    "passwords": "password" * 8_000,
    "long key": "sk-" + "a" * 60_000,
    "open keys": "-----BEGIN PRIVATE KEY-----" * 2_000,
    "private": "<private>" * 6_000 + "</private>" * 7_000,
    "addresses": "://" * 20_000,
    "blanks": "password is" + " " * 60_000,
    "tables": "password|token,key;\t|\n" * 3_000,
}


def test_the_rule_of_private_passages_keeps_its_examples():
    """What it must catch is dropped, and what only looks like a tag stays."""
    assert redact(PRIVATE.caught) == "[private]"
    assert redact(PRIVATE.spared) == PRIVATE.spared
    assert suspicious(PRIVATE.caught)


def test_private_passages_are_dropped():
    """What stands in <private> is dropped, to the end of the text where it is not closed."""
    assert [text for text in PASSAGES if redact(f"before {text}") != "before [private]"] == []


def test_a_private_passage_that_began_elsewhere_is_dropped():
    """Of a passage split over two fields both parts go; what stands between two passages stays."""
    assert redact("end of it</private> and after") == "[private] and after"
    assert redact("<private>a</private> b <private>c") == "[private] b [private]"
    assert redact("<privateer> sails") == "<privateer> sails"


@pytest.mark.slow
def test_hostile_text_does_not_hang_the_rules():
    """The longest note allowed is gone through in proportion to its length, whatever is in it."""
    taken = {}
    for name, text in HOSTILE.items():
        began = time.process_time()
        redact(text)
        taken[name] = time.process_time() - began
    # In proportion to the square it would be many minutes of the processor.
    assert {name: took for name, took in taken.items() if took > 20} == {}


def benign(chance):
    """Write lines such as stand in notes, none of them a secret."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    word = lambda: "".join(chance.choice(letters) for _ in range(chance.randint(3, 10)))  # noqa: E731
    digits = lambda n, base="0123456789abcdef": "".join(chance.choice(base) for _ in range(n))  # noqa: E731
    uuid = lambda: "-".join(digits(n) for n in (8, 4, 4, 4, 12))  # noqa: E731
    base64 = letters + letters.upper() + "0123456789+/"
    makers = (
        lambda: f"commit {digits(40)} fixes the {word()} in {word()}/{word()}.py",
        lambda: f"request {uuid()} took {chance.randint(1, 900)} ms on host {word()}-{digits(4)}",
        lambda: f"https://{word()}.example.com/{word()}/{uuid()}?page={chance.randint(1, 99)}&sort={word()}#{word()}",
        lambda: f"http://localhost:{chance.randint(1000, 9999)}/api/v{chance.randint(1, 4)}/{word()}",
        lambda: "data:image/png;base64,iVBORw0KGgo" + "".join(chance.choice(base64) for _ in range(120)) + "==",
        lambda: (
            f"{word()}=={chance.randint(0, 30)}.{chance.randint(0, 30)}.{digits(1, '0123456789')} # sha256:{digits(64)}"
        ),
        lambda: f"def {word()}_{word()}(self, token: str, password: str | None = None) -> {word().title()}:",
        lambda: f"    return self._{word()}[{word()!r}].get('{word()}_token', DEFAULT_{word().upper()})",
        lambda: f"The {word()} service reads its password from {word().upper()}_PASSWORD and the token from Vault.",
        lambda: f"if not auth.{word()}(request.headers['Authorization']): raise {word().title()}Error",
        lambda: f"tokenizer = {word().title()}Tokenizer.from_pretrained('{word()}-{word()}-{chance.randint(1, 70)}b')",
        lambda: f"max_tokens: {chance.randint(100, 8000)}, temperature: 0.7, token budget {chance.randint(1, 99)}k",
        lambda: f"password reset mails go out through {word()}; the secret to a fast {word()} is {word()} and {word()}",
        lambda: f"ssh -i ~/.ssh/id_ed25519 {word()}@{word()}.example.org 'systemctl restart {word()}'",
        lambda: f"git clone git@github.com:{word()}/{word()}.git && cd {word()} && make {word()}",
        lambda: f"kubectl get secret {word()}-{word()} -n {word()} -o yaml",
        lambda: f"export API_KEY=$(pass show {word()}/{word()})",
        lambda: f"api_key: ${{{word().upper()}_API_KEY}}",
        lambda: f"token = os.environ['{word().upper()}_TOKEN']",
        lambda: f"docker pull registry.example.com/{word()}/{word()}@sha256:{digits(64)}",
        lambda: f'ETag: "{digits(32)}" Last-Modified: Sat, {chance.randint(1, 28)} Nov 2026 05:40:00 GMT',
        lambda: f"the key-value store {word()} keeps {chance.randint(1, 99)} shards; sk-learn trains {word()}",
        lambda: f"We chose {word()} over {word()} because {word()} was {chance.randint(2, 9)}x slower ({word()}, p95).",
        lambda: f"note {digits(12)}7{digits(3)}8{digits(15)} was parked after 5 attempts",
        lambda: f"PASSWORD_MIN_LENGTH = {chance.randint(8, 32)}  # see {word()}/{word()}.md",
        lambda: f"secretary {word().title()} authored {word()}.tokens in {word()} v2.{chance.randint(0, 20)}",
        lambda: f"integrity sha512-{''.join(chance.choice(base64) for _ in range(86))}==",
        lambda: f"author: {word().title()} <{word()}@example.com>, authenticate via {word()} SSO",
        lambda: f"assert response.json()['access_token'] == {word()}_fixture  # {word()}",
        lambda: f"-----BEGIN CERTIFICATE----- {digits(48, base64)} -----END CERTIFICATE-----",
    )
    return [make() for make in makers for _ in range(34)]


def test_benign_lines_are_left_alone():
    """Of a thousand lines of code, prose, hashes, addresses and images fewer than one in two hundred is touched."""
    lines = benign(random.Random(11))
    assert len(lines) > 1000
    touched = [line for line in lines if redact(line) != line]
    assert len(touched) < 0.005 * len(lines), touched[:10]


CERTIFICATE = base64.b64encode(b"-----BEGIN CERTIFICATE-----\n" + random.Random(1).randbytes(600)).decode()
KEY = base64.b64encode(b"-----BEGIN RSA PRIVATE KEY-----\n" + random.Random(1).randbytes(600)).decode()


def lines(text, width):
    """Break a text into lines."""
    return "\n".join(text[at : at + width] for at in range(0, len(text), width))


def test_armour_in_base64_is_told_apart_however_its_lines_are_broken():
    """A key goes whole, a certificate stays; one that was cut anywhere stops nothing."""
    for width in (61, 62, 63, 64, 76, 900):
        assert redact(f"CA:\n{lines(CERTIFICATE, width)}\n") == f"CA:\n{lines(CERTIFICATE, width)}\n", width
        assert redact(f"key:\n{lines(KEY, width)}\nend") == "key:\n[redacted:private-key-base64]\nend", width
    assert all(redact(CERTIFICATE[:cut]) == CERTIFICATE[:cut] for cut in range(40, 120))
