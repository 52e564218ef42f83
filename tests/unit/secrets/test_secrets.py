"""Secrets never reach disk or a provider, and almost nothing else is taken for one."""

import base64
import json
import random
import re
import subprocess
import time
import tomllib

import pytest

from memman.hot.capture import FIRST
from memman.secrets import ANYWHERE, BESIDE, CAPITALS, COMMAND, WITHIN, suspicious
from memman.secrets.matcher import redact
from memman.secrets.rules import FILE, FRAGMENTS, PLACES, PRIVATE, RULES, tables
from tests.support.providers import ScriptedProvider

TOKEN = "ghp_" + "Zk3vQ9tLw7Rb2Xy8Nc5Hd1Pf6Gj4Ms0Ua5Tq"
NAMES = [rule.name for rule in RULES]
TOKENS = [rule for rule in RULES if "token" in rule.row]
KNOWN = (*ANYWHERE, *WITHIN, *BESIDE, *COMMAND, *map(str.lower, CAPITALS))


def test_the_rules_are_plain_toml():
    """The quick reader finds in the file what TOML says: the same tables, each with the same keys."""
    with open(FILE, "rb") as source:
        told = tomllib.load(source)
    read = {}
    for name, row in tables():
        read.setdefault(name, []).append(row)
    assert [read.pop("fragments")] == [[told.pop("fragments")]]
    assert read == told
    assert [rule.name for rule in (PRIVATE, *RULES)] == [name for name, _ in tables()][1:]


def test_every_fragment_is_used():
    """No part of patterns stands in the file for nothing."""
    written = [*FRAGMENTS.values(), *(row.get("pattern", "") for _, row in tables())]
    used = {name for text in written for name in re.findall(r"\(\?&(\w+)", text)}
    assert used | {"start", "end", "hidden"} == {*FRAGMENTS}


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_a_rule_has_what_a_rule_needs(rule):
    """Each has words, one pattern with a secret in it, and an example of either kind; no key is misspelled."""
    assert rule.words
    assert ("token" in rule.row) != ("pattern" in rule.row)
    assert "secret" in rule.pattern.groupindex
    assert rule.caught
    assert rule.spared
    assert rule.row.keys() <= {*PLACES, "letters", "token", "pattern", "check", "caught", "spared"}


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_a_rule_catches_its_example(rule):
    """The rule's own example is replaced by the rule's marker, in a sentence, on a line, and between quotes."""
    for text in (rule.caught, f"use {rule.caught} here", f"first\n{rule.caught}\nlast", f'key = "{rule.caught}"'):
        assert f"[redacted:{rule.name}]" in redact(text)


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_a_rule_spares_what_only_looks_like_it(rule):
    """The rule's counter-example stays as it is."""
    assert redact(rule.spared) == rule.spared


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_the_prefilter_cannot_miss_what_a_rule_would_catch(rule):
    """Every word a rule needs holds a word of the prefilter, and its example passes the prefilter in any case."""
    assert all(any(known in word for known in KNOWN) for word in rule.words)
    assert any(word in rule.caught.lower() for word in rule.words)
    assert suspicious(rule.caught.upper())


def test_redacting_twice_changes_nothing_more():
    """Markers are not taken for secrets."""
    once = redact("\n".join(rule.caught for rule in RULES))
    assert redact(once) == once
    assert redact(f"[redacted:github-token]: {TOKEN[4:]}") == f"[redacted:github-token]: {TOKEN[4:]}"


@pytest.mark.parametrize("rule", TOKENS, ids=lambda rule: rule.name)
@pytest.mark.parametrize("before", ["prod-", "key_", "x--"])
def test_a_token_is_found_behind_a_joining_sign(rule, before):
    """A name that a token is joined to by `-` or `_` does not hide it."""
    found = rule.pattern.search(rule.caught)
    token, start = found["secret"], found.start("secret")
    strict = rule.name == "mailgun-key"
    assert (token in redact(rule.caught[:start] + before + token)) is strict


