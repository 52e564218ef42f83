"""Each real client as the model: what it is asked, what becomes of the answers, and that it leaves nothing behind."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import pytest
from clients import CLAUDE_CODE, CODEX, GEMINI, KEY, OPENCODE, Client, Desk, left
from house import installed
from model_server import SAY, ModelServer

NOTES = TURNS = 30 if os.environ.get("MEMMAN_LONG") else 12
# Of every three turns two say something that lasts.
LASTING = [n for n in range(TURNS) if n % 3]
CALLS = 0.3
AGENTS = (CLAUDE_CODE, CODEX, GEMINI, OPENCODE)


def texts(part: Any) -> Iterator[str]:
    """Yield every text in a request."""
    if isinstance(part, str):
        yield part
    for one in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from texts(one)


def say(body: dict[str, Any]) -> str:
    """Answer memman's questions as a model that found what is there, and an agent's own with a sentence."""
    asked = "\n".join(texts({name: body.get(name) for name in ("messages", "input", "contents")}))
    several = re.findall(r'<question n="(\d+)">\n(.*?)\n</question>', asked, re.DOTALL)
    if several:
        return json.dumps({"answers": [{"question": int(n), **answer(one)} for n, one in several]})
    return json.dumps(answer(asked)) if re.search("<(note|user|facts)>\n", asked) else SAY


def answer(asked: str) -> dict[str, Any]:
    """Answer one question."""
    note = re.search(r"<note>\n(.*?)\n</note>", asked, re.DOTALL)
    if note:
        return {"facts": [fact(note[1].replace("listens on", "is served on"))]}
    turns = re.findall(r"<turn>\n(\d+)\n<user>\n(.*?)\n</user>", asked, re.DOTALL)
    if turns:
        lasting = ((int(n), re.search(r"never call \w+ in the build, always call \w+", said)) for n, said in turns)
        own = {"speaker": "user", "category": "preference", "until": "", "ends": []}
        found = [fact(said[0]) | own | {"from": [n]} for n, said in lasting if said]
        return {"facts": [{name: one[name] for name in one if name != "summary"} for one in found]}
    return {"verdicts": [], "causes": []}


def fact(text: str) -> dict[str, Any]:
    """Return a fact as a model gives it."""
    rest = {"category": "fact", "importance": 3, "entities": [], "keywords": [], "questions": [], "summary": ""}
    rest |= {"scope": "unsure"}
    return {"text": text} | rest


@dataclass(frozen=True)
class Home:
    """A HOME of one client that is wired to memman and is its model."""

    desk: Desk
    program: Path

    def memman(self, *args: str, given: str = "", keyless: bool = False) -> str:
        """Run memman as this user does, in whose shell the client is found, and its key unless `keyless`."""
        environ = {"HOME": str(self.desk.home), "PATH": self.desk.path, "MEMMAN_DRAIN": "off"}
        told = self.desk.client.environ(self.desk.model.url)
        environ |= {name: value for name, value in told.items() if not (keyless and value == KEY)}
        done = subprocess.run(
            [self.program, *args],
            env=environ,
            cwd=self.desk.home,
            input=given,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, f"{' '.join(args)}: {done.stderr}"
        return done.stdout

    def remember(self, text: str) -> None:
        """Queue a note."""
        self.memman("remember", text)

    def turn(self, text: str) -> None:
        """Queue a turn of another session, as its hook does."""
        told = {"session_id": "s", "prompt": text, "last_assistant_message": "Done.", "cwd": str(self.desk.home)}
        self.memman("hook", "stop", "--host", "claude-code", given=json.dumps(told))

    def memories(self) -> set[str]:
        """Return all that is stored."""
        db = apsw.Connection(str(self.desk.home / ".memman/data/default/memman.db"), flags=apsw.SQLITE_OPEN_READONLY)
        return {text for (text,) in db.execute("SELECT text FROM memory")}

    def kept(self) -> set[str]:
        """Return the files that tell of sessions."""
        home = self.desk.home
        kinds = (".claude/projects/**/*.jsonl", ".codex/sessions/**/*", ".gemini/tmp/*/chats/*")
        return {str(path) for kind in kinds for path in home.glob(kind) if path.is_file()}


@pytest.fixture(name="home", params=AGENTS, ids=lambda client: client.name)
def _home(request: pytest.FixtureRequest, bin: Path, path: str, tmp_path: Path) -> Iterator[Home]:  # noqa: A002
    client: Client = request.param
    with ModelServer(say=say) as model:
        home = Home(Desk(client, tmp_path, path, model), installed(bin, tmp_path))
        home.desk.prepare()
        home.memman("install", "--no-wizard", "--target", client.name, "--agent-model", client.name)
        try:
            yield home
        finally:
            for process in left(tmp_path):
                os.kill(process, signal.SIGKILL)


def test_notes_and_turns(home: Home) -> None:
    """The memories are those that the replies say; 0.3 calls a turn, no tool, no session, no hook."""
    for n in range(NOTES):
        home.remember(f"Service number{n} listens on port {4000 + n}.")
    for n in range(TURNS):
        lasting = f"please never call tool{n} in the build, always call other{n}, that bit us before"
        home.turn(lasting if n in LASTING else f"rename the variable in file{n}.py and run the tests")
    sessions = home.kept()
    home.memman("scheduler", "drain")
    status = json.loads(home.memman("status", "--json"))
    assert status["queue"]["states"]["done"] == NOTES + TURNS
    assert not status["troubles"]
    wanted = {f"Service number{n} is served on port {4000 + n}." for n in range(NOTES)}
    wanted |= {f"never call tool{n} in the build, always call other{n}" for n in LASTING}
    assert home.memories() == wanted
    assert status["spend"]["calls"] <= CALLS * TURNS
    asked = [request for request in home.desk.model.requests if re.search("<(question|note|user|facts)", request.text)]
    assert len(asked) == status["spend"]["calls"]
    assert home.kept() == sessions
    assert "memman hook" not in "\n".join(request.text for request in asked)
    assert status["queue"]["states"]["pending"] == 0


def test_one_whose_login_is_refused_is_left_alone(home: Home) -> None:
    """Without its key, or with one that is refused: the notes are stored, and status says why it is not asked."""
    home.desk.model.status = 401
    home.remember("Service alpha listens on port 4000.")
    home.memman("scheduler", "drain", keyless=True)
    status = json.loads(home.memman("status", "--json"))
    assert status["queue"]["states"]["done"] == 1
    assert [one["agent"] for one in status["troubles"]] == [home.desk.client.name]
    assert home.memories() == {"Service alpha listens on port 4000."}
