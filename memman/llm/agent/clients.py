"""The agents that can be the model: how each is asked one question, and where its answer stands.

Each is given no tools, no servers, no hooks and no instructions but the question's own, in a folder that holds nothing
but what it needs for that; docs/adr/0038-agent-as-model.md says what was seen of each.
"""

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memman.config.places import split_lines
from memman.llm.agent.process import find
from memman.llm.remote import count, outermost, unbounded
from memman.model.objects import parsed
from memman.model.records import Usage

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, of which model ('' for the user's own), in which folder, under which new session id."""

    system: str
    schema: Mapping[str, Any]
    model: str
    folder: str
    session: str


@dataclass(frozen=True, slots=True)
class Said:
    """What an agent answered: an object, text, or what is wrong; `session` names what it has kept of the call."""

    text: str = ""
    found: Mapping[str, Any] | None = None
    usage: Usage = field(default_factory=Usage)
    wrong: str = ""
    session: str = ""


@dataclass(frozen=True, slots=True)
class Client:
    """One agent: its `program`, the small `model` of its family, to whom texts go, and how it is called.

    `files` are written into its folder before a call; `forget` returns the words that remove a session, `kept` says
    that it keeps one under the id that it was given, and `tokens` is what a call takes besides the question, about.
    """

    name: str
    program: str
    model: str
    vendor: str
    argv: Callable[[Question], list[str]]
    read: Callable[[str, Question], Said]
    environ: Callable[[Question], dict[str, str]] = lambda _: {}
    files: Callable[[Question], dict[str, str]] = lambda _: {}
    forget: Callable[[str], list[str]] | None = None
    kept: bool = False
    tokens: int = 500


def _claude_argv(question: Question) -> list[str]:
    return [
        *("-p", "--output-format", "json", "--tools", "", "--strict-mcp-config", "--disable-slash-commands"),
        *("--no-session-persistence", "--setting-sources", "user", "--settings", '{"disableAllHooks":true}'),
        *("--system-prompt", question.system, "--json-schema", json.dumps(question.schema), "--effort", "low"),
        *(("--model", question.model) if question.model else ()),
    ]


def _claude_read(out: str, _: Question) -> Said:
    result = outermost(out) or {}
    usage = result.get("usage")
    counted: Json = usage if isinstance(usage, dict) else {}
    read = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    spent = Usage(sum(count(counted.get(name)) for name in read), count(counted.get("output_tokens")))
    text = str(result.get("result") or "")
    if result.get("is_error"):
        return Said(wrong=text or "an error", usage=spent)
    found = result.get("structured_output")
    return Said(text, found if isinstance(found, dict) else None, spent)


# What Codex may do besides answering, as its features are called.
_CODEX_FEATURES = ("hooks", "shell_tool", "unified_exec", "multi_agent", "goals", "apps", "plugins", "view_image")
_CODEX_SETTINGS = (
    'web_search="disabled"',
    "include_permissions_instructions=false",
    "include_apps_instructions=false",
    "include_environment_context=false",
    "skills.include_instructions=false",
    "skills.bundled.enabled=false",
    "project_doc_max_bytes=0",
    'model_reasoning_effort="low"',
)


# What Codex takes for one key in `-c`: quotes would be part of it, and Codex would refuse the server that it names.
_PLAIN = re.compile(r"[A-Za-z0-9_-]+")


def _codex_argv(question: Question) -> list[str]:
    settings = [*_CODEX_SETTINGS, f"model_instructions_file={json.dumps(question.folder + '/instructions.md')}"]
    settings += [f"mcp_servers.{name}.enabled=false" for name in _codex_servers() if _PLAIN.fullmatch(name)]
    return [
        *("exec", "--ephemeral", "--json", "--skip-git-repo-check", "--ignore-rules", "--color", "never"),
        *("--sandbox", "read-only", "--output-schema", question.folder + "/schema.json"),
        *(word for feature in _CODEX_FEATURES for word in ("--disable", feature)),
        *(word for setting in settings for word in ("-c", setting)),
        *(("--model", question.model) if question.model else ()),
        "-",
    ]


def _codex_servers() -> list[str]:
    """Return the names of the MCP servers that Codex would start."""
    home = os.environ.get("CODEX_HOME") or os.path.expanduser("~/.codex")
    with suppress(OSError, ValueError):
        settings = tomllib.loads(Path(home, "config.toml").read_text(encoding="utf-8"))
        servers = settings.get("mcp_servers")
        return list(servers) if isinstance(servers, dict) else []
    return []


def _codex_files(question: Question) -> dict[str, str]:
    return {"instructions.md": question.system, "schema.json": json.dumps(unbounded(question.schema))}


def _codex_read(out: str, _: Question) -> Said:
    said, wrong, usage = "", "", Usage()
    for event in _events(out):
        match event:
            case {"type": "item.completed", "item": {"type": "agent_message", "text": str(text)}}:
                said = text
            case {"type": "error", "message": str(message)} | {
                "type": "turn.failed",
                "error": {"message": str(message)},
            }:
                wrong = message
            case {"type": "turn.completed", "usage": dict(counted)}:
                usage = Usage(count(counted.get("input_tokens")), count(counted.get("output_tokens")))
    return Said(said, usage=usage, wrong="" if said else wrong)


# A tool has to be there, for Google's interface refuses an empty list: of them all this one can do least here.
_GEMINI_SETTINGS = {
    "tools": {"core": ["list_directory"]},
    "hooksConfig": {"enabled": False},
    "mcp": {"allowed": ["none"]},
    "skills": {"enabled": False},
    "experimental": {"enableAgents": False},
    "context": {"fileName": "NO-CONTEXT.md", "includeDirectoryTree": False},
    "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
}


def _gemini_argv(question: Question) -> list[str]:
    return [
        *("--output-format", "json", "--approval-mode", "default", "--extensions", "none", "--skip-trust"),
        *("--allowed-mcp-server-names", "none", "--session-id", question.session),
        *(("--model", question.model) if question.model else ()),
    ]


def _gemini_files(question: Question) -> dict[str, str]:
    return {".gemini/settings.json": json.dumps(_GEMINI_SETTINGS), "system.md": _with_schema(question)}


def _gemini_read(out: str, _: Question) -> Said:
    result = outermost(out) or {}
    match result:
        case {"error": {"message": str(message)}}:
            return Said(wrong=message)
        case {"response": str(text), "stats": {"models": dict(models)}}:
            told = [one.get("tokens") for one in models.values() if isinstance(one, dict)]
            counted = [one for one in told if isinstance(one, dict)]
            tokens_in, tokens_out = (sum(count(one.get(name)) for one in counted) for name in ("prompt", "candidates"))
            return Said(text, usage=Usage(tokens_in, tokens_out))
        case {"response": str(text)}:
            return Said(text)
    return Said()


def _opencode_environ(question: Question) -> dict[str, str]:
    agent = {"mode": "primary", "prompt": _with_schema(question), "tools": {"*": False}}
    settings = {"agent": {"memman": agent}, "share": "disabled", "autoupdate": False}
    return {"OPENCODE_CONFIG_CONTENT": json.dumps(settings), "OPENCODE_DISABLE_AUTOUPDATE": "1"}


def _opencode_argv(question: Question) -> list[str]:
    model = ("--model", question.model) if question.model else ()
    return ["run", "--format", "json", "--pure", "--title", "memman", "--agent", "memman", *model]


def _opencode_read(out: str, _: Question) -> Said:
    texts, wrong, session, tokens_in, tokens_out = [], "", "", 0, 0
    for event in _events(out):
        session = session or str(event.get("sessionID") or "")
        match event:
            case {"type": "text", "part": {"text": str(text)}}:
                texts.append(text)
            case {"type": "step_finish", "part": {"tokens": dict(counted)}}:
                tokens_in += count(counted.get("input"))
                tokens_out += count(counted.get("output"))
            case {"type": "error", "error": {"data": {"message": str(message)}}}:
                wrong = message
            case {"type": "error"}:
                wrong = "an error"
    return Said("".join(texts), usage=Usage(tokens_in, tokens_out), wrong="" if texts else wrong, session=session)


def _with_schema(question: Question) -> str:
    """Return the instructions, with the form of the answer where a client has no other place for it."""
    form = json.dumps(question.schema)
    return f"{question.system}\n\nAnswer with one JSON object that satisfies this schema, and nothing else: {form}"


def _events(out: str) -> Iterator[Json]:
    """Yield the objects that stand one per line, without banners and warnings."""
    yield from filter(None, map(parsed, split_lines(out)))


CLIENTS = {
    client.name: client
    for client in (
        Client(
            "claude-code",
            "claude",
            "haiku",
            "Anthropic",
            _claude_argv,
            _claude_read,
            environ=lambda _: {"CLAUDE_CODE_DISABLE_CLAUDE_MDS": "1", "DISABLE_AUTOUPDATER": "1"},
            tokens=600,
        ),
        Client("codex", "codex", "gpt-6-luna", "OpenAI", _codex_argv, _codex_read, files=_codex_files, tokens=5_600),
        Client(
            "gemini",
            "gemini",
            "flash-lite",
            "Google",
            _gemini_argv,
            _gemini_read,
            environ=lambda question: {"GEMINI_SYSTEM_MD": question.folder + "/system.md"},
            files=_gemini_files,
            forget=lambda session: ["--skip-trust", "--delete-session", session],
            kept=True,
            tokens=450,
        ),
        Client(
            "opencode",
            "opencode",
            "",
            "the provider that opencode uses",
            _opencode_argv,
            _opencode_read,
            environ=_opencode_environ,
            tokens=130,
            forget=lambda session: ["session", "delete", session],
        ),
    )
}


# Calls that 150 turns of 20 sessions take, and tokens of their questions and answers (docs/adr/0052-conversations.md).
CALLS, TOKENS = 21, 65_000


def here() -> list[Client]:
    """Return the agents whose programs are on this machine."""
    return [client for client in CLIENTS.values() if find(client.program)]


def sentence(client: Client) -> str:
    """Say it for one agent."""
    tokens = round((TOKENS + CALLS * client.tokens) / 10_000) * 10_000
    return (
        f"your own {client.program}, under its login: notes, and conversations that may leave something, go to"
        f" {client.vendor}; 150 turns of 20 sessions take about {CALLS} calls and {tokens:,} tokens of your allowance"
    )
