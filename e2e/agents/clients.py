"""The real clients: how each is started against a loopback model, and where memman's words stand in what it asks."""

import json
import re
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from model_server import ModelServer, Request

Body = dict[str, Any]
LIMIT = 600.0  # seconds for one turn: a hang, not a machine with other work
KEY = "key-of-the-test"


@dataclass(frozen=True)
class Client:
    """One client.

    `argv` starts a session ({session} is a new name for it), the prompt being its last word, and `again` goes on with
    the last one; `settings` writes what it must know of the model; `beside` returns what stands beside the prompt in a
    request of a turn. `free` starts one that may run any command, `call` has its model run the command {}, and `tool`
    names a tool of memman's as it is told to the model.
    """

    name: str
    package: str
    argv: tuple[str, ...]
    environ: Callable[[str], dict[str, str]]
    settings: Callable[[Path, str], None]
    beside: Callable[[Body], str]
    again: tuple[str, ...] = ()
    free: tuple[str, ...] = ()
    call: str = ""
    tool: str = "mcp__memman__{}"


@dataclass(frozen=True)
class Turn:
    """One session of one prompt: how it ended, and what the model was asked."""

    prompt: str
    code: int
    output: str
    errors: str
    seconds: float
    asked: list[Request]
    beside: str

    @property
    def whole(self) -> str:
        """Everything that the model was given to answer with."""
        return "\n".join(request.text for request in self.asked if request.body.get("tools"))


