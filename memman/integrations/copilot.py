"""Copilot CLI: a file of hooks beside those of others, the MCP server in its list, and the shared skill."""

from memman.integrations import hook_block, skills, sources
from memman.integrations.mcp_server import Server
from memman.integrations.target import File, Target, Wiring, under

NAME = "copilot"


def home() -> str:
    """Return Copilot CLI's folder."""
    return under("COPILOT_HOME", "~/.copilot")


def _hooks() -> str:
    return home() + "/hooks/memman.json"


def _servers() -> str:
    return home() + "/mcp-config.json"


def _files(wiring: Wiring) -> list[File]:
    block = sources.block(NAME, "hooks.json", wiring.launcher)
    return [
        File(_hooks(), "hooks-json", f"{len(block)} hooks", lambda text: hook_block.put(text or "", block)),
        *skills.shared(wiring),
    ]


_SERVER = Server(_servers, says={"type": "local", "tools": ["*"], "timeout": 10_000})
TARGET = Target(NAME, "copilot", home, _files, lambda _: [], lambda: [_hooks()], server=_SERVER)
