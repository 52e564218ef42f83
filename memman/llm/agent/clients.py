"""The agents that can be the model: how each is asked one question, and where its answer stands.

Each is given no tools, no servers, no hooks and no instructions but the question's own, in a folder that holds nothing
but what it needs for that; docs/adr/0038-agent-as-model.md says what was seen of each.
"""

import json
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memman.config.places import split_lines
from memman.llm.agent.process import find
from memman.llm.remote import count, outermost, unbounded
from memman.model.objects import parsed
from memman.model.records import Request, Usage

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Said:
    """What an agent answered: an object, text, or what is wrong."""

    text: str = ""
    found: Mapping[str, Any] | None = None
    usage: Usage = field(default_factory=Usage)
    wrong: str = ""


@dataclass(frozen=True, slots=True)
class Client:
    """One agent: its `program`, to whom texts go, and how it is called.

    `argv` is made of a request, a model and the folder that `files` are written into before a call; `tokens` is what a
    call takes besides the question, about.
    """

    name: str
    program: str
    vendor: str
    argv: Callable[[Request, str, str], list[str]]
    read: Callable[[str], Said]
    tokens: int
    environ: Mapping[str, str] = field(default_factory=dict)
    files: Callable[[Request], dict[str, str]] = lambda _: {}


def _claude_argv(asked: Request, model: str, _: str) -> list[str]:
    return [
        *("-p", "--output-format", "json", "--tools", "", "--strict-mcp-config", "--disable-slash-commands"),
        *("--no-session-persistence", "--setting-sources", "user", "--settings", '{"disableAllHooks":true}'),
        *("--system-prompt", asked.system, "--json-schema", json.dumps(asked.schema), "--effort", "low"),
        *("--model", model),
    ]


def _claude_read(out: str) -> Said:
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


def _codex_argv(_: Request, model: str, folder: str) -> list[str]:
    settings = [*_CODEX_SETTINGS, f"model_instructions_file={json.dumps(folder + '/instructions.md')}"]
    settings += [f"mcp_servers.{name}.enabled=false" for name in _codex_servers() if _PLAIN.fullmatch(name)]
    return [
        *("exec", "--ephemeral", "--json", "--skip-git-repo-check", "--ignore-rules", "--color", "never"),
        *("--sandbox", "read-only", "--output-schema", folder + "/schema.json"),
        *(word for feature in _CODEX_FEATURES for word in ("--disable", feature)),
        *(word for setting in settings for word in ("-c", setting)),
        *("--model", model, "-"),
    ]


def _codex_servers() -> list[str]:
    """Return the names of the MCP servers that Codex would start."""
    home = os.environ.get("CODEX_HOME") or os.path.expanduser("~/.codex")
    with suppress(OSError, ValueError):
        settings = tomllib.loads(Path(home, "config.toml").read_text(encoding="utf-8"))
        servers = settings.get("mcp_servers")
        return list(servers) if isinstance(servers, dict) else []
    return []


def _codex_files(asked: Request) -> dict[str, str]:
    return {"instructions.md": asked.system, "schema.json": json.dumps(unbounded(asked.schema))}


def _codex_read(out: str) -> Said:
    said, wrong, usage = "", "", Usage()
    # Objects stand one per line, among banners and warnings.
    for event in filter(None, map(parsed, split_lines(out))):
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


CLIENTS = {
    client.name: client
    for client in (
        Client(
            "claude-code",
            "claude",
            "Anthropic",
            _claude_argv,
            _claude_read,
            tokens=600,
            environ={"CLAUDE_CODE_DISABLE_CLAUDE_MDS": "1", "DISABLE_AUTOUPDATER": "1"},
        ),
        Client("codex", "codex", "OpenAI", _codex_argv, _codex_read, tokens=5_600, files=_codex_files),
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
