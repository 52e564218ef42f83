"""Random secrets of every class, in every dress, against thousands of lines without one."""

import base64
import hashlib
import importlib.metadata
import json
import random
import re
import string
import sysconfig
import uuid
from collections import Counter
from pathlib import Path

import pytest

import memman
from memman.secrets import suspicious
from memman.secrets.matcher import redact
from memman.secrets.rules import RULES

ROOT = Path(__file__).parents[2]
CLASSES = [
    tuple(line.split(" | ", 3))
    for line in (ROOT / "tests/data/secret_classes.txt").read_text().splitlines()
    if not line.startswith("#")
]
HEX, SMALL = "0123456789abcdef", string.ascii_lowercase + string.digits
MIXED = string.ascii_letters + string.digits
ALPHABETS = {
    "h": HEX, "d": string.digits, "n": SMALL, "N": SMALL.upper(), "w": MIXED, "u": MIXED + "_-", "b": MIXED + "+/",
    "l": string.ascii_letters, "3": string.ascii_uppercase + "234567",
}  # fmt: skip
# How a secret that says itself what it is may stand in a note.
BARE = (
    "{}", '"{}"', "'{}'", "`{}`", "Use {} for deploys.", "It was {}, and then it was rotated.", "The key: {}.",
    '{{"value": "{}", "n": 1}}', "value: {}\nnext: 1", "export VALUE={}", "VALUE='{}' make deploy",
    "https://example.com/?v={}&page=2", "```\n{}\n```", "({})", "line\\n{}\\nline", "<td>{}</td>", "https://{}@git.example.com/a",
    "first\n{}\nlast", "| name | {} |", "**{}**",
)  # fmt: skip
# How one may stand that only its name gives away.
NAMED = (
    "{name}={}", "{NAME}={}", "export {NAME}='{}'", '{name} = "{}"', '"{name}": "{}"', "{name}: {}", "{name} => '{}'",
    "{words} is {}", "the {words} is {}.", "{words}: `{}`", "const {name} := '{}';",
)  # fmt: skip


def grown(form: str, chance: random.Random) -> tuple[str, str]:
    """Make a random secret of a form; return it and the longest part of it that was drawn."""
    parts = []

    def drawn(found: re.Match[str]) -> str:
        each = str(uuid.UUID(int=chance.getrandbits(128)))
        parts.append(each if found[1] == "i" else "".join(chance.choices(ALPHABETS[found[1]], k=int(found[2]))))
        return parts[-1]

    return re.sub(r"<(\w)(\d+)>", drawn, form.replace("¶", "\n")), max(parts, key=len)


def dressed(name: str, secret: str) -> list[str]:
    """Write a secret in every way that its class can be written."""
    if name == "+":
        return [secret, f"We use this:\n{secret}\nand more.", f"```\n{secret}\n```"]
    if name == "-":
        forms = BARE[:-1] if "://" in secret or "\n" in secret else BARE
        return [form.format(secret) for form in forms]
    words = {"name": name, "NAME": name.upper(), "words": name.replace("_", " ")}
    return [form.format(secret, **words) for form in NAMED]


def left(part: str, text: str) -> bool:
    """Whether six characters of what was drawn still stand there together."""
    return any(part[at : at + 6] in text for at in range(len(part) - 5))


@pytest.mark.slow
@pytest.mark.promise("S1")
def test_what_says_that_it_is_a_secret_is_taken_out(rounds, kept):
    """Of random secrets of every public class, in prose, code and settings, at least 99 in 100 are taken out."""
    chance, many = random.Random(5), rounds(2, 50)
    missed: dict[str, Counter[str]] = {"-": Counter(), "named": Counter()}
    tried: Counter[str] = Counter()
    for kind, _, name, form in CLASSES:
        group = "-" if name == "-" else "named"
        for _ in range(many):
            secret, part = grown(form, chance)
            for text in dressed(name, secret):
                tried[group] += 1
                if not suspicious(text) or left(part, redact(text)):
                    missed[group][kind] += 1
    caught = {group: 1 - missed[group].total() / tried[group] for group in tried}
    assert caught["-"] >= 0.99, missed["-"].most_common(20)
    assert caught["named"] >= 0.99, missed["named"].most_common(20)
    classes = len({kind.partition(" (")[0] for kind, *_ in CLASSES})
    said, named = (f"{tried[group]} {{}}: {100 * caught[group]:.2f} % caught" for group in ("-", "named"))
    kept(f"{classes} classes; {said.format('secrets that name themselves')}; {named.format('that a word names')}")


