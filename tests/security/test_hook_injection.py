"""Hooks as they are installed, fed with what tries to run, to escape or to break: nothing happens but an answer."""

import json
import os
import random
import subprocess
import time

import pytest

from memman.hot.events import EVENTS
from memman.integrations import parts
from tests.security.hostile import SPECIAL

CANARY = "canary"
SHELL = (
    "$(touch {0})",
    "`touch {0}`",
    "; touch {0} #",
    "| touch {0}",
    "&& touch {0}",
    "\n touch {0}\n",
    "' ; touch {0} ; '",
)
SHELL += (
    '" ; touch {0} ; "',
    "$(<{0})",
    ">{0}",
    "\\$(touch {0})",
    "%0Atouch {0}",
    "${{IFS}}touch${{IFS}}{0}",
    "__import__('os').open('{0}',64)",
)
PATHS = (
    "../" * 12 + "{0}",
    "{0}",
    "/proc/self/environ",
    "..",
    ".",
    "a/../../b",
    "a\0b",
    "~/x",
    "file://{0}",
    "x" * 300,
    "/" + "y" * 5000,
)
TYPES = (None, True, 0, -1.5, 10**400, [], {}, [["x"]], {"prompt": {"prompt": 1}}, "", "-", "--help", "a" * 1_000_000)
FIELDS = ("session_id", "cwd", "prompt", "source", "agent_id", "tool_name", "last_assistant_message", "prompt_response")
FIELDS += ("compact_summary", "hook_event_name", "transcript_path", "stop_hook_active")


@pytest.fixture(name="commands")
def _commands(box):
    """Install memman for every agent; return the hook commands of their settings, and those that plugins run."""
    for folder in (".claude", ".codex", ".gemini"):
        (box.data.parent / folder).mkdir()
    done = box.memman("install", "--no-wizard", "--target", "claude-code", "--target", "codex", "--target", "gemini")
    assert "set up" in done.stdout
    box.remember("Billing is deployed to Fly.io from the main branch, never from a laptop.")
    box.drain()
    settings = [
        box.data.parent / path for path in (".claude/settings.json", ".codex/hooks.json", ".gemini/settings.json")
    ]
    blocks = [parts.groups(json.loads(path.read_text())["hooks"]) for path in settings]
    found = [one["command"] for block in blocks for some in block.values() for group in some for one in group["hooks"]]
    # The plugins of the others start the launcher themselves, without a shell.
    found += [
        f"{box.data}/bin/memman hook {event} --host {host}" for host in ("opencode", "openclaw") for event in EVENTS
    ]
    assert len(found) > 25
    return found


def payloads(count, canary):
    """Make hostile payloads: every field and kind of attack in turn, then at random, and some that are no JSON."""
    chance = random.Random(3)
    attacks = [text.format(canary) for text in (*SHELL, *PATHS)]
    for number in range(count):
        value = chance.choice((*attacks, *attacks, *TYPES, *SPECIAL[:60]))
        fields = {"session_id": "s", "prompt": "where do we deploy billing?", "cwd": os.path.dirname(canary)}
        fields |= {FIELDS[number % len(FIELDS)]: value, chance.choice(FIELDS): chance.choice(attacks)}
        fields["tool_input"] = {"plan": value, "prompt": value, "command": value}
        raw = json.dumps(fields).encode()
        yield chance.choice(_DAMAGES)(raw) if number % 10 == 9 else raw


_DAMAGES = (
    lambda raw: raw[: len(raw) // 2],
    lambda raw: raw.replace(b'"', b"'"),
    lambda raw: b"[" * 50_000 + raw,
    lambda _: b'{"prompt":' * 20_000,
    lambda raw: raw + raw,
    lambda raw: raw.replace(b"where", b"\xff\xfe\0"),
    lambda _: b"",
    lambda _: b"\0" * 1_000_000,
)


def outside(box):
    """List everything below the home folder that is not below the data folder."""
    found = set()
    for place, folders, files in os.walk(box.data.parent):
        folders[:] = [name for name in folders if os.path.join(place, name) != str(box.data)]
        found |= {os.path.join(place, name) for name in (*folders, *files)}
    return found


@pytest.mark.promise("S6")
def test_a_hostile_payload_has_no_effect(box, commands, rounds, kept):
    """Every installed hook answers JSON or nothing with exit code 0; nothing runs and no file appears elsewhere."""
    canary, slowest = box.data.parent / CANARY, 0.0
    before, n = outside(box), rounds(40, 500)
    for number, raw in enumerate(payloads(n, str(canary))):
        command = commands[number % len(commands)]
        started = time.monotonic()
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            input=raw,
            env=box.environ,
            cwd=box.data.parent,
            capture_output=True,
            check=False,
        )
        slowest = max(slowest, time.monotonic() - started)
        assert (done.returncode, done.stderr) == (0, b""), command
        assert isinstance(json.loads(done.stdout or b"{}"), dict), command
        assert not canary.exists(), (command, raw[:500])
    assert outside(box) == before
    names = os.listdir(box.data / "sessions")
    assert all(
        len(name) < 90 and set(name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
        for name in names
    )
    box.drain()
    assert outside(box) == before
    kept(f"{n} payloads: 0 effects, 0 paths outside, all exit 0, slowest {slowest:.2f} s")
