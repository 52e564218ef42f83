"""Who is asking, from where: stamped by the channel, never by the text."""

import os

from memman.belief import lowest
from memman.config.places import data_dir, foreign, open_file
from memman.config.scope import here as stands
from memman.model.vocabulary import AGENT_MARKS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from memman.config.repository import Repository
    from memman.model.errors import MemmanError
    from memman.model.payload import Payload

# Marks that an agent's own process may carry, too, and with it the hooks it runs.
_OWN = frozenset(("CLAUDECODE", "CODEX_THREAD_ID", "COPILOT_CLI", "GEMINI_CLI", "OPENCODE"))
# Hosts that run another agent.
_INSIDE = {"nanoclaw": "claude-code"}
# Hosts that run the hooks of Claude Code's settings, too: by the variable, the field of a payload, or the part of the
# path of its transcript that they have and Claude Code has not.
_VARIABLES = (("CURSOR_VERSION", "cursor"), ("COPILOT_PROJECT_DIR", "copilot"), ("QWEN_PROJECT_DIR", "qwen"))
_FIELDS = (("cursor_version", "cursor"), ("sessionId", "vscode"), ("hookEventName", "vscode"))
_PATHS = (
    ("/.cursor/", "cursor"),
    ("/.copilot/", "copilot"),
    ("/workspaceStorage/", "vscode"),
    ("/devin/cli/", "devin"),
    ("/.codebuddy/", "codebuddy"),
)
_SESSIONS = (
    *("MEMMAN_SESSION", "CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID", "GEMINI_SESSION_ID"),
    *("QWEN_CODE_SESSION_ID", "COPILOT_AGENT_SESSION_ID"),
)


def agent(env: "Mapping[str, str]" = os.environ) -> str:
    """Name the agent that runs a process with this environment, '' for none."""
    known = next((name for key, name in AGENT_MARKS if env.get(key)), "")
    return env.get("MEMMAN_AGENT") or known or env.get("AI_AGENT", "")


def session(env: "Mapping[str, str]" = os.environ) -> str:
    """Return the session that a process with this environment belongs to, '' for none."""
    return next((env[key] for key in _SESSIONS if env.get(key)), "")


def in_shell(host: str) -> bool:
    """Whether a hook was called from an agent's shell, where MEMMAN_AGENT is set, and not by its host."""
    env, own = os.environ, _INSIDE.get(host, host)
    return bool(env.get("MEMMAN_AGENT")) or any(
        env.get(key) and (name != own or key not in _OWN) for key, name in AGENT_MARKS
    )


def borrower(host: str, payload: "Payload") -> str:
    """Name the host that runs a hook of Claude Code's settings, '' where that is Claude Code."""
    if host != "claude-code":
        return ""
    path = payload.text("transcript_path").replace("\\", "/")
    marks = [name for key, name in _VARIABLES if os.environ.get(key)]
    marks += [name for field, name in _FIELDS if field in payload.fields]
    return next(iter(marks + [name for part, name in _PATHS if part in path]), "")


def brand(host: str, data: str) -> None:
    """Have the commands that Claude Code runs in this session say so, and find memman; its hooks are run without."""
    path = os.environ.get("CLAUDE_ENV_FILE")
    if not path or _INSIDE.get(host, host) != "claude-code":
        return
    from memman.config.command import quoted

    try:
        file = open_file(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(file, f'export MEMMAN_AGENT=claude-code\nexport PATH="$PATH:"{quoted(data + "/bin")}\n'.encode())
        os.close(file)
    except OSError:  # a full disk: it is known by less
        return


def stamp(data: str, claimed: str, here: "Repository | None", cwd: str = "") -> dict[str, str]:
    """Return the provenance columns of a note; `claimed` is --source, which can lower the channel's trust only."""
    env = os.environ
    who = agent()
    try:
        cwd = cwd or os.getcwd()
    except FileNotFoundError:
        cwd = ""
    return {
        "source": lowest("agent" if who else "user", claimed),
        "agent": who,
        "session": session(),
        "cwd": cwd,
        "repository": stands(data, here, cwd, keep=True).repository,
        "revision": here.commit if here else "",
        "host": os.uname().nodename,
        "user": env.get("USER") or env.get("LOGNAME") or str(os.getuid()),
    }


def explained(error: "MemmanError") -> str:
    """Return what to say of an error: that an agent's sandbox keeps its commands from writing, where that is why."""
    from memman.model.errors import CannotWrite

    who = agent()
    if not (who and isinstance(error, CannotWrite) and _denied(error.__cause__) and _own(data := data_dir())):
        return str(error)
    allows = "; `memman install --allow-sandbox`, run by the user, allows it" if who == "codex" else ""
    return f"the sandbox of {who} does not let its commands write to {data}: nothing was written{allows}"


def _denied(cause: BaseException | None) -> bool:
    from errno import EACCES, EPERM, EROFS

    import apsw

    denied = (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError)
    return isinstance(cause, denied) or (isinstance(cause, OSError) and cause.errno in {EACCES, EPERM, EROFS})


def _own(data: str) -> bool:
    """Whether the folder is one that its owner, who runs us, may write to by all that is said of it."""
    try:
        info = os.stat(data)
    except OSError:
        return False
    return not foreign(info.st_uid) and bool(info.st_mode & 0o200)
