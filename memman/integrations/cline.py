"""Cline: a plugin file, the MCP server in its settings, and the skill."""

from memman.integrations import skills, sources
from memman.integrations.mcp_server import Server
from memman.integrations.target import File, Target, Wiring, laid, under

NAME = "cline"


def home() -> str:
    """Return Cline's folder."""
    return under("CLINE_DIR", "~/.cline")


def _files(wiring: Wiring) -> list[File]:
    return [
        laid(home() + "/plugins/memman.js", sources.text(NAME, "memman.js", wiring.launcher), "the plugin"),
        *skills.shared(wiring),
    ]


# Seconds; it tries twice.
_SERVER = Server(lambda: home() + "/data/settings/cline_mcp_settings.json", says={"timeout": 5})
TARGET = Target(NAME, "cline", home, _files, lambda _: [], list, server=_SERVER)
