"""`memman install` and `uninstall`, by their commands, over real files in a home of the test's own."""

import json
import os
import stat
import sys
import tomllib

import pytest

from memman.config.command import command
from memman.integrations import parts
from memman.mcp.tools import TOOLS
from memman.model.verbs import AGENT_VERBS, ASKED, PERSONS
from tests.support.box import PATIENCE, no

AGENTS = ("claude-code", "codex", "gemini", "qwen", "copilot", "opencode", "cline", "openclaw")


@pytest.fixture
def home(box, monkeypatch):
    """Give the box's home, where no agent is found unless a test puts it there."""
    for name in ("COPILOT_HOME", "QWEN_HOME", "XDG_CONFIG_HOME", "OPENCLAW_STATE_DIR", "OPENCLAW_CONFIG_PATH"):
        monkeypatch.delenv(name, raising=False)
        box.environ.pop(name, None)
    box.environ["PATH"] = "/usr/bin:/bin"
    return box.data.parent


def install(box, *args, **popen):
    """Install without questions; it must succeed. Returns what was printed."""
    done = box.memman("install", "--no-wizard", *args, **popen)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def uninstall(box, *args):
    """Uninstall; it must succeed. Returns what was printed."""
    done = box.memman("uninstall", *args)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def refused(done, code):
    """Assert that a command said one clear line for each thing it refused; return them."""
    assert done.returncode == code, done.stderr
    lines = done.stderr.splitlines()
    assert lines
    assert all(line.startswith("memman: ") for line in lines)
    return lines


def settings(home):
    """Return Claude Code's settings file, its folder made."""
    (home / ".claude").mkdir(exist_ok=True)
    return home / ".claude/settings.json"


def files(home):
    """Return every file of the home outside memman's folder."""
    places = (path for path in home.rglob("*") if "memman" not in path.relative_to(home).parts[:1])
    return {path.relative_to(home): path.read_bytes() if path.is_file() else None for path in places}


def test_all_agents_are_wired_and_unwired(box, home):
    """--target all wires each agent, found or not, says what is left to the person, and uninstall leaves nothing."""
    said = install(box, "--target", "all")
    for agent in AGENTS:
        assert f"{agent}: set up" in said
    assert "/hooks" in said
    assert "--allow-conversation-access" in said
    launcher = str(box.data / "bin/memman")
    hooks = json.loads(settings(home).read_text())["hooks"]
    assert hooks["Stop"][0]["hooks"][0]["command"] == f"{launcher} hook stop --host claude-code"
    assert json.loads((home / ".codex/hooks.json").read_text())["hooks"]["Stop"]
    assert json.loads((home / ".gemini/settings.json").read_text())["hooks"]["BeforeAgent"]
    assert f'"{launcher}"' in (home / ".config/opencode/plugins/memman.js").read_text()
    assert f'"{launcher}"' in (home / ".openclaw/extensions/memman/index.js").read_text()
    assert "add-memman" not in str(files(home))
    uninstall(box)
    assert files(home) == {}
    assert not (box.data / "bin").exists()
    assert not (box.data / "install.json").exists()


SERVERS = {
    "claude-code": (".claude.json", "mcpServers"),
    "codex": (".codex/config.toml", "mcp_servers"),
    "gemini": (".gemini/settings.json", "mcpServers"),
    "qwen": (".qwen/settings.json", "mcpServers"),
    "copilot": (".copilot/mcp-config.json", "mcpServers"),
    "opencode": (".config/opencode/opencode.json", "mcp"),
    "cline": (".cline/data/settings/cline_mcp_settings.json", "mcpServers"),
}


def served(home, agent):
    """Return the MCP servers that stand in an agent's file."""
    path, key = SERVERS[agent]
    text = (home / path).read_text() if (home / path).exists() else "{}"
    return (tomllib if path.endswith(".toml") and text != "{}" else json).loads(text).get(key, {})