# What 1Password draws from; all marks but those that quote; all marks.
FEW, MOST, ALL = (
    "!@#$%^&*()-_=+[]{}|;:,.<>?",
    string.punctuation.translate(dict.fromkeys(b"\\\"'`")),
    string.punctuation,
)
PLAIN = ("DB_PASS={}", "DB_PASSWORD={}", "password: {}", "CLIENT_SECRET={}")
# Where a password that was drawn with marks may stand: which marks, in which forms, how many are taken out at least.
PUNCTUATED = {
    "between quotes": ((FEW, MOST), (
        'DB_PASSWORD="{}"', "password: '{}'", "CLIENT_SECRET='{}'", "SECRET_KEY = '{}'", '{{"password": "{}"}}',
        "- name: DB_PASSWORD\n  value: '{}'", 'config.set("db.password", "{}")', "mysql -u root -p'{}' shop",
        "curl -u 'bob:{}' https://x.example", "deploy --password '{}'", "define('AUTH_SALT', '{}');",
    ), 0.99),
    "in an address": ((FEW, MOST), ("postgres://app:{}@db.internal/app", "redis://:{}@cache:6379/0"), 0.97),
    "without quotes": ((FEW, MOST), PLAIN, 0.95),
    "without quotes, with quotes in it": ((ALL,), PLAIN, 0.75),
}  # fmt: skip


@pytest.mark.promise("S1")
def test_what_was_drawn_with_punctuation_is_taken_out(rounds, kept):
    """Of random passwords of 20 letters, digits and marks nearly all are taken out, the whole of each."""
    chance, many, said = random.Random(7), rounds(60, 1000), []
    for place, (alphabets, forms, least) in PUNCTUATED.items():
        drawn = ["".join(chance.choices(MIXED + marks, k=20)) for marks in alphabets for _ in range(many)]
        missed = Counter(form for form in forms for one in drawn if left(one, redact(form.format(one))))
        caught = 1 - missed.total() / (len(drawn) * len(forms))
        assert caught >= least, missed
        said.append(f"{place} {100 * caught:.1f} % of {len(drawn) * len(forms)}")
    kept(f"drawn with punctuation, caught: {'; '.join(said)}")


def test_a_class_has_its_own_marker():
    """Each public class is caught by the rule that the table says, and is called by its name."""
    other = []
    for kind, rule, name, form in CLASSES:
        secrets = [grown(form, random.Random(seed))[0] for seed in range(5)]
        left = [redact(one if name in "-+" else f'{name} = "{one}"') for one in secrets]
        other += [] if sum(f"[redacted:{rule}]" in text for text in left) >= 3 else [(kind, rule, left[0])]
    assert other == [], "\n".join(map(repr, other))


# --- lines without a secret, from what every clone has ---


def sampled(paths: list[Path], many: int, chance: random.Random) -> list[str]:
    """Take lines of some files, the same ones whenever the files are the same."""
    lines: list[str] = []
    for path in chance.sample(paths, min(len(paths), 400)):
        lines += [line for line in path.read_text(errors="replace").splitlines() if line.strip()]
    return chance.sample(lines, min(many, len(lines)))


