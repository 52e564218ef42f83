"""The plugin form for Claude Code, loaded by the real one."""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from clients import CLAUDE_CODE, Desk
from model_server import ModelServer

from memman import __version__

CHECKOUT = Path(__file__).parents[2]
PLUGIN = CHECKOUT / "hooks/claude-code"


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
    subprocess.run([*command[:3], CHECKOUT], env={"HOME": str(tmp_path), "PATH": path}, check=True, timeout=600)


def test_a_checkout_is_a_marketplace(bin: Path, path: str, tmp_path: Path) -> None:  # noqa: A002
    """Added and installed as the README says, the plugin captures and recalls; without memman its hooks are silent."""
    with ModelServer() as model:
        desk = Desk(CLAUDE_CODE, tmp_path, f"{bin}:{path}", model)
        desk.prepare()
        for words in (("marketplace", "add", str(CHECKOUT)), ("install", "memman@memman")):
            subprocess.run(
                ["claude", "plugin", *words], env={"HOME": str(tmp_path), "PATH": path}, check=True, timeout=600
            )
        assert desk.ask("No, the billing service runs on Nomad, not on Kubernetes.").code == 0
        drain = [bin / "memman", "scheduler", "drain", "--wait"]
        subprocess.run(drain, env={"HOME": str(tmp_path)}, check=True, timeout=600)
        told = desk.ask("What does the billing service run on?")
        assert "Nomad" in told.whole
        tools = [tool["name"] for request in told.asked for tool in request.body.get("tools", ())]
        assert "mcp__plugin_memman_memman__recall" in tools
        without = replace(desk, path=path).ask("What does the billing service run on?")
        assert (without.code, "Nomad" in without.whole, "hook" in without.output + without.errors) == (0, False, False)


def test_the_marketplace_offers_this_version() -> None:
    """Both files of the plugin name memman's version."""
    offered = json.loads((CHECKOUT / ".claude-plugin/marketplace.json").read_text())["plugins"]
    plugin = json.loads((PLUGIN / ".claude-plugin/plugin.json").read_text())

    assert [(one["name"], one["version"]) for one in offered] == [("memman", __version__)]
    assert plugin["version"] == __version__
