"""Whether hooks do what they are for: each is run as its host does, on a recorded payload and a folder of its own.

Looks at: each hook, run
Finds: does not do what it is for
"""

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

from memman.config.launcher import launcher_path
from memman.doctor.agents import wired
from memman.doctor.finding import Context, Finding, fail, shell, skipped, sound
from memman.doctor.tryout import MARK, tryout
from memman.integrations.state import commands
from memman.integrations.target import Target
from memman.model.plural import counted
from memman.model.vocabulary import AGENT_MARKS
from memman.queue.view import QueueView

_PAYLOADS = os.path.dirname(__file__) + "/payloads"
# The hook program gives up after a second; hosts wait three.
PATIENCE = 3.0
# Seconds after which no further agent's hooks are replayed; all of them take one or two.
ALTOGETHER = 10.0
_HANGS = f"did not end within {PATIENCE:g} s"
# What the least patient host takes of one text.
LONGEST = 10_000
_CALL = re.compile(r"hook\s+([a-z-]+)\s+--host")
# The turn is ended last: what it queues is looked for then.
_LAST = "stop"

Answer = dict[str, Any] | None


def check(context: Context) -> Iterator[Finding]:
    """Replay every hook of every wired agent that has a recorded payload."""
    found = {target: _commands(context.data, target) for target in wired(context)}
    total = sum(map(len, found.values()))
    if not total:
        yield skipped("memman is not set up in an agent with hooks")
        return
    yield from sound(
        _faults(found), f"{counted(total, 'hook')} of {', '.join(t.name for t, hooks in found.items() if hooks)}"
    )


def _faults(found: dict[Target, dict[str, list[str]]]) -> Iterator[Finding]:
    """Replay agent after agent, until a hook hangs: the others would, for as long again each."""
    until = time.monotonic() + ALTOGETHER
    for target, hooks in found.items():
        faults = _replayed(target.name, hooks) if hooks else {}
        for event, fault in faults.items():
            yield fail(f"{target.name}: its {event} hook {fault}", shell("memman", "install", "--target", target.name))
        if _HANGS in faults.values() or time.monotonic() > until:
            yield skipped("the remaining hooks were not tested: it would take too long")
            return


def _commands(data: str, target: Target) -> dict[str, list[str]]:
    """Return the agent's hooks by event: those in its settings, or where a plugin brings them what that calls."""
    if not os.path.exists(f"{_PAYLOADS}/{target.name}.json"):
        return {}
    recorded, standing = _recorded(target.name), commands(target)
    if not standing:
        return {event: [launcher_path(data), "hook", event, "--host", target.name] for event in recorded}
    events = ((_CALL.search(command), command) for command in standing)
    called = {match[1]: ["/bin/sh", "-c", command] for match, command in events if match}
    return {event: called[event] for event in recorded if event in called}


def _recorded(agent: str) -> dict[str, dict[str, Any]]:
    with open(f"{_PAYLOADS}/{agent}.json", encoding="utf-8") as source:
        events: dict[str, dict[str, Any]] = json.load(source)["events"]
    return dict(sorted(events.items(), key=lambda item: item[0] == _LAST))


def _replayed(agent: str, hooks: dict[str, list[str]]) -> dict[str, str]:
    # A hook on a machine that is very busy gives up after its second, and says nothing: only what fails twice counts.
    return _round(agent, hooks) and _round(agent, hooks)


def _round(agent: str, hooks: dict[str, list[str]]) -> dict[str, str]:
    """Play one session on a fresh folder, as far as the first hook that hangs; return what is wrong by event."""
    recorded = _recorded(agent)
    wrong: dict[str, str] = {}
    with tryout() as data:
        for event, command in hooks.items():
            fault = _outcome(data, event, command, recorded[event] | {"cwd": os.path.dirname(data)})
            wrong |= {event: fault} if fault else {}
            if fault == _HANGS:
                break
    return wrong


def _outcome(data: str, event: str, command: list[str], payload: dict[str, Any]) -> str:
    """Run one hook; return what is wrong with it, '' for nothing."""
    try:
        code, said = _run(data, command, payload)
    except subprocess.TimeoutExpired:
        return _HANGS
    except OSError as error:
        return f"could not be run ({error.strerror})"
    if code:
        return f"ended with exit code {code}"
    try:
        answer = json.loads(said) if said.strip() else None
    except ValueError:
        return f"printed something other than JSON: {said.strip()[:60]!a}"
    return _EFFECTS.get(event, _fits)(data, answer)


def _run(data: str, command: list[str], payload: dict[str, Any]) -> tuple[int, str]:
    """Return how a hook ended and what it printed. Raises TimeoutExpired, and leaves no process behind."""
    marks = {"CLAUDE_ENV_FILE", *(name for name, _ in AGENT_MARKS)}
    kept = {name: value for name, value in os.environ.items() if name not in marks and not name.startswith("MEMMAN_")}
    with subprocess.Popen(  # noqa: S603 - the command that the host runs at every turn
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
        errors="replace",
        cwd=payload["cwd"],
        env=kept | {"MEMMAN_DATA_DIR": data},
        start_new_session=True,
    ) as process:
        try:
            said, _ = process.communicate(json.dumps(payload), PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return process.returncode, said


def _begins(data: str, answer: Answer) -> str:
    return _fits(data, answer) if _context(answer) else "printed no context"


def _injects(data: str, answer: Answer) -> str:
    return _fits(data, answer) if MARK in _context(answer) else "did not print the memory that answers the prompt"


def _queues(data: str, answer: Answer) -> str:
    with closing(QueueView(data)) as queue:
        turns = [uid for uid in queue.of("default") if queue.show(uid)["channel"] == "turn"]
    return _fits(data, answer) if len(turns) == 1 else f"queued {len(turns)} turns instead of one"


def _fits(data: str, answer: Answer) -> str:  # noqa: ARG001 - every effect has one shape
    said = len(_context(answer))
    return f"printed {said} characters, more than agents accept" if said > LONGEST else ""


def _context(answer: Answer) -> str:
    inner = answer.get("hookSpecificOutput") if isinstance(answer, dict) else None
    text = inner.get("additionalContext") if isinstance(inner, dict) else None
    return text if isinstance(text, str) else ""


_EFFECTS: dict[str, Callable[[str, Answer], str]] = {
    "session-start": _begins,
    "user-prompt": _injects,
    "stop": _queues,
}