def test_a_token_is_no_name_of_a_store(box):
    """No store, binding or session's file is called by a token: the first two are refused, the last a digest."""
    for args in (("store", "create", TOKEN[:60]), ("remember", "--store", TOKEN, "Redis caches.")):
        ended = box.memman(*args)
        assert ended.returncode == 2
        assert "contains a secret" in ended.stderr
        assert TOKEN not in ended.stderr
    box.memman("hook", "user-prompt", "--host", "codex", input=f'{{"session_id": "{TOKEN}", "prompt": "Deploy it."}}')
    assert TOKEN.encode() not in everything(box)
    assert not [path for path in box.data.rglob("*") if TOKEN in path.name]


def test_a_repository_called_after_a_token_is_not_bound(box):
    """The table of bindings holds no folder whose name is a token."""
    folder = box.data.parent / f"repo-{TOKEN}"
    folder.mkdir()
    subprocess.run(["git", "init", "-q", folder], check=True)
    box.memman("store", "create", "work")
    ended = box.memman("store", "bind", "work", cwd=folder)
    assert ended.returncode == 2
    assert "contains a secret" in ended.stderr
    assert TOKEN.encode() not in everything(box)


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
}


def test_the_rule_of_private_passages_keeps_its_examples():
    """What it must catch is dropped, and what only looks like a tag stays."""
    assert redact(PRIVATE.caught) == "[private]"
    assert redact(PRIVATE.spared) == PRIVATE.spared
    assert suspicious(PRIVATE.caught)


@pytest.mark.parametrize("text", PASSAGES)
def test_private_passages_are_dropped(text):
    """What stands in <private> is dropped, to the end of the text where it is not closed."""
    assert redact(f"before {text}") == "before [private]"


def test_a_private_passage_that_began_elsewhere_is_dropped():
    """Of a passage split over two fields both parts go; what stands between two passages stays."""
    assert redact("end of it</private> and after") == "[private] and after"
    assert redact("<private>a</private> b <private>c") == "[private] b [private]"
    assert redact("<privateer> sails") == "<privateer> sails"


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_does_not_hang_the_rules(text):
    """The longest note allowed is gone through in proportion to its length, whatever is in it."""
    began = time.process_time()
    redact(text)
    assert time.process_time() - began < 20.0  # in proportion to the square it would be many minutes


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


@pytest.mark.parametrize("http", [False, True], ids=["builtin", "http"])
def test_a_planted_secret_is_nowhere(box, http, rounds):
    """After remember, drain and recall no file, no log and no request holds a secret that the notes held."""
    secrets = {rule.name: rule.caught for rule in RULES[http :: rounds(8, 1)]}
    with ScriptedProvider() as provider:
        if http:
            box.use(provider)
        for number, (name, caught) in enumerate(secrets.items()):
            said = f"Service{number} uses {caught} for {name}."
            ended = box.memman("remember", "--entities", f"Service{number},{caught}", "-", input=said)
            assert ended.returncode == 0, ended.stderr
        written = everything(box)
        box.drain()
        shown = box.memman("recall", "Service1 uses", "--limit", "50", "--json").stdout
        sent = [str(got.body) + str(got.headers) for got in provider.received]
        assert bool(sent) == http
    parts = {name: essential(redact(caught), caught) for name, caught in secrets.items()}
    for place in (written, everything(box), shown.encode(), *(text.encode() for text in sent)):
        assert not {name for name, part in parts.items() if part.encode() in place}
    assert len(box.store("SELECT DISTINCT note FROM memory")) == len(secrets)


def test_a_secret_that_reached_the_queue_goes_no_further(box):
    """What some other channel queued unscreened is redacted before any provider, journal or store sees it."""
    caught = next(rule.caught for rule in RULES if rule.name == "github-token")
    with ScriptedProvider() as provider:
        box.use(provider)
        box.remember("Deploys use a token for pushes.")
        said = (f"Deploys use {caught} for pushes.", f"Deploys\n{caught}")
        box.queue("UPDATE note SET text = ?, entities = ?, digest = NULL", *said)
        box.drain()
        assert provider.calls.total() > 0
        assert not [got for got in provider.received if caught in str(got.body)]
    assert caught.encode() not in b"".join(path.read_bytes() for path in box.store_path().parent.iterdir())
    assert box.queue("SELECT text FROM note") == [""]
    assert "[redacted:github-token]" in box.recall("what do deploys use")[0]