@dataclass(frozen=True)
class Desk:
    """A client on a HOME, with a model of its own."""

    client: Client
    home: Path
    path: str
    model: ModelServer

    def prepare(self) -> None:
        """Tell the client where its model is."""
        self.client.settings(self.home, self.model.url)

    def run(self, command: str, prompt: str = "Tidy up.", folder: str = "proj") -> Turn:
        """Run one turn in which the model has a command run, whatever it is."""
        return self.free().ask(f"{prompt} {self.client.call.format(command)}", folder=folder)

    def use(self, tool: str, given: Body, prompt: str = "Tidy up.") -> Turn:
        """Run one turn in which the model uses a tool of memman's MCP server."""
        return self.free().ask(f"{prompt} CALL {self.client.tool.format(tool)} {json.dumps(given)};")

    def free(self) -> "Desk":
        """Return it with a client that may run any command."""
        return replace(self, client=replace(self.client, argv=self.client.free))

    def ask(self, prompt: str, *, again: bool = False, folder: str = "proj") -> Turn:
        """Run one turn in an environment that holds nothing else, of a new session or again of the last."""
        project = self.home / folder
        project.mkdir(exist_ok=True)
        environ = {"HOME": str(self.home), "PATH": self.path, "TERM": "dumb", "NO_COLOR": "1"}
        argv = self.client.again if again else self.client.argv
        before, start = len(self.model.requests), time.monotonic()
        done = subprocess.run(
            [*(word.format(session=uuid4().hex) for word in argv), prompt],
            env=environ | self.client.environ(self.model.url),
            cwd=project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        asked = self.model.requests[before:]
        said = [self.client.beside(request.body) for request in asked if request.body.get("tools")]
        seconds = time.monotonic() - start
        return Turn(prompt, done.returncode, done.stdout, done.stderr, seconds, asked, "\n".join(said))


def _write(path: Path, text: str) -> None:
    """Write settings once: what memman puts into them later must stay."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        path.write_text(text)


def _texts(content: Any) -> list[str]:
    """Return the texts of a message, whether it is one string or a list of parts."""
    return [content] if isinstance(content, str) else [part.get("text", "") for part in content]


def _claude_beside(body: Body) -> str:
    """Return what Claude Code adds for UserPromptSubmit: it stands in messages of the role `system`."""
    said = [text for message in body["messages"] if message["role"] == "system" for text in _texts(message["content"])]
    return "\n".join(re.findall(r"UserPromptSubmit hook additional context: (.*)", "\n".join(said), re.DOTALL))


def _codex_beside(body: Body) -> str:
    """Return what Codex adds for UserPromptSubmit: developer messages that follow the prompt."""
    messages = [item for item in body["input"] if item.get("type") == "message"]
    last = max(at for at, message in enumerate(messages) if message["role"] == "user")
    return "\n".join(text for message in messages[last + 1 :] for text in _texts(message["content"]))


def _gemini_beside(body: Body) -> str:
    """Return what Gemini CLI adds for BeforeAgent: a part by itself, while SessionStart's opens the prompt."""
    texts = _texts(body["contents"][-1]["parts"])
    return "\n".join(text for text in texts if text.startswith("<hook_context>") and text.endswith("</hook_context>"))


def _qwen_beside(body: Body) -> str:
    """Return what Qwen Code adds for UserPromptSubmit: a part in marks of its own."""
    texts = _texts(body["messages"][-1]["content"])
    return "\n".join(text for text in texts if text.startswith("<qwen:user-prompt-submit-context>"))


def _copilot_beside(body: Body) -> str:
    """Return what Copilot CLI adds for UserPromptSubmit: a reminder behind the prompt."""
    users = [message for message in body["messages"] if message["role"] == "user"]
    return "\n".join(re.findall(r"<system_reminder>\n(.*)", "\n".join(_texts(users[-1]["content"])), re.DOTALL))


def _opencode_beside(body: Body) -> str:
    """Return what memman's plugin adds in opencode: a part of the user's message that follows the prompt."""
    return "\n".join(_texts(body["messages"][-1]["content"])[1:])


def _cline_beside(body: Body) -> str:
    """Return what memman's plugin adds in Cline: a message of its own that follows the prompt."""
    texts = [text for message in body["messages"] for text in _texts(message.get("content") or "")]
    return "\n".join(text for text in texts if text.startswith('<hook_context source="RunStart">'))


def _openclaw_beside(body: Body) -> str:
    """Return what the user's messages hold in OpenClaw: memman's plugin puts its hits before the prompt."""
    users = [message for message in body["messages"] if message["role"] == "user"]
    return "\n".join(text for message in users for text in _texts(message["content"]))


def _codex_settings(home: Path, url: str) -> None:
    provider = f'name = "fake"\nbase_url = "{url}/v1"\nwire_api = "responses"\nenv_key = "FAKE_KEY"\n'
    text = f'model = "gpt-5"\nmodel_provider = "fake"\n\n[model_providers.fake]\n{provider}'
    _write(home / ".codex/config.toml", text)


def _gemini_settings(home: Path, _: str) -> None:
    _write(home / ".gemini/settings.json", json.dumps({"security": {"auth": {"selectedType": "gemini-api-key"}}}))


def _qwen_settings(home: Path, _: str) -> None:
    _write(home / ".qwen/settings.json", json.dumps({"security": {"auth": {"selectedType": "openai"}}}))


def _copilot_settings(home: Path, _: str) -> None:
    (home / ".copilot").mkdir(parents=True, exist_ok=True)


def _opencode_settings(home: Path, url: str) -> None:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": KEY},
        "models": {"m": {"name": "m"}},
    }
    settings = {"autoupdate": False, "model": "fake/m", "provider": {"fake": provider}}
    _write(home / ".config/opencode/opencode.json", json.dumps(settings))


def _cline_settings(home: Path, url: str) -> None:
    provider = "openai-compatible"
    settings = {"provider": provider, "apiKey": KEY, "model": "m", "baseUrl": f"{url}/v1"}
    known = {provider: {"settings": settings, "updatedAt": "2026-11-30T00:00:00.000Z", "tokenSource": "manual"}}
    text = json.dumps({"version": 1, "lastUsedProvider": provider, "modes": {}, "providers": known})
    _write(home / ".cline/data/settings/providers.json", text)


def _openclaw_settings(home: Path, url: str) -> None:
    model = {"id": "m", "name": "m", "contextWindow": 128_000, "maxTokens": 4_000}
    provider = {"baseUrl": f"{url}/v1", "apiKey": KEY, "api": "openai-completions", "models": [model]}
    agents = {"defaults": {"model": {"primary": "fake/m"}, "workspace": str(home / "proj")}}
    settings = {"models": {"mode": "merge", "providers": {"fake": provider}}, "agents": agents}
    _write(home / ".openclaw/openclaw.json", json.dumps(settings))


