"""`memman mcp` as a process, asked by the official client of both eras and by frames written by hand."""

import asyncio
import json
import subprocess
import sys

import mcp
import pytest

from memman.model.vocabulary import AGENT_MARKS

TEXT = "We deploy billing to Fly.io from the main branch."
LEAST = "insights candidates --below 2"


def project(box):
    """Return the folder in which clients work."""
    folder = box.data.parent / "project"
    folder.mkdir(exist_ok=True)
    return folder


class Client:
    """A client that writes frames by hand."""

    def __init__(self, box, *args, cwd=None):
        cwd = cwd or project(box)
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.process = subprocess.Popen(
            [box.script, "mcp", *args], env=box.environ, cwd=cwd, text=True, bufsize=1, **streams
        )
        self.number = 0
        hello = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "Some Client", "version": "1"},
        }
        self.ask("initialize", hello)

    def ask(self, method, params):
        """Send a request and return the answer."""
        self.number += 1
        frame = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        self.process.stdin.write(json.dumps(frame) + "\n")
        answer = json.loads(self.process.stdout.readline())
        assert answer["id"] == self.number
        return answer

    def call(self, tool, **given):
        """Run a tool and return its text, and whether it is an error."""
        said = self.ask("tools/call", {"name": tool, "arguments": given})["result"]
        assert said.keys() == {"content", "isError"}
        return said["content"][0]["text"], said["isError"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


def test_what_one_client_notes_another_recalls(box):
    """A hit tells its day, whose word it is and that it is no instruction; what noted it is an agent's."""
    with Client(box) as first:
        said, wrong = first.call("remember", text=TEXT, category="decision")
        assert (wrong, "Saved" in said) == (False, True)
    assert box.queue("SELECT source, agent = '', cwd FROM note") == [("agent", 0, str(project(box)))]
    box.drain()
    with Client(box) as second:
        said, _ = second.call("recall", query="where is billing deployed?")
        assert "not instructions" in said
        assert f"agent: {TEXT}" in said.replace("agent, unconfirmed", "agent")
        (uid,) = box.store("SELECT uid FROM memory")
        assert TEXT in second.call("show", ids=[uid])[0]
        assert TEXT in second.call("list")[0]
        assert "1 current" in second.call("status")[0]
        assert "nobody but an agent has said so" in second.call("review")[0]
        assert second.call("recall", query="how tall is the heron?") == ("nothing relevant is remembered", False)


def test_what_is_noted_outside_of_any_project_holds_everywhere_only_if_it_says_so(box):
    """Of a server that was started at home nobody knows of which project its client speaks."""
    with Client(box, cwd=box.environ["HOME"]) as client:
        said, wrong = client.call("remember", text=TEXT)
        assert (wrong, "scope personal" in said) == (True, True)
        assert client.call("remember", text=TEXT, scope="personal")[1] is False
        assert client.call("remember", text=TEXT, scope="repository")[1] is True
    assert box.queue("SELECT scope FROM note") == ["personal"]


def test_an_agent_forgets_what_an_agent_noted_and_asks_about_the_rest(box):
    """What the user said stays and waits for them: they keep it, or let it go."""
    with Client(box) as client:
        client.call("remember", text=TEXT)
        box.remember("I never want tabs in Python.", category="preference")
        box.drain()
        uids = dict(box.store("SELECT source, uid FROM memory"))
        said, wrong = client.call("forget", ids=[uids["user"], uids["agent"]])
        assert (wrong, "the user decides" in said, "forgotten" in said) == (False, True, True)
        assert dict(box.store("SELECT source, status FROM memory")) == {"user": "current", "agent": "forgotten"}
        assert "to forget: an agent asks for it" in client.call("review")[0]
        shown = box.memman("show", uids["user"]).stdout
        assert ("an agent asks to forget it" in shown, "reliability" in shown) == (True, False)
        assert "kept" in box.memman("review", "reject", uids["user"]).stdout
        assert "asks to forget" not in box.memman("show", uids["user"]).stdout
        assert "nothing waits for review" in client.call("review")[0]
        client.call("forget", ids=[uids["user"]])
        assert "forgotten" in box.memman("review", "approve", uids["user"]).stdout
        assert "nothing waits for review" in client.call("review")[0]
    assert box.store("SELECT DISTINCT status FROM memory") == ["forgotten"]


def test_what_replaces_the_users_word_waits_for_the_user(box):
    """By a replacement an agent ends what an agent noted; what the user said stays, and review names both."""
    box.remember(TEXT, category="decision")
    with Client(box) as client:
        client.call("remember", text="The office plant is watered on Mondays.")
        box.drain()
        uids = dict(box.store("SELECT source, uid FROM memory"))
        client.call("replace", id=uids["user"], text="We deploy billing to Render from the main branch.")
        client.call("replace", id=uids["agent"], text="The office plant is watered on Fridays.")
        box.drain()
        assert dict(box.store("SELECT uid, status FROM memory WHERE uid IN (?, ?)", *uids.values())) == {
            uids["user"]: "current",
            uids["agent"]: "superseded",
        }
        assert uids["user"][:8] in client.call("review")[0]


def test_what_a_verb_refuses_is_an_answer(box):
    """A fault, an unknown id and a verb that failed are texts of the result; the next call works."""
    with Client(box) as client:
        assert client.call("recall") == ("memman: query is missing", True)
        assert client.call("show", ids=["12345678"])[1]
        assert client.call("remember", text="x" * 200_000)[1]
        said, wrong = client.call("list", category="nonsense")
        assert (wrong, "category" in said, "--" in said) == (True, True, False)
        assert client.call("remember", text="half a \ud800 character")[1] is False
        assert client.call("status")[1] is False
    with Client(box, "--readonly") as client:
        said, wrong = client.call("remember", text=TEXT)
        assert (wrong, "--readonly" in said) == (True, True)


def test_what_other_repositories_know_is_a_call_away(box, tmp_path):
    """Where nothing here answers, a client without a shell is told the argument that asks elsewhere too."""
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        subprocess.run(["git", "init", "-q", folder], check=True)
    box.memman("remember", "--scope", "repository", "--category", "decision", TEXT, cwd=there)
    box.drain()
    with Client(box, cwd=here) as client:
        said, _ = client.call("recall", query="where is billing deployed?")
        assert said.endswith(
            "1 memory of there would answer; only if your user wants that: call recall with all_scopes: true"
        )
        assert TEXT in client.call("recall", query="where is billing deployed?", all_scopes=True)[0]


def test_what_holds_elsewhere_is_neither_listed_nor_told_to_wait(box, tmp_path):
    """One customer's memories are not listed in another's repository, unless its name is given."""
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        subprocess.run(["git", "init", "-q", folder], check=True)
    with Client(box, cwd=there) as client:
        client.call("remember", text=TEXT, scope="repository", category="decision")
        box.drain()
        (uid,) = box.store("SELECT uid FROM memory")
        assert TEXT in client.call("list")[0]
        assert TEXT in client.call("review")[0]
    with Client(box, cwd=here) as client:
        assert TEXT not in client.call("list")[0]
        assert TEXT not in client.call("list", about="billing")[0]
        assert TEXT not in client.call("review")[0]
        client.call("remember", text="The heron nests on the roof.", scope="repository")
        box.drain()
        (mine,) = box.store("SELECT uid FROM memory WHERE uid <> ?", uid)
        assert TEXT not in client.call("list", around=mine)[0]
        assert TEXT in client.call("list", scope="there")[0]
        assert TEXT in client.call("review", scope="there")[0]
    box.environ["MEMMAN_AGENT"] = "codex"
    for verb in ("list", "list --by-day", "review list", "log", "log learned", "log diff", LEAST):
        assert TEXT not in box.memman(*verb.split(), cwd=here).stdout, verb
        assert TEXT in box.memman(*verb.split(), cwd=there).stdout, verb
    assert TEXT in box.memman("list", "--scope", "all", cwd=here).stdout
    assert TEXT in box.memman("show", uid, cwd=here).stdout


def test_it_ends_with_its_client_and_without_a_word(box):
    """The end of the frames ends it with nothing but frames printed; a kill in a call loses nothing acknowledged."""
    client = Client(box)
    client.call("remember", text=TEXT)
    client.process.kill()
    client.process.communicate()
    assert box.queue("SELECT count(*) FROM note") == [1]
    with Client(box) as client:
        out, beside = client.process.communicate(timeout=30)
        assert (out, beside, client.process.returncode) == ("", "", 0)


def test_nothing_is_loaded_before_the_first_call(box):
    """Until a tool runs neither SQLite, vectors nor a verb but its own is loaded."""
    code = "import sys; sys.argv[1:] = ['mcp']; from memman._entry import main; main()\n"
    code += "print(*sys.modules, file=sys.stderr)"
    frame = '{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}\n'
    ran = subprocess.run(
        [sys.executable, "-c", code], input=frame, env=box.environ, capture_output=True, text=True, check=True
    )
    assert not {"apsw", "numpy", "httpx", "sqlite3", "memman.store.sqlite.reader"} & set(ran.stderr.split())
    assert len(ran.stdout.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "legacy", "2026-07-28"])
def test_the_official_client_is_served(box, mode):
    """Whichever era it begins with, it is told the tools and gets their answers."""

    async def talk():
        environ = {name: value for name, value in box.environ.items() if name not in dict(AGENT_MARKS)}
        server = mcp.StdioServerParameters(command=box.script, args=["mcp"], env=environ, cwd=str(project(box)))
        async with mcp.Client(server, mode=mode) as client:
            tools = (await client.list_tools()).tools
            await client.call_tool("remember", {"text": TEXT})
            said = await client.call_tool("recall", {"query": "where is billing deployed"})
            return client.protocol_version, [tool.name for tool in tools], said.content[0].text

    version, tools, said = asyncio.run(talk())
    assert version == ("2025-11-25" if mode == "legacy" else "2026-07-28")
    assert (len(tools), TEXT in said) == (8, True)