def essential(redacted, caught):
    """Return the secret proper: what stands in the example where the marker stands in its redaction."""
    start = redacted.index("[redacted:")
    rest = len(redacted) - redacted.index("]", start) - 1
    return caught[start : len(caught) - rest]


def everything(box):
    """Return every byte of every file in the data folder, the settings apart."""
    return b"\0".join(path.read_bytes() for path in box.data.rglob("*") if path.is_file() and path.name != "env")


def test_nothing_of_a_secret_is_left_behind_its_marker():
    """A value that goes on after a bracket or a dollar sign is taken out whole."""
    assert redact("SECRET_KEY='django-insecure-9k$w9x&^t!r%mz0q'") == "SECRET_KEY='[redacted:generic-secret]'"


def test_what_surrounds_a_note_is_screened_too(box):
    """A token in the name of the folder, or in the remark on an edge, does not reach the disk."""
    token = "ghp_" + "Zk3vQ9tLw7Rb2Xy8Nc5Hd1Pf6Gj4Ms0Ua5Tq"
    folder = box.data.parent / token
    folder.mkdir()
    for text in ("Redis caches the sessions.", "Postgres keeps the invoices."):
        assert box.memman("remember", text, cwd=folder).returncode == 0
    box.drain()
    ends = box.store("SELECT uid FROM memory ORDER BY id")
    assert box.memman("graph", "link", *ends, "--note", f"see {token}", cwd=folder).returncode == 0
    files = [path.read_bytes() for path in box.data.rglob("*") if path.is_file()]
    assert not any(token.encode() in content for content in files)


CERTIFICATE = base64.b64encode(b"-----BEGIN CERTIFICATE-----\n" + random.Random(1).randbytes(600)).decode()
KEY = base64.b64encode(b"-----BEGIN RSA PRIVATE KEY-----\n" + random.Random(1).randbytes(600)).decode()


def lines(text, width):
    """Break a text into lines."""
    return "\n".join(text[at : at + width] for at in range(0, len(text), width))


@pytest.mark.parametrize("width", [61, 62, 63, 64, 76, 900])
def test_armour_in_base64_is_told_apart_however_its_lines_are_broken(width):
    """A key goes whole, a certificate stays; one that was cut anywhere stops nothing."""
    assert redact(f"CA:\n{lines(CERTIFICATE, width)}\n") == f"CA:\n{lines(CERTIFICATE, width)}\n"
    assert redact(f"key:\n{lines(KEY, width)}\nend") == "key:\n[redacted:private-key-base64]\nend"
    assert all(redact(CERTIFICATE[:cut]) == CERTIFICATE[:cut] for cut in range(40, 120))


def test_a_certificate_in_base64_is_remembered(box):
    """A note with one in lines is queued, and a turn with one is kept."""
    ended = box.memman("remember", "-", input=f"The CA of staging is:\n{lines(CERTIFICATE, 76)}")
    assert ended.returncode == 0, ended.stderr
    said = {"session_id": "s", "cwd": str(box.data.parent), "prompt": f"Always use pnpm. CA:\n{lines(CERTIFICATE, 76)}"}
    box.memman("hook", "user-prompt", "--host", "claude-code", input=json.dumps(said))
    assert b"Always use pnpm" in everything(box)


def test_a_cut_leaves_no_half_of_a_token(box):
    """Where a long prompt is cut through a token, what is left of it goes too, though all before it was private."""
    before = f"<private>{'x' * 20_000}</private> " + "lorem ipsum dolor sit amet " * 400
    prompt = f"{before[: 2 * FIRST - 39]}{TOKEN} end. {'tail text here. ' * 2_000}"
    said = json.dumps({"session_id": "s", "cwd": str(box.data.parent), "prompt": prompt})
    for event in ("user-prompt", "stop"):
        box.memman("hook", event, "--host", "claude-code", input=said)
    assert b"lorem ipsum" in everything(box)
    assert TOKEN[:20].encode() not in everything(box)
