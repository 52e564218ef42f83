"""Write down what each real client sends to its hooks, wired by `memman install`: `python e2e/agents/record.py`.

One file a client and version in tests/payloads, one JSON object per line, with neutral paths.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import registry
from clients import CLIENTS, Desk
from model_server import ModelServer

PAYLOADS = Path(__file__).parents[2] / "tests/payloads"
# What our own plugins leave out, since memman does not need it.
NAMES = {
    "session-start": "SessionStart",
    "user-prompt": "UserPromptSubmit",
    "stop": "Stop",
    "post-compact": "PostCompact",
    "subagent-start": "SubagentStart",
}
RECORDER = """#!/usr/bin/env python3
import json, sys
if sys.argv[1] != "hook":
    sys.exit()
with open({log!r}, "a") as log:
    log.write(json.dumps([sys.argv[2:], sys.stdin.read()]) + "\\n")
if sys.argv[2] == "session-start":
    context = {{"hookEventName": "SessionStart", "additionalContext": "memman keeps <memories> of earlier sessions."}}
    print(json.dumps({{"hookSpecificOutput": context}}))
"""
QUESTION = "Where do we deploy billing?"
TASK = f'"prompt": "{QUESTION}", "description": "look", "subagent_type": "general-purpose"'
AGENT = f"{QUESTION} CALL Agent {{{TASK}}};"
LOOK = f'{QUESTION} CALL task {{"prompt": "{QUESTION}", "description": "look", "agent_type": "explore", "name": "a"}};'
SPAWN = f'{QUESTION} CALL multi_agent_v1.spawn_agent {{"message": "{QUESTION}", "agent_type": "default"}};'
# Client -> more sessions than the one with the question: the words that start it, then the prompt.
MORE = {
    "claude-code": [(("claude", "-p"), AGENT), (("claude", "--continue", "-p"), "/compact")],
    "codex": [((*CLIENTS["codex"].argv,), SPAWN)],
    "copilot": [(CLIENTS["copilot"].free, LOOK)],
}


def main() -> None:
    """Record every client."""
    with tempfile.TemporaryDirectory() as place, ExitStack() as models:
        home, log = Path(place) / "home", Path(place) / "log"
        path = registry.clients()
        desks = [Desk(client, home, path, models.enter_context(ModelServer())) for client in CLIENTS.values()]
        for desk in desks:
            desk.prepare()
        words = [word for desk in desks for word in ("--target", desk.client.name)]
        memman = Path(sys.executable).parent / "memman"
        command = [memman, "install", "--no-wizard", "--no-mcp", "--allow-conversation-access", *words]
        subprocess.run(command, env={"HOME": str(home), "PATH": "/usr/bin:/bin"}, check=True, timeout=120)
        launcher = home / ".memman/bin/memman"
        launcher.write_text(RECORDER.format(log=str(log)))
        for desk in desks:
            log.write_text("")
            desk.ask(QUESTION)
            for argv, prompt in MORE.get(desk.client.name, []):
                replace(desk, client=replace(desk.client, argv=argv)).ask(prompt)
            version = registry.versions()[desk.client.package]
            write(PAYLOADS / f"{desk.client.name}-{version}.jsonl", neutral(log.read_text(), str(home)))
        shutil.rmtree(home, ignore_errors=True)


def neutral(recorded: str, home: str) -> str:
    """Return what was recorded as if it were alice's."""
    recorded = recorded.replace(home, "/home/alice").replace(home.replace("/", "-").replace("_", "-"), "-home-alice")
    return recorded.replace(f"/tmp/claude-{os.getuid()}/", "/tmp/claude-1000/")  # noqa: S108 - a path in a payload


def write(path: Path, recorded: str) -> None:
    """Write one client's payloads."""
    calls = [json.loads(line) for line in recorded.splitlines()]
    payloads = [{"hook_event_name": NAMES.get(words[0], "")} | json.loads(raw) for words, raw in calls]
    text = "".join(json.dumps(payload, ensure_ascii=False) + "\n" for payload in payloads)
    path.write_text(text)
    print(path.name, [payload["hook_event_name"] for payload in payloads])


if __name__ == "__main__":
    main()
