"""How tests call `memman hook`, and what an agent accepts as its answer."""

import json
import subprocess
from pathlib import Path

from memman.hot.events import EVENTS, HOSTS
from tests.support.box import PATIENCE

PAYLOADS = Path(__file__).parents[1] / "payloads"
CONTEXT = ("session-start", "subagent-start", "user-prompt", "pre-tool")
# The event behind each name that a host has for one.
BY_NAME = {name: event for event, (_, names) in EVENTS.items() for name in names}
BY_EVENT = {event: names[0] for event, (_, names) in EVENTS.items()}
# Claude Code shows a preview of longer strings only; Codex writes what has more tokens to a file.
MOST_CHARACTERS = 10_000
MOST_TOKENS = 2_500


def hook(box, event, host, payload, **environ):
    """Run the hook on a payload (an object, or bytes as they are) and return the finished process."""
    raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    command = [box.script, "hook", event, "--host", host]
    env = box.environ | environ
    return subprocess.run(
        command, input=raw, env=env, cwd=box.data.parent, capture_output=True, check=False, timeout=PATIENCE
    )


def context(box, event, host, payload, **environ):
    """Run the hook and return the context that it gives the model, '' for none."""
    return judged(event, host, hook(box, event, host, payload, **environ))


def judged(event, host, done):
    """Assert that an answer is one that `host` accepts for `event`, and return its context."""
    assert done.returncode == 0
    assert done.stderr == b""
    out = done.stdout.decode()
    if not out:
        assert host != "gemini"
        return ""
    answer = json.loads(out)
    if answer == {}:
        assert host == "gemini"
        return ""
    assert event in CONTEXT
    if host == "copilot":
        answer = {"hookSpecificOutput": {"hookEventName": BY_EVENT[event]} | answer}
    assert answer.keys() == {"hookSpecificOutput"}
    said = answer["hookSpecificOutput"]
    assert said.keys() == {"hookEventName", "additionalContext"}
    assert BY_NAME[said["hookEventName"]] == event
    assert 0 < len(said["additionalContext"]) <= MOST_CHARACTERS
    assert len(said["additionalContext"].encode()) / 4 <= MOST_TOKENS
    return str(said["additionalContext"])


def recorded():
    """Return (host, events, line, where it is from) for every line of every recorded payload."""
    found = []
    for path in sorted(PAYLOADS.glob("*.jsonl")):
        host = next(host for host in HOSTS if path.name.startswith(host))
        for number, line in enumerate(path.read_text().splitlines(), 1):
            name = json.loads(line).get("hook_event_name")
            events = [BY_NAME[name]] if name in BY_NAME else list(EVENTS)
            found.append((host, events, line, f"{path.name}:{number}"))
    return found
