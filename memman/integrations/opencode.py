"""opencode: one plugin file."""

from memman.integrations import sources
from memman.integrations.target import File, Target, Wiring, laid, under

NAME = "opencode"


def home() -> str:
    """Return opencode's folder."""
    return under("XDG_CONFIG_HOME", "~/.config") + "/opencode"


def _plugin() -> str:
    return home() + "/plugins/memman.js"


def _files(wiring: Wiring) -> list[File]:
    return [laid(_plugin(), sources.text(NAME, "memman.js", wiring.launcher), "the plugin")]


TARGET = Target(NAME, "opencode", home, _files, lambda _: [], list)
