"""Kills at every call of install and uninstall that writes: settings stay whole, and the next call mends."""

import json
import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import pytest

from memman.integrations.edits import read
from tests.support.box import PATIENCE

CLAUDE = '{\r\n    // mine\r\n    "model": "x",\r\n    "hooks": {"Stop": []}, // ünïcode\r\n}'
CODEX = 'model = "gpt-5"\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "say done"\n'
FILES = {
    "claude-code": {".claude/settings.json": CLAUDE},
    "codex": {".codex/config.toml": CODEX},
    "gemini": {".gemini/settings.json": "{}\n", ".agents/skills/memman/SKILL.md": "of somebody else\n"},
}


class Sweep:
    """What stood in the homes after the kills, and after what came then."""

    def __init__(self, folder, name, step):
        self.folder, self.name, self.step = folder, name, step
        self.plain = folder / "plain"
        for place, text in FILES[name].items():
            path = self.plain / place
            path.parent.mkdir(parents=True)
            path.write_bytes(text.encode())
        self.before = FILES[name]

    def words(self, verb):
        """Return the command line of a verb."""
        return [verb, "--target", self.name, *(["--no-wizard"] if verb == "install" else [])]

    def run(self, before, killed, *after):
        """Kill the verb `killed`; return the states, a list for each home."""
        homes = self.folder / "homes"
        homes.mkdir()
        lines = ([self.words(verb) for verb in before], self.words(killed))
        lines += ([[self.words(verb) for verb in verbs] for verbs in after],)
        scrubbed = ("MEMMAN_", "CLAUDE", "CODEX_", "GEMINI_", "OPENCLAW_", "COPILOT_", "QWEN_", "XDG_", "DBUS_")
        environ = {key: value for key, value in os.environ.items() if not key.startswith(scrubbed)}
        ran = subprocess.run(
            [
                sys.executable,
                Path(__file__).parent / "install_sweep.py",
                self.plain,
                homes,
                *map(json.dumps, (*lines, self.step)),
            ],
            env=environ | {"HOME": str(self.folder), "XDG_RUNTIME_DIR": str(self.folder / "no service manager")},
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        swept = json.loads(ran.stdout)
        assert len(swept) * self.step > 10
        return swept


def theirs(state):
    """Return what is not memman's own folder."""
    return {place: text for place, text in state.items() if not place.startswith(".memman")}


def files(state):
    """Return the files among that."""
    return {place: text for place, text in theirs(state).items() if text is not None}


def whole(state):
    """Assert that no settings file is torn."""
    for place, text in state.items():
        if place.endswith("settings.json"):
            assert read(text)
        elif place.endswith("config.toml"):
            tomllib.loads(text)
        elif place == ".memman/install.json":
            json.loads(text)


@pytest.fixture
def folder():
    """Give a folder in memory where there is one: the sweeps write thousands of files to the disk for certain."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as place:  # noqa: S108
        yield Path(place)


@pytest.mark.slow
@pytest.mark.promise("R21")
@pytest.mark.parametrize("name", FILES)
def test_an_install_killed_anywhere_leaves_whole_files_and_a_backup(folder, name, rounds, kept):
    """Each file is as it was or as it is to be, its original is kept before it changes, and both ways out work."""
    sweep = Sweep(folder, name, rounds(5, 1))
    swept = sweep.run([], "install", ["uninstall"], ["install", "uninstall"])
    outcome = theirs(next(states[1] for states in swept[::-1] if len(states) > 2))
    changed = 0
    for killed, *after in swept:
        whole(killed)
        backups = [text for place, text in killed.items() if place.startswith(".memman/backups/settings/")]
        for place, text in sweep.before.items():
            assert killed[place] in {text, outcome[place]}
            if killed[place] != text:
                changed += 1
                assert text in backups
        if len(after) > 1:
            assert theirs(after[0]) == outcome
        assert files(after[-1]) == sweep.before
    assert changed
    assert files(swept[-1][0]) == {place: text for place, text in outcome.items() if text is not None}
    kept(f"{name}: install killed at each of {len(swept) - 1} writes, {changed} changed files, all whole and backed up")


@pytest.mark.promise("R21")
@pytest.mark.parametrize("name", FILES)
def test_an_uninstall_killed_anywhere_is_finished_by_the_next(folder, name, rounds, kept):
    """Each file is as installed or as it was; the next uninstall brings all of them back, the next install wires."""
    sweep = Sweep(folder, name, rounds(5, 1))
    swept = sweep.run(["install"], "uninstall", ["uninstall"], ["install", "uninstall"])
    outcome = theirs(next(states[1] for states in swept[::-1] if len(states) > 2))
    folders = {str(path.relative_to(sweep.plain)) for path in sweep.plain.rglob("*")}
    for killed, *after in swept:
        whole(killed)
        for place, text in sweep.before.items():
            assert killed[place] in {text, outcome[place]}
        if len(after) > 1:
            assert theirs(after[0]) == outcome
        assert files(after[-1]) == sweep.before
        assert theirs(after[-1]).keys() == folders
    kept(f"{name}: uninstall killed at each of {len(swept) - 1} writes, finished by the next")
