"""Who is asking, from where: stamped by the channel, never by the text."""

import os

from memman.model.vocabulary import SOURCES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.config.repository import Repository

# What each agent sets in the environment of the commands it runs.
_AGENTS = (
    ("CLAUDECODE", "claude-code"),
    ("CODEX_THREAD_ID", "codex"),
    ("CODEX_SANDBOX", "codex"),
    ("CODEX_SANDBOX_NETWORK_DISABLED", "codex"),
    ("GEMINI_CLI", "gemini"),
    ("OPENCODE", "opencode"),
    ("CURSOR_AGENT", "cursor"),
)
_SESSIONS = ("MEMMAN_SESSION", "CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID", "GEMINI_SESSION_ID")


def agent() -> str:
    """Name the agent that runs this process, '' for none."""
    return os.environ.get("MEMMAN_AGENT") or next((name for key, name in _AGENTS if os.environ.get(key)), "")


def stamp(claimed: str, here: "Repository | None") -> dict[str, str]:
    """Return the provenance columns of a note queued by this process.

    `claimed` is the caller's --source: it can lower the trust the channel
    gives, never raise it.
    """
    env = os.environ
    who = agent()
    channel = "agent" if who else "user"
    source = max(channel, claimed or channel, key=SOURCES.index)
    try:
        cwd = os.getcwd()
    except FileNotFoundError:
        cwd = ""
    return {
        "source": source,
        "agent": who,
        "session": next((env[key] for key in _SESSIONS if env.get(key)), ""),
        "cwd": cwd,
        "repository": here.name if here else "",
        "revision": here.commit if here else "",
        "host": os.uname().nodename,
        "user": env.get("USER") or env.get("LOGNAME") or str(os.getuid()),
    }
