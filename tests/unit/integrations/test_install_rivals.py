"""Two memmans in one home: the last installed has the agents, and who never installed takes nothing away."""

import os

import pytest

ORIGINAL = (
    '{\n  "model": "opus",\n  "hooks": {\n    "Stop": [\n      {"hooks": [{"type": "command", "command": "mine"}]}\n'
)
ORIGINAL += "    ]\n  }\n}\n"
AGENTS = ("claude-code", "codex", "gemini", "qwen", "copilot", "opencode", "openclaw")
WIRED = [word for agent in AGENTS for word in ("--target", agent)]


@pytest.fixture(name="home")
def _home(box, monkeypatch):
    """Give the box's home, with settings of a user's own."""
    for name in ("OPENCLAW_STATE_DIR", "OPENCLAW_CONFIG_PATH"):
        monkeypatch.delenv(name, raising=False)
        box.environ.pop(name, None)
    box.environ["PATH"] = "/usr/bin:/bin"
    home = box.data.parent
    (home / ".claude").mkdir()
    (home / ".claude/settings.json").write_text(ORIGINAL)
    return home


@pytest.fixture(name="run")
def _run(box, home):
    """Run memman with one of two data folders; it must succeed. Returns what was printed."""

    def run(name, verb, *args):
        box.environ["MEMMAN_DATA_DIR"] = str(home / name)
        done = box.memman(verb, *(["--no-wizard"] if verb == "install" else []), *args)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return run


def tree(home):
    """Return every file's bytes in a home, the data folders left out."""
    paths = (path for path in home.rglob("*") if path.relative_to(home).parts[0] not in {"A", "B"})
    return {str(path.relative_to(home)): path.read_bytes() if path.is_file() else None for path in paths}


def test_the_last_installed_has_the_hooks(home, run):
    """B replaces A's hooks; its uninstall brings back the bytes that it found."""
    run("A", "install", *WIRED[:-2])
    before = tree(home)
    run("B", "install", *WIRED[:-2])
    assert not [path for path, held in tree(home).items() if b"/A/bin/memman" in (held or b"")]
    run("B", "uninstall")
    assert tree(home) == before


def test_who_never_installed_takes_nothing_away(home, run):
    """Uninstalling with another data folder touches nothing that works for a memman of its own."""
    run("B", "install", *WIRED)
    wired = tree(home)
    run("A", "uninstall")
    assert tree(home) == wired


def test_one_file_behind_two_links_goes_with_its_last_owner(home, run):
    """Where both folders of skills are one by a link, the skill stays until the second agent goes."""
    (home / ".claude/skills").mkdir()
    (home / ".agents").mkdir()
    os.symlink(home / ".claude/skills", home / ".agents/skills")
    before = tree(home)
    run("A", "install", "--target", "claude-code", "--target", "codex")
    run("A", "uninstall", "--target", "codex")
    assert (home / ".claude/skills/memman/SKILL.md").exists()
    run("A", "uninstall", "--target", "claude-code")
    assert tree(home) == before


def test_without_a_manifest_our_own_folders_go(home, run):
    """When install.json is lost, folders that have memman's name go with what was in them; agents' own stay."""
    run("A", "install", *WIRED)
    (home / "A/install.json").unlink()
    run("A", "uninstall")
    left = tree(home)
    assert {path for path, held in left.items() if held is not None} == {".claude/settings.json"}
    assert not [path for path in left if path.endswith("/memman")]
    assert ".codex" in left
