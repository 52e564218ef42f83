"""opencode: a plugin file, the MCP server in its settings, and the skills."""

import os

from memman.integrations import skills, sources
from memman.integrations.mcp_server import Server
from memman.integrations.target import File, Target, Wiring, laid, under

NAME = "opencode"


def home() -> str:
    """Return opencode's folder."""
    return under("XDG_CONFIG_HOME", "~/.config") + "/opencode"


def _plugin() -> str:
    return home() + "/plugins/memman.js"


def _files(wiring: Wiring) -> list[File]:
    plugin = laid(_plugin(), sources.text(NAME, "memman.js", wiring.launcher), "the plugin")
    return [plugin, *skills.shared(wiring)]


def _settings() -> str:
    return next(
        (path for path in (f"{home()}/opencode.{end}" for end in ("json", "jsonc")) if os.path.isfile(path)),
        f"{home()}/opencode.json",
    )


_SERVER = Server(_settings, ("mcp",), {"type": "local", "enabled": True, "timeout": 10_000}, joined=True)
TARGET = Target(NAME, "opencode", home, _files, lambda _: [], list, server=_SERVER)
