"""Secrets never reach disk or a provider, and almost nothing else is taken for one."""

import json
import random
import subprocess
from base64 import encodebytes

import pytest

from memman.hot.capture import FIRST
from memman.secrets.matcher import redact
from memman.secrets.rules import RULES
from tests.support.providers import ScriptedProvider

TOKEN = "ghp_" + "Zk3vQ9tLw7Rb2Xy8Nc5Hd1Pf6Gj4Ms0Ua5Tq"
CERTIFICATE = encodebytes(b"-----BEGIN CERTIFICATE-----\n" + random.Random(1).randbytes(600)).decode()


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


@pytest.mark.slow
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


def test_a_certificate_in_base64_is_remembered(box):
    """A note with one in lines is queued, and a turn with one is kept."""
    ended = box.memman("remember", "-", input=f"The CA of staging is:\n{CERTIFICATE}")
    assert ended.returncode == 0, ended.stderr
    said = {"session_id": "s", "cwd": str(box.data.parent), "prompt": f"Always use pnpm. CA:\n{CERTIFICATE}"}
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
