"""Gemini CLI and its fork Qwen Code: hooks in their settings, and the skill that they share with Codex."""

import os
from collections.abc import Callable
from typing import Any

from memman.integrations import hook_block, skills, sources
from memman.integrations.mcp_server import Server
from memman.integrations.target import File, Target, Wiring, under

NAME, FORK = "gemini", "qwen"
# Without `trust` it asks before each call, and it would wait ten minutes at its start for a server that is silent.
_SAYS = {"trust": True, "timeout": 10_000}


def _target(name: str, home: Callable[[], str], says: dict[str, Any]) -> Target:
    def settings() -> str:
        return home() + "/settings.json"

    def files(wiring: Wiring) -> list[File]:
        block = sources.block(name, "hooks.json", wiring.launcher)
        return [
            File(settings(), "hooks-json", f"{len(block)} hooks", lambda text: hook_block.put(text or "", block)),
            *skills.shared(wiring),
        ]

    return Target(name, name, home, files, lambda _: [], lambda: [settings()], server=Server(settings, says=says))


TARGET = _target(NAME, lambda: os.path.join(under("GEMINI_CLI_HOME", "~"), ".gemini"), _SAYS)
# Qwen Code would show its model the names of our tools only, and have it search for what they take.
QWEN = _target(FORK, lambda: under("QWEN_HOME", "~/.qwen"), {**_SAYS, "alwaysLoadTools": True})
