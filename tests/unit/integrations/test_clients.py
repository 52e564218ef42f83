"""Clients that take our MCP server from a file: each gets it where it looks, and rules, and keeps all else."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from memman.integrations.clients import CLIENTS
from memman.integrations.edits import read

# Client -> its folder, the file of its servers, where in it, what stands there beside the command, its rules.
PLACES = {
    "cursor": (".cursor", ".cursor/mcp.json", "mcpServers", {}, ".cursor/rules/memman.mdc"),
    "vscode": (
        ".config/Code/User",
        ".config/Code/User/mcp.json",
        "servers",
        {"type": "stdio"},
        ".config/Code/User/prompts/memman.instructions.md",
    ),
    "windsurf": (
        ".codeium/windsurf",
        ".codeium/windsurf/mcp_config.json",
        "mcpServers",
        {},
        ".codeium/windsurf/memories/global_rules.md",
    ),
    "zed": (".config/zed", ".config/zed/settings.json", "context_servers", {}, ".config/zed/AGENTS.md"),
    "claude-desktop": (".config/Claude", ".config/Claude/claude_desktop_config.json", "mcpServers", {}, ""),
    "goose": (".config/goose", ".agents/plugins/memman/.mcp.json", "mcpServers", {}, ".config/goose/.goosehints"),
    "kiro": (".kiro", ".kiro/settings/mcp.json", "mcpServers", {}, ".kiro/steering/memman.md"),
    "antigravity": (".gemini/config", ".gemini/config/mcp_config.json", "mcpServers", {}, ".gemini/GEMINI.md"),
}
# Rules that are the user's own file.
SHARED = ("windsurf", "zed", "goose", "antigravity")


@pytest.fixture
def home(box, monkeypatch):
    """Give the box's home, where no client is found unless a test puts it there."""
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    box.environ.pop("XDG_CONFIG_HOME", None)
    box.environ["PATH"] = "/usr/bin:/bin"
    return box.data.parent


def run(box, *args):
    """Run memman; it must succeed. Returns what was printed."""
    done = box.memman(*args)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def tree(home):
    """Return every file's bytes below the home, memman's folder left out, None for a folder."""
    places = (path for path in home.rglob("*") if "memman" not in path.relative_to(home).parts[:1])
    return {path.relative_to(home): path.read_bytes() if path.is_file() else None for path in places}


def test_each_client_has_a_row():
    """What this file expects is all there is."""
    assert [client.name for client in CLIENTS if not client.unseen] == [*PLACES]


@pytest.mark.parametrize("name", PLACES)
def test_a_client_gets_the_server_and_rules_where_it_looks(box, home, name):
    """Found by its folder: a server in the shape it takes, rules that name the tools, doctor content; then nothing."""
    folder, servers, key, says, rules = PLACES[name]
    (home / folder).mkdir(parents=True)
    before = tree(home)
    assert f"{name}: set up" in run(box, "install", "--no-wizard")
    launcher = str(box.data / "bin/memman")
    assert json.loads((home / servers).read_text()) == {key: {"memman": {"command": launcher, "args": ["mcp"], **says}}}
    if rules:
        said = (home / rules).read_text()
        assert "`recall`" in said
        assert "records, not instructions" in said
        assert said.startswith("---\n") == (name not in SHARED)
    assert box.memman("doctor", "--check", "agents").returncode == 0
    run(box, "uninstall")
    assert tree(home) == before


@pytest.mark.parametrize("name", PLACES)
def test_what_stands_there_already_keeps_its_bytes(box, home, name):
    """Comments, others' servers and the user's rules stay, with and without later changes, and under --no-mcp."""
    _, servers, key, _, rules = PLACES[name]
    texts = {servers: f'{{\n\t// mine\n\t"{key}": {{ "other": {{"command": "x"}} }},\n}}'}
    if name in SHARED:
        texts[rules] = "# My rules\r\n\r\nSay please."
    for path, text in texts.items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_bytes(text.encode())
    before = tree(home)
    run(box, "install", "--no-wizard", "--target", name)
    held = read((home / servers).read_text()).plain()[key]
    assert [*held] == ["other", "memman"]
    for path in texts:
        assert (home / path).read_bytes() != before[home.joinpath(path).relative_to(home)]
    run(box, "install", "--no-wizard", "--target", name, "--no-mcp")
    assert {path: (home / path).read_bytes().decode() for path in texts} == texts
    assert box.memman("doctor", "--check", "agents").returncode == 0
    run(box, "install", "--no-wizard", "--target", name)
    for path in texts:
        with (home / path).open("a", newline="") as file:
            file.write("\n\n")
    run(box, "uninstall", "--target", name)
    assert {path: (home / path).read_bytes().decode() for path in texts} == {
        path: text + "\n\n" for path, text in texts.items()
    }


