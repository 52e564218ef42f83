"""Other programs' settings, 200 generated files an agent: installing twice is installing once, and nothing is lost."""

import json
import os
import tomllib
from pathlib import Path

import pytest

from memman.integrations import edits, parts
from memman.integrations.clients import TARGETS
from memman.integrations.edits import read
from memman.integrations.installer import InstallRecord, drift, entries, installed, leave_folders, undo, wire
from memman.integrations.target import Wiring
from tests.property.settings import generated, generated_toml, quick_folder

FILES = int(os.environ.get("MEMMAN_SETTINGS_FILES", "200"))
PLACES = {
    "claude-code": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "copilot": ".copilot/hooks/memman.json",
    "openclaw": ".openclaw/openclaw.json",
}


def put_in(data, name):
    """Wire one agent."""
    manifest, target = InstallRecord(data), TARGETS[name]
    for file in target.files(Wiring(data, conversation_access=True)):
        wire(manifest, target, file)


def take_out(data, name):
    """Undo one agent; return what was said."""
    manifest, target = InstallRecord(data), TARGETS[name]
    said = [undo(manifest, entry, {name}).said for entry in entries(manifest, [target], Wiring(data))]
    leave_folders(manifest)
    return [line for line in said if line]


def tree(home):
    """Return every file's bytes and mode below a home, memman's own folder left out."""
    return {
        str(path.relative_to(home)): (path.read_bytes(), path.stat().st_mode) if path.is_file() else None
        for path in home.rglob("*")
        if ".memman" not in path.parts
    }


def place(home, name, seed):
    """Put the generated file of one agent into a fresh home; return its path and text."""
    path = home / PLACES[name]
    text = generated(seed, strict=name == "codex" and seed % 2 == 0)
    if text is not None:
        path.parent.mkdir(parents=True)
        path.write_bytes(text.encode())
        path.chmod(0o640)
    return path, text


def plain(text):
    """Return what a settings text means."""
    root = read(text)
    return {} if root is None else root.plain()


@pytest.fixture
def homes(monkeypatch):
    """Give fresh homes, one a number."""
    for name in list(os.environ):
        if name.startswith(("MEMMAN_", "CLAUDE", "CODEX_", "GEMINI_", "OPENCLAW_", "COPILOT_", "QWEN_", "XDG_")):
            monkeypatch.delenv(name)

    with quick_folder() as folder:

        def home(number):
            path = Path(folder, str(number))
            path.mkdir()
            monkeypatch.setenv("HOME", str(path))
            return path

        yield home


@pytest.mark.promise("R21")
@pytest.mark.parametrize("name", PLACES)
def test_installing_twice_is_installing_once_and_uninstalling_restores_the_bytes(homes, name, rounds, kept):
    """Whatever the settings were, they hold our entries beside all that was there, and are restored to the byte."""
    for seed in range(rounds(50, FILES)):
        home = homes(seed)
        data = str(home / ".memman")
        path, text = place(home, name, seed)
        before = tree(home)
        put_in(data, name)
        once = tree(home)
        written = path.read_bytes().decode()
        if name != "openclaw":
            assert parts.groups(plain(written)["hooks"]), seed
        assert installed(TARGETS[name], data)
        assert _others(plain(written)) == _others(plain(text or "")), seed
        put_in(data, name)
        assert tree(home) == once, seed
        if text:
            assert text.encode() in [kept.read_bytes() for kept in (home / ".memman/backups/settings").iterdir()]
        assert take_out(data, name) == []
        assert tree(home) == before, seed
        assert not installed(TARGETS[name], data)
    kept(f"{seed + 1} settings files of {name}: installed twice as once, uninstalled to the byte")


@pytest.mark.slow
@pytest.mark.parametrize("name", PLACES)
def test_what_the_user_writes_in_between_stays(homes, name):
    """After an edit of the user's, uninstalling takes out our entries and nothing else, and says so."""
    for seed in range(FILES):
        home = homes(seed)
        data = str(home / ".memman")
        path, text = place(home, name, seed)
        put_in(data, name)
        edited = edits.ensure(path.read_bytes().decode(), ("the user's",), {"own": [1]})
        path.write_bytes(edited.encode())
        if seed % 2:
            put_in(data, name)
            put_in(data, name)
            assert path.read_bytes().decode() == edited, seed
            assert take_out(data, name) == []
        else:
            (said,) = take_out(data, name)
            assert "changed since" in said
        left = path.read_bytes().decode()
        assert plain(left) == plain(text or "") | {"the user's": {"own": [1]}}, seed
        assert "memman hook" not in left
        assert _comments(left) == _comments(text or ""), seed