@pytest.mark.parametrize("agent", SERVERS)
def test_the_mcp_server_is_named_to_each_agent(box, home, agent):
    """By the launcher, beside the servers of others, never in place of a namesake; `--no-mcp` and uninstall undo it."""
    path, key = SERVERS[agent]
    (home / path).parent.mkdir(parents=True, exist_ok=True)
    before = '[mcp_servers.other]\ncommand = "x"\n' if path.endswith(".toml") else f'{{"{key}": {{"other": {{}}}}}}\n'
    (home / path).write_text(before)
    said = install(box, "--target", agent)
    assert "the MCP server)" in next(line for line in said.splitlines() if str(home / path) in line)
    ours = served(home, agent).pop("memman")
    command = [ours["command"], *ours["args"]] if "args" in ours else ours["command"]
    assert command == [str(box.data / "bin/memman"), "mcp"]
    assert box.memman("doctor", "--check", "agents").returncode == 0
    (home / path).write_text((home / path).read_text().replace('"mcp"', '"mcq"'))
    assert box.memman("doctor", "--check", "agents").returncode == 1
    (home / path).write_text((home / path).read_text().replace('"mcq"', '"mcp"'))
    install(box, "--target", agent, "--no-mcp")
    assert [*served(home, agent)] == ["other"]
    assert box.memman("doctor", "--check", "agents").returncode == 0
    install(box, "--target", agent)
    added = "\n[mcp_servers.new]\ncommand = 'y'\n" if path.endswith(".toml") else "\n"
    (home / path).write_text((home / path).read_text() + added)
    uninstall(box)
    assert (home / path).read_text() == before + added
    (home / path).write_text(before.replace("other", "memman"))
    (said,) = refused(box.memman("install", "--no-wizard", "--target", agent), 78)
    assert f"{home / path}: {SERVERS[agent][1]}.memman is not memman's MCP server" in said
    install(box, "--target", agent, "--no-mcp")
    uninstall(box)
    assert (home / path).read_text() == before.replace("other", "memman")


@pytest.mark.parametrize("agent", SERVERS)
def test_what_the_user_sets_in_our_server_stays(box, home, agent):
    """Another install mends only how it is started, as an upgrade would; what is switched off stays off."""
    path = home / SERVERS[agent][0]
    install(box, "--target", agent)
    ours = served(home, agent)["memman"]
    if path.suffix == ".toml":
        path.write_text(path.read_text() + "enabled = false\nstartup_timeout_sec = 99\n")
    else:
        held = json.loads(path.read_text())
        held[SERVERS[agent][1]]["memman"] |= {"enabled": False, "timeout": 99, "autoApprove": ["recall"]}
        path.write_text(json.dumps(held, indent=2))
    mine = served(home, agent)["memman"]
    assert mine != ours
    install(box, "--target", agent)
    assert served(home, agent)["memman"] == mine
    path.write_text(path.read_text().replace(f"{box.data}/bin", "/old/bin"))
    install(box, "--target", agent)
    assert "/old/bin" not in path.read_text()
    if path.suffix == ".json":
        assert served(home, agent)["memman"] == mine
    uninstall(box)
    assert "memman" not in served(home, agent)


def test_a_file_of_windows_line_ends_keeps_them(box, home):
    """What is added to a settings file ends its lines as the file does, in JSON and in TOML."""
    hooks = '[[hooks.Stop]]\r\n[[hooks.Stop.hooks]]\r\ncommand = "mine"\r\n'
    texts = {
        settings(home): '{\r\n  "model": "x"\r\n}\r\n',
        home / ".gemini/settings.json": "{\r\n}\r\n",
        home / ".codex/config.toml": 'model = "x"\r\n\r\n' + hooks,
    }
    for path, text in texts.items():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode())
    install(box, "--target", "claude-code", "--target", "gemini", "--target", "codex")
    for path, text in texts.items():
        raw = path.read_bytes()
        assert b"memman" in raw
        assert raw.count(b"\n") == raw.count(b"\r\n") > text.count("\n")
    uninstall(box)
    assert {path: path.read_bytes().decode() for path in texts} == texts


