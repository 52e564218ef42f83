"""The plugin form for Claude Code, loaded by the real one."""

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from clients import CLAUDE_CODE, Desk
from model_server import ModelServer

PLUGIN = Path(__file__).parents[2] / "hooks/claude-code"


@pytest.fixture(name="desk")
def _desk(bin: Path, path: str, tmp_path: Path) -> Iterator[Desk]:  # noqa: A002
    """Return Claude Code with the plugin, on a HOME where nothing was installed; memman is on the PATH."""
    client = replace(CLAUDE_CODE, argv=("claude", "--plugin-dir", str(PLUGIN), "-p"))
    with ModelServer() as model:
        yield Desk(client, tmp_path, f"{bin}:{path}", model)


def test_the_plugin_recalls_and_captures(desk: Desk, bin: Path) -> None:  # noqa: A002
    """A correction of one session is before the model in the next."""
    desk.prepare()
    assert desk.ask("No, the billing service runs on Nomad, not on Kubernetes.").code == 0
    subprocess.run(
        [bin / "memman", "scheduler", "drain", "--wait"], env={"HOME": str(desk.home)}, check=True, timeout=600
    )
    assert "Nomad" in desk.ask("What does the billing service run on?").whole


def test_claude_code_finds_the_plugin_valid(path: str, tmp_path: Path) -> None:
    """Its own validator passes."""
    command = ["claude", "plugin", "validate", PLUGIN]
    subprocess.run(command, env={"HOME": str(tmp_path), "PATH": path}, check=True, capture_output=True, timeout=600)
