"""Where an agent's program is: on PATH, or where installers put programs that a service's PATH does not name."""

import os
from glob import glob

# Folders below HOME, newest version first where there are several.
_USUAL = (
    "~/.local/bin",
    "~/.claude/local",
    "~/.opencode/bin",
    "~/.npm-global/bin",
    "~/.npm/bin",
    "~/.bun/bin",
    "~/.volta/bin",
    "~/.local/share/pnpm",
    "~/.local/share/mise/shims",
    "~/.asdf/shims",
    "~/.nvm/versions/node/*/bin",
    "~/.local/share/fnm/node-versions/*/installation/bin",
    "/opt/homebrew/bin",
    "/usr/local/bin",
    "/usr/bin",
)


def find(name: str, named: str = "") -> str:
    """Return the path of a program: the one `named`, if it is there and of that name, else any; '' for none."""
    if name in os.path.basename(named) and _runs(named):
        return named
    return next((path for folder in folders() if _runs(path := os.path.join(folder, name))), "")


def folders() -> list[str]:
    """Return where programs are looked for, in order."""
    there = [folder for folder in os.environ.get("PATH", "").split(os.pathsep) if os.path.isabs(folder)]
    usual = (sorted(glob(os.path.expanduser(pattern)), reverse=True) for pattern in _USUAL)
    return list(dict.fromkeys([*there, *(folder for found in usual for folder in found)]))


def search_path(program: str) -> str:
    """Return a PATH for a program, its own folder first: what it is started by is often beside it."""
    return os.pathsep.join(dict.fromkeys([os.path.dirname(program), *folders(), "/bin"]))


def _runs(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)