def test_hooks_run_through_the_launcher(box, home):
    """The command that stands in the settings runs and succeeds, whatever is sent to it."""
    install(box, "--target", "claude-code")
    (group,) = json.loads(settings(home).read_text())["hooks"]["UserPromptSubmit"]
    ran = box.start("sh", "-c", group["hooks"][0]["command"])
    ran.communicate(timeout=PATIENCE)
    assert ran.returncode == 0


def test_copilots_hooks_never_fail(box, home):
    """Where memman and its folder are gone each ends well and says nothing: Copilot CLI would deny every command."""
    install(box, "--target", "copilot")
    hooks = json.loads((home / ".copilot/hooks/memman.json").read_text())["hooks"]
    (box.data / "bin/memman").unlink()
    for (group,) in hooks.values():
        ran = box.start("sh", "-c", f"({group['hooks'][0]['command']}) 2>/dev/null")
        assert (ran.communicate(timeout=PATIENCE), ran.returncode) == (("", ""), 0)


def test_a_launcher_with_blanks_in_its_path_is_quoted(box, home):
    """A data folder with blanks and quotes gives commands that a shell takes as they are meant."""
    data = home / "a b'c"
    box.environ["MEMMAN_DATA_DIR"] = str(data)
    install(box, "--target", "claude-code", "--target", "codex")
    (group,) = json.loads(settings(home).read_text())["hooks"]["Stop"]
    ran = box.start("sh", "-c", group["hooks"][0]["command"] + " </dev/null")
    assert (ran.communicate(timeout=PATIENCE), ran.returncode) == (("", ""), 0)
    before = settings(home).read_bytes()
    install(box, "--target", "claude-code", "--target", "codex")
    assert settings(home).read_bytes() == before
    uninstall(box)
    assert not settings(home).exists()


def test_without_a_target_what_is_found_here_is_wired(box, home):
    """A program on the PATH or a settings folder is enough; nothing else is touched."""
    (home / ".gemini").mkdir()
    (home / "bin").mkdir()
    (home / "bin/codex").touch(mode=0o755)
    box.environ["PATH"] = f"{home}/bin:/usr/bin:/bin"
    said = install(box)
    assert "codex: set up" in said
    assert "gemini: set up" in said
    assert "claude-code" not in said
    assert not (home / ".claude").exists()


def test_where_no_agent_is_found_it_says_so(box, home):
    """With no agent here, install still lays the launcher and says how to wire one."""
    assert "--target NAME" in install(box)
    assert (box.data / "bin/memman").exists()
    assert files(home) == {}


def test_a_dry_run_writes_nothing(box, home):
    """--dry-run prints the plan, for both verbs, and changes no byte anywhere."""
    settings(home).write_text("{}")
    said = install(box, "--target", "all", "--dry-run")
    assert "change" in said
    assert "dry run: nothing was changed" in said
    assert said.count("the original is kept") == 1
    assert files(home).keys() == {settings(home).relative_to(home), settings(home).parent.relative_to(home)}
    assert not box.data.exists()
    install(box, "--target", "all")
    before = files(home)
    assert "the original is kept" not in install(box, "--target", "gemini", "--no-mcp", "--dry-run")
    assert "restore" in uninstall(box, "--dry-run")
    assert files(home) == before
    assert (box.data / "bin/memman").exists()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"a": 1,\n "b" 2}', "line 2, column 6: a colon is missing"),
        ('{"a": [1, 2}', "line 1, column 12: "),
        ("[]", "a list where an object is expected"),
        ('{"hooks": []}', "hooks is a list where an object is expected"),
        ('{"hooks": {"Stop": "x"}}', "hooks.Stop is a plain value where a list is expected"),
        ('{"permissions": {"allow": 5}}', "permissions.allow is a plain value where a list is expected"),
        ("[" * 5000, "nested too deep"),
        ("{} trailing", "unexpected text after the end"),
    ],
)
def test_a_file_that_cannot_be_edited_is_refused_and_left(box, home, text, says):
    """The line names the file and the place, the file keeps its bytes, and the other agents are wired."""
    settings(home).write_text(text)
    done = box.memman("install", "--no-wizard", "--target", "claude-code", "--target", "gemini")
    (line,) = refused(done, 78)
    assert str(settings(home)) in line
    assert says in line
    assert settings(home).read_text() == text
    assert "gemini: set up" in done.stdout
    assert not (home / ".claude/skills").exists()


