"""Secrets go in by every way that text can take, and no byte of one is anywhere afterwards."""

import json
import random
import string
import subprocess
from contextlib import closing

import click
import pytest

from memman.model.verbs import ALLOWED
from memman.store.records import named
from memman.store.sqlite.store import open_store
from tests.security.every_verb import CALLS, LEAVES, made
from tests.support.kinds import KINDS, over
from tests.support.providers import ScriptedProvider

LETTERS = string.ascii_letters + string.digits
# How a secret is written in a note, with the part of it that must be nowhere.
FORMS = (
    "We deploy service {n} with ghp_{s}.",
    "SERVICE_{n}_PASSWORD={s}",
    'the config of service {n} says "api_key": "{s}"',
    "service {n} connects to postgres://app:{s}@db{n}.internal/app",
    "curl -u admin{n}:{s} https://service{n}.example.com",
    "Authorization: Bearer {s} is what service {n} sends.",
    "the password for the old service {n} is {s}",
    "service {n} uses ghp_{half}\u200b{rest} for pushes",
    "service {n} has <private>a note with {s} in it</private> and a cache",
    "service {n}: <PRIVATE reason='x'>{s}",
    'service {n} has DB_PASSWORD="{p}" in its settings',
    "SERVICE_{n}_SECRET = '{p}'",
)


def drawn(chance):
    """Return a secret of 36 characters with letters and digits in it."""
    return "".join(chance.choices(LETTERS, k=34)) + "a7"


def marked(secret):
    """Return it between marks as generators draw them; what is looked for in files stays together."""
    return f"<{secret[:2]}[{secret[2:4]};{secret[4:12]}\\'({secret[12:14]}~,{secret[14:]}"


def written(number, secret):
    """Write a sentence that holds the secret."""
    form = FORMS[number % len(FORMS)]
    return form.format(n=number, s=secret, p=marked(secret), half=secret[:17], rest=secret[17:])


def remember(box, text, secret):
    """Give it as a note, and as the name of a thing."""
    box.memman("remember", "--entities", f"Service,ghp_{secret}", "-", input=text)


def replace(box, text, secret):
    """Give it as a note that takes another's place."""
    uid = box.memman("remember", "-", input=f"Thing {secret[:0]}number {len(text)} is blue.").stdout.strip()
    assert box.memman("replace", uid, "-", input=text).returncode == 0


def turn(box, text, secret):
    """Give it as what the user and the agent say in a turn, and as what is compacted."""
    base = {"session_id": f"s-{len(text)}", "cwd": str(box.data.parent)}
    said = f"From now on always remember this: {text}"
    for event, more in (
        ("user-prompt", {"prompt": said}),
        ("stop", {"prompt": said, "last_assistant_message": f"I noted {text}"}),
        ("post-compact", {"compact_summary": f"The user prefers that {text}"}),
        ("pre-tool", {"tool_name": "Task", "tool_input": {"prompt": f"use {text}"}}),
    ):
        for host in ("claude-code", "gemini"):
            ended = box.memman("hook", event, "--host", host, input=json.dumps(base | more))
            assert ended.returncode == 0
            assert secret not in ended.stdout


def split_tag(box, text, secret):
    """Give a private passage that begins in one field of a hook's payload and goes on in another."""
    base = {"session_id": "tag", "cwd": str(box.data.parent)}
    more = {"prompt": f"I prefer tabs. <private>{text}", "last_assistant_message": f"<private>{text}</private> Done."}
    box.memman("hook", "user-prompt", "--host", "claude-code", input=json.dumps(base | more))
    box.memman("hook", "stop", "--host", "claude-code", input=json.dumps(base | more))
    nested = f"<private>a <private>{secret}</private> {secret}</private> b"
    box.memman("remember", "-", input=f"Service says {nested}")


def dropped(box, text, _):
    """Give it as a note that is forgotten before a drain sees it."""
    uid = box.memman("remember", "-", input=text).stdout.strip()
    assert box.memman("forget", uid).returncode == 0


def linked(box, text, secret):
    """Give it as the remark on an edge."""
    for thing in ("Redis", "Postgres"):
        box.memman("remember", "-", input=f"{thing} {len(text)}{secret[:2]} keeps the sessions.")
    box.drain()
    ends = box.store("SELECT uid FROM memory ORDER BY id DESC LIMIT 2")
    assert box.memman("graph", "link", *ends, "--note", text).returncode == 0


def asked(box, text, secret):
    """Give it as a question."""
    for more in ((), ("--json",)):
        assert secret not in box.memman("recall", *more, "-", input=f"what about {text}").stdout


CHANNELS = (remember, replace, turn, split_tag, dropped, linked, asked)


def everything(box):
    """Return every byte of every file in the data folder, the settings apart."""
    return b"\0".join(path.read_bytes() for path in box.data.rglob("*") if path.is_file() and path.name != "env")


