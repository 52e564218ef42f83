"""How the memman that runs us was installed, and the command that updates it."""

import json
import os
import sys
from importlib.metadata import PackageNotFoundError, distribution
from urllib.parse import unquote, urlsplit

from memman.config.command import quoted
from memman.config.kept import in_cache, kept_path

_RUN_AGAIN = "uvx memman@latest install"
# What installers leave in an environment of their own -> (what they are called, what updates it).
_MARKS = {
    "pipx_metadata.json": ("pipx", "pipx upgrade memman"),
    "uv-receipt.toml": ("uv tool", "uv tool upgrade memman"),
}


def installed(data: str) -> tuple[str, str]:
    """Return what installed it, and the command that updates it."""
    if in_cache(sys.prefix):
        return "nothing: it runs from a cache", _RUN_AGAIN
    if os.path.dirname(sys.prefix) == os.path.realpath(kept_path(data)):
        return "memman install, as a copy of what uvx or pipx ran", _RUN_AGAIN
    for mark, told in _MARKS.items():
        if os.path.isfile(f"{sys.prefix}/{mark}"):
            return told
    if checkout := _checkout():
        return f"pip, as the checkout in {checkout}", f"git -C {quoted(checkout)} pull"
    return "pip", f"{quoted(sys.executable)} -m pip install --upgrade memman"


def _checkout() -> str:
    """Return the folder of an editable installation, '' where it is none."""
    try:
        told = json.loads(distribution("memman").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return ""
    return unquote(urlsplit(told["url"]).path) if told.get("dir_info", {}).get("editable") else ""