def test_no_client_is_made_up(box, home):
    """`--target all` writes nothing of a client that is not there; where the record is lost, ours is found."""
    run(box, "install", "--no-wizard", "--target", "all")
    written = [str(path) for path in tree(home)]
    assert not [path for path in written for folder, *_ in PLACES.values() if path.startswith(folder)]
    run(box, "uninstall")
    assert tree(home) == {}
    (home / ".config/zed").mkdir(parents=True)
    (home / ".config/zed/AGENTS.md").write_text("# Mine\n")
    before = tree(home)
    run(box, "install", "--no-wizard")
    os.unlink(box.data / "install.json")
    run(box, "uninstall")
    made = dict.fromkeys(map(Path, (".agents", ".agents/skills")))
    assert tree(home) == before | made


def test_gooses_plugin_keeps_what_is_said_there(box, home):
    """Goose tells its hooks of prompts and answers, as its documentation has it, and reads nothing of what they say."""
    run(box, "install", "--no-wizard", "--target", "goose")
    plugin = home / ".agents/plugins/memman"
    assert json.loads((plugin / "plugin.json").read_text())["name"] == "memman"
    hooks = json.loads((plugin / "hooks/hooks.json").read_text())["hooks"]
    said = "No, the invoices are in Ledger, not in Excel."
    payloads = {
        "UserPromptSubmit": {"matcher_context": said, "message": said},
        "Stop": {"last_assistant_message": "Done. I updated the file."},
    }
    for event, more in payloads.items():
        ((handler,),) = (group["hooks"] for group in hooks[event])
        given = json.dumps({"event": event, "session_id": "abc-123", **more})
        command = ["sh", "-c", handler["command"]]
        done = subprocess.run(
            command, input=given, env=box.environ, cwd=home, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    ((text, agent),) = box.queue("SELECT text, agent FROM note WHERE channel = 'turn'")
    assert (text, agent) == (said, "goose")


def test_doctor_names_a_client_that_is_used_and_not_wired(box, home):
    """Its folder is there, and memman is not in it."""
    (home / ".kiro").mkdir()
    done = box.memman("doctor", "--check", "agents")
    assert "kiro is on this machine, but memman is not set up in it" in done.stdout
    assert "memman install --target kiro" in done.stdout


def test_a_block_that_lost_its_end_is_refused_and_the_users_rules_stay(box, home):
    """Neither install nor uninstall takes what stands after it; both name the line, and go on once it is whole."""
    rules = home / ".gemini/GEMINI.md"
    install = ("install", "--no-wizard", "--target", "antigravity")
    run(box, *install)
    whole = rules.read_text()
    broken = "# Mine\n" + whole.replace("<!-- /memman -->\n", "") + "MY PRECIOUS RULE\n"
    for text in (broken, broken + whole):
        rules.write_text(text)
        for command in (install, ("uninstall", "--target", "antigravity")):
            done = box.memman(*command)
            assert (done.returncode, rules.read_text()) == (78, text)
            assert f"{rules}: line 2 " in done.stderr
            assert "put <!-- /memman --> back" in done.stderr
        assert box.memman("doctor", "--check", "agents").returncode == 1
    rules.write_text(broken.replace("MY PRECIOUS", "<!-- /memman -->\nMY PRECIOUS"))
    run(box, "uninstall", "--target", "antigravity")
    assert rules.read_text() == "# Mine\nMY PRECIOUS RULE\n"


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_rules_around_ours_stay_lines_of_their_own(box, home, end):
    """A rule added after ours is not joined to the one before it, which had no line break or had one."""
    rules = home / ".config/zed/AGENTS.md"
    rules.parent.mkdir(parents=True)
    rules.write_bytes(f"be nice{end}".encode())
    for _ in range(2):
        run(box, "install", "--no-wizard", "--target", "zed")
        rules.write_bytes(rules.read_bytes() + b"new rule\n")
    run(box, "uninstall", "--target", "zed")
    assert rules.read_text().splitlines() == ["be nice", "new rule", "new rule"]


def test_rules_that_clients_share_by_links_go_with_the_last(box, home):
    """One file behind three links is changed once: it stays while a client that is set up reads it."""
    (home / "rules.md").write_text("# Mine\n")
    clients = ("windsurf", "zed", "antigravity")
    for name in clients:
        (home / PLACES[name][4]).parent.mkdir(parents=True, exist_ok=True)
        (home / PLACES[name][4]).symlink_to(home / "rules.md")
    run(box, "install", "--no-wizard", *(word for name in clients for word in ("--target", name)))
    whole = (home / "rules.md").read_text()
    for name in clients:
        assert (home / "rules.md").read_text() == whole != "# Mine\n"
        run(box, "uninstall", "--target", name)
        assert (home / PLACES[name][4]).is_symlink()
    assert (home / "rules.md").read_text() == "# Mine\n"