def made(chance: random.Random) -> list[str]:
    """Write lines that look like secrets and are none: digests, ids, images, lock files, addresses, settings."""

    def digits(n: int) -> str:
        return "".join(chance.choices(HEX, k=n))

    def word() -> str:
        return "".join(chance.choice("bdfgklmnprst") + chance.choice("aeiou") for _ in range(chance.randint(2, 5)))

    def coded(n: int) -> str:
        return base64.b64encode(chance.randbytes(n)).decode()

    def upper(n: int) -> str:
        return "".join(chance.choices(string.ascii_uppercase + string.digits, k=n))

    digest = hashlib.sha256(chance.randbytes(8)).hexdigest()
    each = uuid.UUID(int=chance.getrandbits(128))
    return [
        f"commit {digits(40)}",
        f"Merge: {digits(7)} {digits(7)}",
        f"{digits(40)} refs/heads/{word()}",
        f"index {digits(7)}..{digits(7)} 100644",
        f"{digest}  {word()}-{chance.randint(1, 9)}.{chance.randint(0, 20)}.tar.gz",
        f"image: {word()}/{word()}@sha256:{digest}",
        f"request {each} took {chance.randint(2, 900)} ms",
        f'{{"id": "{each}", "trace": "{digits(32)}", "span": "{digits(16)}"}}',
        f'"integrity": "sha512-{coded(64)}"',
        f'"resolved": "https://registry.npmjs.org/{word()}/-/{word()}-1.0.{chance.randint(0, 9)}.tgz#{digits(40)}"',
        f"    --hash=sha256:{digits(64)} \\",
        f"{word()} v1.{chance.randint(0, 99)}.0 h1:{coded(32)}",
        f'checksum = "{digits(64)}"',
        f'{{file = "{word()}.whl", hash = "sha256:{digits(64)}"}}',
        f"data:image/png;base64,iVBORw0KGgo{coded(90)}",
        f'ETag: "{digits(32)}"',
        f"arn:aws:iam::{chance.randint(10**11, 10**12 - 1)}:role/{word()}-{word()}",
        f"the role is AROA{upper(17)} and the user AIDA{upper(17)}",
        f"i-{digits(17)} runs in vpc-{digits(17)}, subnet-{digits(8)}",
        f"x-amz-request-id: {upper(16)}",
        f"sentry release {digits(40)} of {word()}",
        f"datadog trace {digits(16)}, cloudflare ray {digits(16)}-FRA, heroku request {each}",
        f"jira ticket {word().upper()}-{chance.randint(1, 9999)} and confluence page {chance.randint(10**8, 10**9)}",
        f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{coded(31)} {word()}@{word()}",
        f"token budget {chance.randint(9, 99)}k, max_tokens={chance.randint(100, 9000)}, tokens: {chance.random():.4f}",
        f"password_hash: {word()}_{word()} VARCHAR(255), token_expires_at TIMESTAMP",
        f"{word()}.example.com:{chance.randint(1000, 9999)} answers in {chance.randint(1, 99)} ms",
        f"export {word().upper()}_TOKEN=$(cat /run/secrets/{word()})",
        f"the {word()} team keeps its password in the vault under {word()}/{word()}",
        f"at {chance.randint(10**12, 10**13)} note {digits(32)} was parked",
    ]


def benign(many: int, chance: random.Random) -> dict[str, list[str]]:
    """Gather lines by where they come from: this project, Python's own library, packages' metadata, and made here."""
    package = Path(memman.__file__).parent
    own = [*ROOT.glob("docs/**/*.md"), *ROOT.glob("*.md"), *package.rglob("*.py")]
    library = [*Path(sysconfig.get_path("stdlib")).glob("*.py"), *Path(sysconfig.get_path("stdlib")).glob("*/*.py")]
    library = [path for path in library if "site-packages" not in path.parts and "test" not in path.parts]
    metadata = "\n".join(
        f"{one.read_text('METADATA') or ''}\n{one.read_text('RECORD') or ''}"
        for one in importlib.metadata.distributions()
    )
    packages = [line for line in metadata.splitlines() if line.strip()]
    examples = {rule.caught for rule in RULES}
    return {
        "our own docs and sources": [
            line
            for line in sampled(sorted(own), many, chance)
            if "secret_" not in line and not any(e in line for e in examples)
        ],
        "Python's library": sampled(sorted(library), many, chance),
        "packages' metadata": chance.sample(packages, min(many, len(packages))),
        "made here": [line for _ in range(many // 30 + 1) for line in made(chance)][:many],
    }


@pytest.mark.promise("S1")
def test_what_is_no_secret_is_left_alone(rounds, kept):
    """Of thousands of lines of prose, code, digests, ids and lock files fewer than one in two hundred is touched."""
    sources = benign(rounds(1500, 12_000), random.Random(23))
    touched = {
        source: [(line[:160], redact(line)[:160]) for line in lines if redact(line) != line]
        for source, lines in sources.items()
    }
    lines, wrong = sum(map(len, sources.values())), sum(map(len, touched.values()))
    assert lines >= 5000
    assert wrong < 0.005 * lines, json.dumps(touched, indent=1)
    for source, found in touched.items():
        assert len(found) < 0.01 * len(sources[source]), json.dumps({source: found}, indent=1)
    kept(f"{lines} benign lines: {wrong} false positives ({100 * wrong / lines:.3f} %)")