def _claude_settings(home: Path, _: str) -> None:
    (home / ".claude").mkdir(parents=True, exist_ok=True)


CLAUDE_CODE = Client(
    "claude-code",
    "@anthropic-ai/claude-code",
    ("claude", "-p"),
    lambda url: {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": KEY,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    },
    _claude_settings,
    _claude_beside,
    ("claude", "-p", "--continue"),
    ("claude", "--allowedTools", "Bash,mcp__memman", "-p"),
    'CALL Bash {{"command": "{}", "description": "tidy"}};',
)
CODEX = Client(
    "codex",
    "@openai/codex",
    # A person approves the hooks once in /hooks; a test has nobody to ask.
    ("codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"),
    lambda _: {"FAKE_KEY": KEY},
    _codex_settings,
    _codex_beside,
    ("codex", "exec", "resume", "--last", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"),
    (
        *("codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"),
        "--dangerously-bypass-approvals-and-sandbox",
    ),
    'CALL exec_command {{"cmd": "{}"}};',
    "mcp__memman.{}",
)
GEMINI = Client(
    "gemini",
    "@google/gemini-cli",
    ("gemini", "-p"),
    lambda url: {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_CLI_TRUST_WORKSPACE": "true"},
    _gemini_settings,
    _gemini_beside,
    ("gemini", "--resume", "latest", "-p"),
    ("gemini", "--yolo", "-p"),
    'CALL run_shell_command {{"command": "{}", "description": "tidy"}};',
    "mcp_memman_{}",
)
QWEN = Client(
    "qwen",
    "@qwen-code/qwen-code",
    ("qwen", "-p"),
    lambda url: {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_MODEL": "m"},
    _qwen_settings,
    _qwen_beside,
    ("qwen", "--continue", "-p"),
    ("qwen", "--yolo", "-p"),
    'CALL run_shell_command {{"command": "{}", "description": "tidy", "is_background": false}};',
)
COPILOT = Client(
    "copilot",
    "@github/copilot",
    ("copilot", "-p"),
    lambda url: {
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        "COPILOT_PROVIDER_API_KEY": KEY,
        "COPILOT_MODEL": "gpt-4.1",
        "COPILOT_AUTO_UPDATE": "false",
    },
    _copilot_settings,
    _copilot_beside,
    ("copilot", "--continue", "-p"),
    ("copilot", "--allow-all-tools", "-p"),
    'CALL bash {{"command": "{}", "description": "tidy"}};',
    "memman-{}",
)
OPENCODE = Client(
    "opencode",
    "opencode-ai",
    ("opencode", "run"),
    lambda _: {"OPENCODE_DISABLE_AUTOUPDATE": "1"},
    _opencode_settings,
    _opencode_beside,
    ("opencode", "run", "--continue"),
    ("opencode", "run", "--auto"),
    'CALL bash {{"command": "{}", "description": "tidy"}};',
    "memman_{}",
)
CLINE = Client(
    "cline",
    "cline",
    ("cline",),
    # Where plugins take longer to load, Cline starts without them: on a machine with other work they do.
    lambda _: {"CLINE_PLUGIN_IMPORT_TIMEOUT_MS": "120000"},
    _cline_settings,
    _cline_beside,
    (),
    ("cline",),
    'CALL run_commands {{"commands": ["{}"]}};',
    "memman__{}",
)
OPENCLAW = Client(
    "openclaw",
    "openclaw",
    ("openclaw", "agent", "--local", "--session-key", "agent:main:{session}", "--message"),
    lambda _: {"OPENCLAW_NO_ONBOARD": "1"},
    _openclaw_settings,
    _openclaw_beside,
)
CLIENTS = {client.name: client for client in (CLAUDE_CODE, CODEX, GEMINI, QWEN, COPILOT, OPENCODE, CLINE, OPENCLAW)}


def left(home: Path) -> dict[int, str]:
    """Return the processes that still run with this HOME, by id."""
    found = {}
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and f"HOME={home}\0" in (entry / "environ").read_text(errors="replace"):
                found[int(entry.name)] = (entry / "cmdline").read_text(errors="replace").replace("\0", " ")
        except OSError:
            continue
    return found