def test_what_is_not_utf8_or_no_file_is_refused(box, home):
    """Other encodings, folders and devices in a settings file's place are refused by one line."""
    path = settings(home)
    path.write_bytes(b'{"a": "\xff"}')
    assert "not UTF-8" in refused(box.memman("install", "--no-wizard", "--target", "claude-code"), 78)[0]
    path.unlink()
    path.mkdir()
    assert "not a regular file" in refused(box.memman("install", "--no-wizard", "--target", "claude-code"), 74)[0]
    path.rmdir()
    path.symlink_to("/dev/null")
    assert "not a regular file" in refused(box.memman("install", "--no-wizard", "--target", "claude-code"), 74)[0]
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_what_is_read_only_is_refused_in_the_plan(box, home):
    """A read-only file or folder is named before anything is written, by a dry run too, and stays as it is."""
    settings(home).write_text("{}")
    for place in (settings(home), settings(home).parent):
        place.chmod(0o500)
        for args in (["--dry-run"], []):
            done = box.mortal("install", "--no-wizard", "--target", "claude-code", *args)
            assert f"{place} is read-only" in refused(done, 74)[0]
        place.chmod(0o700)
    assert settings(home).read_text() == "{}"
    assert not (home / ".claude/skills").exists()


def test_a_link_is_written_through_and_the_mode_stays(box, home):
    """Settings that are a link into another folder stay one, and mode and owner of the real file stay."""
    real = home / "dotfiles/claude.json"
    real.parent.mkdir()
    real.write_text('{"model": "x"}\n')
    real.chmod(0o644)
    if os.geteuid() == 0:
        os.chown(real, 12345, 12345)
    settings(home).symlink_to("../dotfiles/claude.json")
    before = os.stat(real)
    install(box, "--target", "claude-code")
    assert settings(home).is_symlink()
    assert "hooks" in real.read_text()
    after = os.stat(real)
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    uninstall(box)
    assert settings(home).is_symlink()
    assert real.read_text() == '{"model": "x"}\n'
    assert os.listdir(real.parent) == ["claude.json"]


def test_what_is_made_is_private(box, home):
    """Files and folders that install makes are nobody else's to read, whatever the umask; programs may run."""
    (home / ".claude").mkdir()
    install(box, "--target", "all", preexec_fn=lambda: os.umask(0))
    made = [path for path in home.rglob("*") if path != home / ".claude"]
    assert made
    assert [path for path in made if path.stat().st_mode & 0o077] == []


def test_other_and_doubled_entries_of_ours_are_replaced(box, home):
    """Hooks of memman at another path, and doubled ones, give way to one set; commands that only contain ours stay."""
    old = {"hooks": [{"type": "command", "command": "/old/bin/memman hook stop --host claude-code"}]}
    mine = {"hooks": [{"type": "command", "command": "date && memman hook stop --host claude-code"}]}
    settings(home).write_text(json.dumps({"hooks": {"Stop": [old, old, mine]}}))
    install(box, "--target", "claude-code")
    stop = json.loads(settings(home).read_text())["hooks"]["Stop"]
    assert stop[0] == mine
    assert [group["hooks"][0]["command"] for group in stop[1:]] == [
        f"{box.data}/bin/memman hook stop --host claude-code"
    ]


