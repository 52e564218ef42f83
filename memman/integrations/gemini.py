"""Gemini CLI: hooks in its settings, and the skill that it shares with Codex."""

import os

from memman.integrations import hook_block, sources
from memman.integrations.mcp_server import Server
from memman.integrations.target import File, Target, Wiring, laid, under

NAME = "gemini"


def home() -> str:
    """Return Gemini CLI's folder."""
    return os.path.join(under("GEMINI_CLI_HOME", "~"), ".gemini")


def _settings() -> str:
    return home() + "/settings.json"


def _files(wiring: Wiring) -> list[File]:
    block = sources.block(NAME, "hooks.json", wiring.launcher)
    skill = sources.skill(wiring.launcher, wiring.command)
    return [
        File(_settings(), "hooks-json", f"{len(block)} hooks", lambda text: hook_block.put(text or "", block)),
        laid(under("", "~/.agents/skills/memman/SKILL.md"), skill, "the skill"),
    ]


# Without `trust` it asks before each call.
# Gemini CLI would wait ten minutes at its start for a server that does not answer, opencode half a minute.
_SERVER = Server(_settings, says={"trust": True, "timeout": 10_000})
TARGET = Target(NAME, "gemini", home, _files, lambda _: [], lambda: [_settings()], server=_SERVER)