@pytest.mark.slow
@pytest.mark.promise("S1")
@over(*KINDS)
def test_no_byte_of_a_secret_is_left(box, kind, rounds, kept):
    """Of secrets in every form, by every channel, drained with a provider, no file, log or request holds one."""
    chance, many = random.Random(3), rounds(14 if kind else 25, 400)
    given: dict[str, str] = {}
    places: list[bytes] = []
    with ScriptedProvider() as provider:
        box.use(provider, LOG_LEVEL="debug", CAPTURE="turns")
        for number in range(many):
            secret = drawn(chance)
            channel, text = CHANNELS[number % len(CHANNELS)], written(number // len(CHANNELS), secret)
            given[secret] = f"{channel.__name__}: {text}"
            channel(box, text, secret)
            if number % 20 == 19:
                places.append(everything(box))
                box.drain()
        box.drain()
        box.memman("backup", "create")
        sent = "".join(f"{got.body}{got.headers}" for got in provider.received)
        assert len(provider.received) > many / 10
    kind.meet()
    places += [everything(box), sent.encode(), kind.beyond()]
    for args in (
        ("list", "--limit", "1000"),
        ("log", "list", "--json"),
        ("log", "worker"),
        ("list", "--by-day"),
    ):
        places.append(box.memman(*args).stdout.encode())
    hits = [text for secret, text in given.items() if any(secret[4:12].encode() in place for place in places)]
    assert hits == []
    kept(
        f"{many} secrets by {len(CHANNELS)} channels, {len(provider.received)} requests, "
        f"{sum(map(len, places)) // 2**20} MiB looked through: {len(hits)} hits"
    )


# What only looks, waits for a server, takes the store away, or keeps settings, which may hold keys.
SKIPPED = {
    *ALLOWED - {"insights feedback"}, "backup restore", "config get", "config set", "config unset",
    "embed reembed", "embed swap", "export", "import", "install", "migrate", "page", "purge",
    "scheduler debug", "scheduler install", "scheduler interval", "scheduler serve", "scheduler stop",
    "scheduler uninstall", "team upgrade", "team connect", "store remove", "sync", "uninstall",
}  # fmt: skip
# Options that take a folder of the repository.
SCOPES = {"scope", "within", "to"}


def tokens(verb, names, chance):
    """Yield the command lines of a verb with a token in each place that takes a text, and the token."""
    base = [word.format(**names) for word in CALLS.get(verb, ())]
    for param in LEAVES[verb].params:
        if getattr(param, "is_flag", False) or param.type.name not in {"text", "path"}:
            continue
        token = "ghp_" + drawn(chance)
        if not isinstance(param, click.Argument):
            yield token, [*base, param.opts[0], f"path:{token}" if param.name in SCOPES else token]
        elif param.nargs == 1 or not base:
            yield token, [f"Never run {token} twice.", *base[1:]]
            yield token, [token, *base[1:]]


def test_no_verb_writes_a_token(box):
    """Whatever text a verb is given, in whatever place: no file of the data folder holds it, nor is called so."""
    names, chance, given, repository = made(box), random.Random(4), {}, box.data.parent / "repository"
    subprocess.run(["git", "init", "-q", repository], check=True)
    for verb in sorted(LEAVES.keys() - SKIPPED):
        for token, args in tokens(verb, names, chance):
            given[token] = [verb, *args]
            ended = box.memman(*verb.split(), *args, input=f"The {token[4:12]} is new.", cwd=repository)
            assert ended.returncode != 1 or "Traceback" not in ended.stderr
    box.drain()
    files = [path for path in box.data.rglob("*") if path.is_file()]
    left = b"\0".join([str(path).encode() + path.read_bytes() for path in files])
    assert len(given) > 60
    assert [args for token, args in given.items() if token.encode() in left] == []


SPOILED = {
    "text", "summary", "origin", "detail", "pattern", "repository", "path", "cwd", "host", "agent", "session", "user",
    "why", "entities", "keywords",
}  # fmt: skip


def spoiled(value, token):
    """Put a token behind every text of a line of an export that says anything; a record's host is no text."""
    if not isinstance(value, dict):
        return value
    said = {name: spoiled(one, token) for name, one in value.items()}
    for name in SPOILED & said.keys() - ({"host"} if "n" in said else set()):
        match said[name]:
            case str(text):
                said[name] = f"{text} {token}"
            case [*texts]:
                said[name] = [*texts, token]
    if "set" in said:
        said["set"] |= {named("file", token): "abc", named("evidence", "said", token): 1}
    return said


def test_an_import_writes_no_token(box, home):
    """Of an export with a token in whatever it says nothing reaches the data folder."""
    names, token = made(box), "ghp_" + drawn(random.Random(6))
    box.memman("rule", "promote", names["memory"], "--match", "fly deploy")
    box.memman("graph", "link", names["memory"], names["other"], "--note", "both of the shop")
    lines = map(json.loads, box.memman("export", "-").stdout.splitlines())
    path = box.data.parent / "spoiled.jsonl"
    path.write_text("".join(json.dumps(spoiled(line, token)) + "\n" for line in lines))
    assert path.read_text().count(token) > 30
    other = home("other")
    ended = other.memman("import", str(path))
    assert ended.returncode == 0, ended.stderr
    assert other.store("SELECT count(*) FROM memory WHERE text GLOB '*redacted:github-token*'") == [3]
    assert token.encode() not in everything(other)
    assert other.memman("scan").returncode == 0


@over("postgres")
def test_a_secret_that_reached_a_server_is_taken_off_it(box, kind):
    """What an older version said raw in a rule and in the log is gone from the server once `scan --fix` was run."""
    token = "ghp_" + drawn(random.Random(8))
    with closing(open_store(str(box.data), "default")) as store, store.unit() as unit:
        said = dict.fromkeys(("tool", "memory", "repository", "path"), "") | {"text": "Ask.", "action": "inform"}
        said |= {"pattern": f"push {token}", "made_at": 1, "ends_at": None, "snoozed_until": None}
        unit.record(1, "r", "rule add", {"rule": said})
    box.memman("scheduler", "drain")
    assert token.encode() in kind.beyond()
    assert box.memman("scan", "--fix").returncode == 0
    box.memman("scheduler", "drain")
    kind.meet()
    assert token.encode() not in kind.beyond()