def test_entries_of_another_memman_come_back(box, home):
    """Hooks and permissions of a memman of another place are those the user had: uninstalling brings them back."""
    text = (
        '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/old/memman hook stop --host claude-code"}]}]},'
    )
    text += ' "permissions": {"allow": ["Bash(memman status:*)"]}}'
    settings(home).write_text(text)
    uninstall(box)
    assert settings(home).read_text() == text
    install(box, "--target", "claude-code")
    assert "/old/memman" not in settings(home).read_text()
    uninstall(box)
    assert settings(home).read_text() == text


def test_permissions_are_verbs(box, home):
    """The agent is granted the verbs it is told of, and MCP's tools, by name; what the user had granted stays."""
    mine = "Bash(memman recall:*)"
    settings(home).write_text(json.dumps({"permissions": {"allow": [mine]}}))
    install(box, "--target", "claude-code")
    allowed = json.loads(settings(home).read_text())["permissions"]["allow"]
    names = ("memman", command(str(box.data)))
    verbs = [f"Bash({name} {verb}:*)" for name in names for verb in AGENT_VERBS]
    assert sorted(allowed) == sorted([*verbs, *(f"mcp__memman__{tool}" for tool in TOOLS)])
    install(box, "--target", "claude-code", "--no-mcp")
    assert sorted(json.loads(settings(home).read_text())["permissions"]["allow"]) == sorted(verbs)
    install(box, "--target", "claude-code")
    settings(home).write_text(settings(home).read_text().replace("{", '{"model": "x",', 1))
    assert "changed since" in uninstall(box)
    assert json.loads(settings(home).read_text()) == {"model": "x", "permissions": {"allow": [mine]}}


@pytest.mark.parametrize(
    "wide", ["memman:*", "memman *", "memman", "memman store:*", "/usr/bin/memman:*", "memman --store x:*"]
)
def test_grants_that_admit_a_persons_verb_give_way(box, home, wide):
    """What an earlier version granted beyond the verbs is taken back and named; harmless grants of the user's stay."""
    kept = ["Bash(memman doctor:*)", "Bash(memmanager:*)", "Read"]
    settings(home).write_text(json.dumps({"permissions": {"allow": [f"Bash({wide})", *kept]}}))
    assert f"replacing Bash({wide})" in install(box, "--target", "claude-code")
    allowed = json.loads(settings(home).read_text())["permissions"]["allow"]
    names = ("memman", command(str(box.data)))
    verbs = [f"Bash({name} {verb}:*)" for name in names for verb in AGENT_VERBS]
    assert allowed[: len(kept) + len(verbs)] == [*kept, *verbs]
    assert "replacing" not in install(box, "--target", "claude-code")


@pytest.mark.parametrize("verb", AGENT_VERBS)
def test_no_granted_prefix_leads_to_what_asks(verb):
    """A grant is a prefix: no verb that is granted asks a person, has an option that does, or begins one that does."""
    assert not [other for other in (*ASKED, *PERSONS) if other.split()[0] == verb]


def test_the_plugin_keeps_hooks_out_of_the_settings(box, home):
    """With the plugin on, no hooks go to the settings, those that were there leave, and one line says why."""
    install(box, "--target", "claude-code")
    held = json.loads(settings(home).read_text()) | {"enabledPlugins": {"memman@market": True}}
    settings(home).write_text(json.dumps(held))
    assert "run twice" in install(box, "--target", "claude-code")
    assert "hooks" not in json.loads(settings(home).read_text())
    held["enabledPlugins"] = {"memman@market": False}
    settings(home).write_text(json.dumps(held))
    assert "run twice" not in install(box, "--target", "claude-code")


@pytest.mark.parametrize("place", ["skills/memman/.claude-plugin/plugin.json", "plugins/installed_plugins.json"])
def test_the_plugin_is_found_where_it_lies(box, home, place):
    """A plugin among the skills, or in the record of installed ones, counts as on."""
    path = home / ".claude" / place
    path.parent.mkdir(parents=True)
    path.write_text('{"version": 2, "name": "memman", "plugins": {"memman@market": []}}')
    assert "run twice" in install(box, "--target", "claude-code")
    assert "hooks" not in json.loads(settings(home).read_text())


