"""The processes that started this one: what an agent started, by whatever way, is the agent's."""

import os

from memman.hot.provenance import agent

# Programs of agents, by the name they are started by, with what runs them where that is not the system.
_PROGRAMS = {
    "amp": "amp",
    "auggie": "augment",
    "claude": "claude-code",
    "cline": "cline",
    "codex": "codex",
    "copilot": "copilot",
    "cursor-agent": "cursor",
    "gemini": "gemini",
    "goose": "goose",
    "openclaw": "openclaw",
    "openclaw-gateway": "openclaw",
    "opencode": "opencode",
    "qwen": "qwen",
}
_RUNTIMES = frozenset(("bun", "deno", "node"))


def asking() -> str:
    """Name the agent that runs this command, by its own variables or by what started it; '' for a person."""
    return agent() or agent_above()


def agent_above() -> str:
    """Name the agent among the processes that started this one; '' for none, and where there is no /proc."""
    process = os.getppid()
    while process:
        try:
            comm, parent = _status(process)
            found = _program(comm, _read(process, "cmdline")) or agent(_environ(process))
        except OSError:
            return ""
        if found:
            return found
        process = parent
    return ""


def _status(process: int) -> tuple[str, int]:
    with open(f"/proc/{process}/stat", "rb") as file:
        head, _, rest = file.read().rpartition(b")")
    return head.partition(b"(")[2].decode(errors="replace"), int(rest.split()[1])


def _read(process: int, what: str) -> list[bytes]:
    try:
        with open(f"/proc/{process}/{what}", "rb") as file:
            return file.read().split(b"\0")
    except PermissionError:  # another user's
        return []


def _program(comm: str, line: list[bytes]) -> str:
    words = [os.path.basename(word).decode(errors="replace") for word in line]
    names = [comm, *words[:1]]
    if any(name in _RUNTIMES for name in names):
        names += [word.partition(".")[0] for word in words[1:] if word and not word.startswith("-")][:1]
    return next((_PROGRAMS[name] for name in names if name in _PROGRAMS), "")


def _environ(process: int) -> dict[str, str]:
    pairs = (pair.decode(errors="replace").partition("=") for pair in _read(process, "environ"))
    return {name: value for name, _, value in pairs}
