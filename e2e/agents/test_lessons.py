"""What failed in a session of a real client, and what mended it, is a memory of the repository once a drain has run."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from clients import CLAUDE_CODE, CODEX, Client, Desk
from house import House, installed
from model_server import ModelServer

FILES = {"check": "test -f ready || { echo not ready; exit 3; }\n", "prepare": "touch ready\n"}
LESSON = "`sh check` failed until `sh prepare` was run."


@pytest.fixture(name="house", params=[CLAUDE_CODE, CODEX], ids=lambda client: client.name)
def _house(request: pytest.FixtureRequest, bin: Path, path: str, tmp_path: Path) -> Iterator[House]:  # noqa: A002
    client: Client = request.param
    with ModelServer() as model:
        house = House(tmp_path, installed(bin, tmp_path), {client.name: Desk(client, tmp_path, path, model)})
        house.wire()
        yield house


def test_a_command_that_another_mended(house: House) -> None:
    """Its agent's word, told as one line; nothing of what the commands put out."""
    house.memman("config", "set", "lessons", "on")
    house.repository("shop", FILES)
    ((name, desk),) = house.desks.items()
    field = "command" if name == "claude-code" else "cmd"
    tool = "Bash" if name == "claude-code" else "exec_command"
    given = (
        {field: command, "description": f"step {n}"} for n, command in enumerate(("sh check", "sh prepare", "sh check"))
    )
    turn = desk.free().ask(" ".join(f"CALL {tool} {json.dumps(one)};" for one in given), folder="shop")
    assert turn.code == 0, turn.errors
    house.memman("scheduler", "drain")
    (memory,) = json.loads(house.memman("list", "--json", folder="shop"))
    assert (LESSON in memory["text"], memory["source"], memory["unconfirmed"]) == (True, "agent", True)
    assert "not ready" not in memory["text"]