@pytest.mark.slow
def test_a_lost_manifest_is_made_up_for_by_the_commands(homes):
    """Without its manifest uninstall knows our entries by their commands and takes them out."""
    for seed in range(0, FILES, 4):
        for name in PLACES:
            home = homes(f"{name}{seed}")
            data = str(home / ".memman")
            path, text = place(home, name, seed)
            put_in(data, name)
            (home / ".memman/install.json").unlink()
            take_out(data, name)
            left = path.read_bytes().decode() if path.exists() else ""
            assert _pruned(plain(left)) == _pruned(plain(text or "")), (name, seed)
            assert not installed(TARGETS[name], data)


def test_codex_keeps_what_its_toml_says(homes):
    """Our server stands behind what config.toml holds, and goes without it; unchanged, it comes back to the byte."""
    for seed in range(FILES):
        home = homes(seed)
        data = str(home / ".memman")
        (home / ".codex").mkdir()
        config, text = home / ".codex/config.toml", generated_toml(seed)
        if text is not None:
            config.write_bytes(text.encode())
        before = tree(home)
        put_in(data, "codex")
        once = tree(home)
        assert parts.read_toml(parts.unserve(config.read_text())) == tomllib.loads(text or "")
        put_in(data, "codex")
        assert tree(home) == once
        if seed % 2:
            added = "# one\u2028line of mine\x85stays\n\n[new]\nmine = 'x'\n"
            config.write_bytes(config.read_bytes() + added.encode())
            take_out(data, "codex")
            left = config.read_bytes().decode()
            assert tomllib.loads(left) == tomllib.loads(text or "") | {"new": {"mine": "x"}}
            assert left.endswith(added)
        else:
            assert take_out(data, "codex") == []
            assert tree(home) == before, seed


def test_drift_is_what_install_would_change(homes):
    """Nothing is adrift after install; one changed byte of a hook is, and installing again mends it."""
    for name in (*PLACES,):
        home = homes(name)
        data = str(home / ".memman")
        place(home, name, 40)
        put_in(data, name)
        (home / ".memman/bin").mkdir()
        (home / ".memman/bin/memman").write_text("program=/bin/true\n")
        assert drift(TARGETS[name], data) == []
        if name == "openclaw":
            continue
        path = home / PLACES[name]
        path.write_bytes(path.read_bytes().replace(b"hook stop", b"hook stop  "))
        assert len(drift(TARGETS[name], data)) == 1
        put_in(data, name)
        assert drift(TARGETS[name], data) == []


def _others(data):
    """Return what a settings file means without our part."""
    data = json.loads(json.dumps(data))
    for groups in data.get("hooks", {}).values():
        groups[:] = [group for group in groups if not any(parts.ours(h["command"]) for h in group["hooks"])]
    allow = data.get("permissions", {}).get("allow", [])
    allow[:] = [rule for rule in allow if "memman" not in rule]
    data.get("plugins", {}).get("entries", {}).pop("memman", None)
    data.get("mcpServers", {}).pop("memman", None)
    allowed = data.get("plugins", {}).get("allow", [])
    allowed[:] = [name for name in allowed if name != "memman"]
    return _pruned(data)


def _pruned(data):
    """Return settings without the empty containers that we may have made or left."""
    data = json.loads(json.dumps(data))
    data["hooks"] = {event: groups for event, groups in data.get("hooks", {}).items() if groups}
    permissions, plugins = data.get("permissions", {}), data.get("plugins", {})
    if not data.get("mcpServers", True):
        del data["mcpServers"]
    for held, key in ((permissions, "allow"), (plugins, "entries"), (plugins, "allow")):
        if not held.get(key, True):
            del held[key]
    return {key: value for key, value in data.items() if value or key not in {"hooks", "permissions", "plugins"}}


def _comments(text):
    marks = ("// why, though", '/* {"hooks": [}, */', "// on its own line", "// at the top", "/* at the end */")
    return [text.count(mark) for mark in marks]
