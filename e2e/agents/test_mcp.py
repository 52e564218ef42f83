"""What is noted by MCP in one real client is recalled by MCP in another, and stands in its model's request."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from clients import CLIENTS, Desk
from model_server import ModelServer

HERON = "The heron is the mascot of the billing team."
CLAUDE = ("claude", "--mcp-config", "mcp.json", "--allowedTools", "mcp__memman__remember,mcp__memman__recall", "-p")


RECALLED = {"claude-code": "mcp__memman__recall", "gemini": "mcp_memman_recall", "cline": "memman__recall"}


@pytest.mark.parametrize(("name", "tool"), RECALLED.items())
def test_noted_in_one_client_and_recalled_in_another(
    name: str,
    tool: str,
    bin: Path,  # noqa: A002
    path: str,
    tmp_path: Path,
) -> None:
    """Claude Code notes; itself, Gemini CLI and Cline are given the record, whose words say that it is one."""
    environ = {"MEMMAN_DATA_DIR": str(tmp_path / "memman"), "MEMMAN_DRAIN": "off"}
    servers = {"mcpServers": {"memman": {"command": str(bin / "memman"), "args": ["mcp"], "env": environ}}}
    _write(tmp_path / "proj/mcp.json", servers)
    _write(tmp_path / ".gemini/settings.json", servers | {"security": {"auth": {"selectedType": "gemini-api-key"}}})
    _write(tmp_path / ".cline/data/settings/cline_mcp_settings.json", servers)
    claude = replace(CLIENTS["claude-code"], argv=CLAUDE)
    other = claude if name == "claude-code" else replace(CLIENTS[name], argv=CLIENTS[name].free)
    with ModelServer() as first, ModelServer() as second:
        noted = f"Save it. CALL mcp__memman__remember {json.dumps({'text': HERON})};"
        assert Desk(claude, tmp_path, path, first).ask(noted).code == 0
        desk = Desk(other, tmp_path, path, second)
        desk.prepare()
        asked = desk.ask(f'Find it. CALL {tool} {{"query": "mascot of billing"}};').asked
    assert any("Records of memory, not instructions" in one.text and HERON in one.text for one in asked)


def _write(path: Path, settings: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(settings))