def test_codex_hooks_of_others_stay_in_its_toml(box, home):
    """Ours stand in hooks.json, whatever config.toml holds; switched off hooks are reported, the bytes come back."""
    (home / ".codex").mkdir()
    config = home / ".codex/config.toml"
    text = '[features]\nhooks = false\n\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "say done"\n'
    config.write_text(text)
    assert "switches hooks off" in install(box, "--target", "codex")
    assert json.loads((home / ".codex/hooks.json").read_text())["hooks"]["Stop"]
    held = config.read_text()
    assert (held.startswith(text), parts.unserve(held)) == (True, text)
    uninstall(box)
    assert config.read_text() == text
    config.write_text("a = [\n")
    assert str(config) in refused(box.memman("install", "--no-wizard", "--target", "codex"), 78)[0]
    assert config.read_text() == "a = [\n"


def test_relative_folders_in_variables_name_none(box, home):
    """A variable that holds a relative path is passed over: nothing is written into the current folder."""
    names = ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "OPENCLAW_STATE_DIR")
    box.environ.update(dict.fromkeys((*names, "OPENCLAW_CONFIG_PATH"), "rel"))
    install(box, "--target", "all")
    assert not (home / "rel").exists()
    assert (home / ".config/opencode/plugins/memman.js").exists()
    assert (home / ".claude/settings.json").exists()
    uninstall(box)
    assert files(home) == {}


def test_the_shared_skill_stays_while_somebody_needs_it(box, home):
    """Codex and Gemini read one skill: it goes with the last of them."""
    skill = home / ".agents/skills/memman/SKILL.md"
    install(box, "--target", "codex", "--target", "gemini")
    uninstall(box, "--target", "codex")
    assert skill.exists()
    assert not (home / ".codex").exists()
    uninstall(box, "--target", "gemini")
    assert not (home / ".agents").exists()
    assert (box.data / "bin/memman").exists()


# Agent -> the folder in which it looks for skills.
SKILLED = dict.fromkeys(
    ("codex", "gemini", "qwen", "copilot", "opencode", "cline", "vscode", "zed", "goose"), ".agents"
)
COMMANDS = ("recall", "remember", "memories")


@pytest.mark.parametrize(("agent", "folder"), {"claude-code": ".claude", **SKILLED}.items())
def test_an_agent_gets_the_commands_that_a_user_types(box, home, agent, folder):
    """/recall, /remember and /memories call memman as this agent can; a skill of the user's of that name is theirs."""
    theirs = home / folder / "skills/remember/SKILL.md"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("---\nname: remember\n---\nmemman, or a sheet of paper\n")
    install(box, "--target", agent)
    texts = {name: (home / folder / f"skills/{name}/SKILL.md").read_text() for name in COMMANDS}
    assert texts.pop("remember") == "---\nname: remember\n---\nmemman, or a sheet of paper\n"
    for name, text in texts.items():
        assert text.startswith(f"---\nname: {name}\ndescription: ")
        assert f"`{command(str(box.data))} recall" in text
    assert (home / folder / "skills/memman/SKILL.md").exists()
    planned = install(box, "--target", agent, "--dry-run").splitlines()
    assert all(line.endswith("is up to date") for line in planned if "skills/" in line)
    uninstall(box)
    assert [str(path.relative_to(home / folder)) for path in (home / folder).rglob("*.md")] == [
        "skills/remember/SKILL.md"
    ]


def test_a_laid_file_that_was_changed_is_kept_aside(box, home):
    """A plugin that the user changed is taken away all the same, and his version is among the backups."""
    install(box, "--target", "opencode")
    plugin = home / ".config/opencode/plugins/memman.js"
    plugin.write_text("// the user's own\n")
    assert "kept among the backups" in uninstall(box)
    assert not plugin.exists()
    assert "// the user's own\n" in [path.read_text() for path in (box.data / "backups/settings").iterdir()]


