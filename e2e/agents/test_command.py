"""Real clients run memman as they are told to, with memman in an environment off every PATH."""

import json
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from clients import CLAUDE_CODE, CODEX, Client, Desk
from house import House, installed
from model_server import ModelServer

FACT = "We deploy billing with Nomad."
# How each client's model asks for a command; how its sessions go on.
CALLS = {"claude-code": ("Bash", "command"), "codex": ("exec_command", "cmd")}
RESUMED = {
    "claude-code": ("claude", "-p", "--continue"),
    "codex": ("codex", "exec", "resume", "--last", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"),
}
GUIDE = "memman keeps memories of earlier sessions"


@pytest.fixture(name="told", params=[CLAUDE_CODE, CODEX], ids=lambda client: client.name)
def _told(request: pytest.FixtureRequest, bin: Path, path: str, tmp_path: Path) -> Iterator[tuple[House, str]]:  # noqa: A002
    """Return a house with one client that knows one fact, and how its guide calls memman."""
    client: Client = request.param
    with ModelServer() as model:
        house = House(tmp_path, installed(bin, tmp_path), {client.name: Desk(client, tmp_path, path, model)})
        house.wire()
        house.memman("remember", FACT)
        said = next(line for line in house.memman("guide").splitlines() if " recall " in line)
        yield house, said.partition("`")[2].partition(" recall ")[0]


def test_the_command_of_the_guide_is_found(told: tuple[House, str]) -> None:
    """A model that calls what it was told is answered from memory; Claude Code finds the bare name as well."""
    house, command = told
    ((name, desk),) = house.desks.items()
    tool, field = CALLS[name]
    for called in (command, "memman") if name == "claude-code" else (command,):
        words = json.dumps({field: f"{called} recall billing"})
        turn = desk.ask(f"CALL {tool} {words};")
        assert turn.code == 0, turn.errors
        assert FACT in turn.asked[-1].text, called


def test_it_runs_without_any_environment(told: tuple[House, str]) -> None:
    """Nor does it need one for itself."""
    house, command = told
    words, env = [*shlex.split(command), "recall", "billing"], {"HOME": str(house.home)}
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, FACT in done.stdout) == (0, True), done.stderr


def test_a_session_that_goes_on_is_given_the_guide_once(told: tuple[House, str]) -> None:
    """The client replays what its session began with, and memman does not say it again."""
    house, _ = told
    ((name, desk),) = house.desks.items()
    assert desk.ask("Hello.").whole.count(GUIDE) == 1
    turn = replace(desk, client=replace(desk.client, argv=RESUMED[name])).ask("And again.")
    assert turn.code == 0, turn.errors
    assert "Hello." in turn.whole
    assert turn.whole.count(GUIDE) == 1