def test_conversation_access_is_the_users_to_grant(box, home):
    """OpenClaw's plugin gets access to conversations only where asked for; what else the file says stays."""
    config = home / ".openclaw/openclaw.json"
    config.parent.mkdir()
    text = '{\n  // gateway\n  "plugins": { "allow": ["other"], },\n}\n'
    config.write_text(text)
    assert "--allow-conversation-access" in install(box, "--target", "openclaw")
    assert "allowConversationAccess" not in config.read_text()
    assert "'memman'" in config.read_text() or '"memman"]' in config.read_text().replace(", ]", "]").replace(",]", "]")
    said = install(box, "--target", "openclaw", "--allow-conversation-access")
    assert "neither recalls" not in said
    assert "allowConversationAccess" in config.read_text()
    assert "// gateway" in config.read_text()
    granted = config.read_text()
    install(box, "--target", "openclaw")
    assert config.read_text() == granted
    uninstall(box)
    assert config.read_text() == text
    assert not (home / ".openclaw/extensions").exists()


def test_nanoclaw_is_only_wired_where_asked_for(box, home):
    """The skill goes into a checkout that is named, and nowhere else."""
    checkout = home / "claw"
    (checkout / "container").mkdir(parents=True)
    (checkout / "container/Dockerfile").touch()
    (checkout / "package.json").write_text('{"name": "nanoclaw"}')
    done = box.memman("install", "--no-wizard", "--target", "nanoclaw", "--target", "codex")
    assert "not a NanoClaw checkout" in refused(done, 2)[0]
    assert done.stdout == ""
    assert not box.data.exists()
    assert "nanoclaw:" not in install(box, cwd=checkout)
    assert "nanoclaw:" not in install(box, "--target", "all", "--dry-run", cwd=checkout)
    install(box, "--target", "nanoclaw", "--checkout", str(checkout))
    skill = checkout / ".claude/skills/add-memman"
    assert (skill / "SKILL.md").exists()
    uninstall(box)
    assert not (checkout / ".claude").exists()


@pytest.mark.usefixtures("home")
def test_shell_variables_are_copied_once(box):
    """Settings of the shell go to the env file at install, secrets masked in the plan; nothing else of it does."""
    box.environ.update(MEMMAN_LLM_API_KEY="sk-secret-of-the-shell-1234", MEMMAN_BUDGET_USD="2", MEMMAN_OTHER="x")
    assert "1234" in install(box, "--dry-run")
    declined = box.person("install", "--no-wizard", answer=no)
    assert (declined.returncode, "sk-secret" in declined.asked) == (77, False)
    assert (box.data / "env").read_text() == "MEMMAN_BUDGET_USD=2\n"
    done = box.person("install", "--no-wizard")
    assert (done.returncode, "sk-secret" in done.stdout + done.asked) == (0, False)
    env = (box.data / "env").read_text()
    assert env.splitlines() == ["MEMMAN_BUDGET_USD=2", "MEMMAN_LLM_API_KEY=sk-secret-of-the-shell-1234"]
    assert stat.S_IMODE((box.data / "env").stat().st_mode) == 0o600
    assert "MEMMAN_BUDGET_USD" not in install(box)
    box.environ["MEMMAN_BUDGET_USD"] = "3\nMEMMAN_LLM_ENDPOINT=http://evil"
    assert "newline" in refused(box.memman("install", "--no-wizard"), 78)[0]
    assert (box.data / "env").read_text() == env


@pytest.mark.usefixtures("home")
def test_one_wrong_setting_keeps_no_other_out(box):
    """A variable of the shell that is not acceptable is named, by a dry run too; the others are saved."""
    box.environ.update(MEMMAN_LLM_PROVIDER="nobody", MEMMAN_BUDGET_USD="2")
    for args in (["--dry-run"], []):
        (line,) = refused(box.memman("install", "--no-wizard", *args), 78)
        assert "MEMMAN_LLM_PROVIDER takes one of" in line
    assert (box.data / "env").read_text() == "MEMMAN_BUDGET_USD=2\n"


def test_uninstalling_what_was_never_installed(box, home):
    """Without an installation uninstall changes nothing and makes nothing."""
    settings(home).write_text('{"hooks": {}}')
    assert "nothing is installed" in uninstall(box)
    assert settings(home).read_text() == '{"hooks": {}}'
    assert not box.data.exists()


def test_what_cannot_be_undone_is_said_and_can_be_tried_again(box, home):
    """A file that was broken since is left, named, and undone by the next uninstall after it was mended."""
    install(box, "--target", "claude-code")
    text = settings(home).read_text()
    settings(home).write_text(text[:-3])
    (line,) = refused(box.memman("uninstall"), 78)
    assert "by hand" in line
    assert (box.data / "bin/memman").exists()
    settings(home).write_text(text + "\n// mine\n")
    uninstall(box)
    assert settings(home).read_text() == "{}\n\n// mine\n"


@pytest.mark.usefixtures("home")
def test_memories_and_settings_of_memman_stay(box):
    """Uninstalling takes no memory and no setting with it."""
    box.configure(BUDGET_USD=2)
    install(box, "--target", "claude-code")
    box.remember("The heron nests in May.")
    box.drain()
    uninstall(box)
    assert box.recall("heron") == ["The heron nests in May."]
    assert (box.data / "env").read_text() == "MEMMAN_BUDGET_USD=2\n"


@pytest.mark.usefixtures("home")
def test_a_second_install_at_the_same_time_waits_for_nobody(box):
    """While another install is at work the command gives up at once, with a line and exit code 75."""
    from memman.integrations.installer import locked

    with locked(str(box.data)):
        assert "another install" in refused(box.memman("install", "--no-wizard"), 75)[0]
    install(box)


@pytest.mark.skipif(sys.platform != "linux", reason="a pseudo terminal of Linux")
@pytest.mark.usefixtures("home")
def test_on_a_terminal_the_provider_and_its_key_are_asked_for(box):
    """The wizard takes a provider, a key, which is not shown, and an endpoint's model; with none nothing is set.

    What is not acceptable, such as a key with an arrow key in it, is asked for again.
    """
    said = on_terminal(box, ["anthropic", "sk-typed-secret-12345678"])
    assert "sk-typed" not in said
    env = (box.data / "env").read_text()
    assert env == "MEMMAN_LLM_PROVIDER=anthropic\nMEMMAN_LLM_API_KEY=sk-typed-secret-12345678\n"
    assert "Model provider" not in on_terminal(box, [])
    (box.data / "env").unlink()
    said = on_terminal(box, ["openai", "no address", "http://localhost:1/v1", "sk-\x1b[A", "sk-again", "qwen3:8b"])
    assert "takes an http:// or https:// URL" in said
    env = (box.data / "env").read_text().splitlines()
    assert env[1:3] == ["MEMMAN_LLM_ENDPOINT=http://localhost:1/v1", "MEMMAN_LLM_API_KEY=sk-again"]
    assert env[3:] == ["MEMMAN_LLM_MODEL_FAST=qwen3:8b", "MEMMAN_LLM_MODEL_SLOW=qwen3:8b"]
    (box.data / "env").unlink()
    on_terminal(box, [""])
    assert not (box.data / "env").exists()


def on_terminal(box, answers):
    """Run install on a pseudo terminal, type the answers, and return what was shown."""
    import pty
    import select
    import subprocess

    parent, child = pty.openpty()
    process = subprocess.Popen(
        [box.script, "install"], stdin=child, stdout=child, stderr=child, env=box.environ, start_new_session=True
    )
    os.close(child)
    shown, asked = b"", 0
    while select.select([parent], [], [], 60)[0]:
        try:
            shown += os.read(parent, 4096)
        except OSError:
            break
        if answers and shown[asked:].rstrip().endswith(b":"):
            os.write(parent, answers.pop(0).encode() + b"\n")
            asked = len(shown)
    assert process.wait(timeout=PATIENCE) == 0
    os.close(parent)
    return shown.decode()
