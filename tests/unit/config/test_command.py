"""How agents and hints call memman: by the launcher's path, and by its name where a shell finds it."""

import json
import subprocess

import pytest

from memman.config.command import command, found, quoted
from tests.support.box import PATIENCE, nursery

CLAUDE = ".claude/settings.json"
SKILL = ".claude/skills/memman/SKILL.md"


class House:
    """A user whose memman is in an environment off PATH."""

    def __init__(self, home, script):
        self.home, self.script = home, script
        self.environ = {"HOME": str(home), "PATH": "/usr/bin:/bin", "SHELL": "/bin/bash", "MEMMAN_DRAIN": "off"}
        self.data = home / ".memman"
        self.launcher = str(self.data / "bin/memman")
        (home / ".claude").mkdir(parents=True)

    def run(self, *argv, **environ):
        """Run a program as this user."""
        given = {"capture_output": True, "text": True, "input": "{}", "timeout": PATIENCE}
        return subprocess.run(argv, env=self.environ | environ, cwd=self.home, check=False, **given)

    def memman(self, *args):
        """Run memman."""
        return nursery().run(*args, environ=self.environ, cwd=self.home)

    def install(self):
        """Install for Claude Code."""
        done = self.memman("install", "--target", "claude-code", "--no-wizard")
        assert done.returncode == 0, done.stderr

    def told(self):
        """Return how the guide, the skill and the grants call memman."""
        guide, skill = self.memman("guide").stdout, (self.home / SKILL).read_text()
        grants = json.loads((self.home / CLAUDE).read_text())["permissions"]["allow"]
        return [
            *(line.partition("`")[2].rpartition(" recall")[0] for line in guide.splitlines() if " recall " in line),
            *(line.partition("`")[2].partition(" recall ")[0] for line in skill.splitlines() if " recall " in line),
            *(line.split()[0] for line in skill.splitlines() if line.startswith("    ") and "<<" in line),
            *(grant.removeprefix("Bash(").partition(" recall")[0] for grant in grants if " recall:" in grant),
        ]


@pytest.fixture(name="house")
def _house(box, tmp_path):
    """Give a house."""
    return House(tmp_path / "home", box.script)


def test_agents_are_told_the_launcher(house):
    """Guide, skill and grants name a path that any shell can run."""
    assert command(str(house.data)) == "memman"
    house.install()
    assert command(str(house.data)) == house.launcher
    assert set(house.told()) == {house.launcher, "memman"}
    assert house.told().count("memman") == 1  # the grant: the session's hook has Claude Code find the name, too
    assert house.run("/bin/bash", "-lc", f"{house.launcher} --version").stdout.startswith("memman ")


def test_the_guide_says_the_name_where_shells_find_it(house):
    """A link to the program is as good; not so with a data folder elsewhere, nor for another memman."""
    house.install()
    folder = house.home / "bin"
    folder.mkdir()
    (folder / "memman").symlink_to(house.script)
    path = {"PATH": f"{folder}:/usr/bin:/bin"}
    assert "`memman recall" in house.run(house.script, "guide", **path).stdout
    second = {"MEMMAN_DATA_DIR": str(house.home / "second")}
    house.run(house.script, "install", "--target", "claude-code", "--no-wizard", **second)
    assert f"`{house.home}/second/bin/memman recall" in house.run(house.script, "guide", **path, **second).stdout
    (folder / "memman").unlink()
    (folder / "memman").write_text("#!/bin/sh\n")
    (folder / "memman").chmod(0o755)
    assert f"`{house.launcher} recall" in house.run(house.script, "guide", **path).stdout


def test_the_shells_of_a_session_of_claude_code_find_it(house):
    """The hook at a session's start adds the launcher's folder to their PATH, at its end."""
    house.install()
    env_file = house.home / "env file"
    house.run(house.launcher, "hook", "session-start", "--host", "claude-code", CLAUDE_ENV_FILE=str(env_file))
    said = house.run("/bin/sh", "-c", f". '{env_file}'; command -v memman; echo $PATH").stdout.splitlines()
    assert said == [house.launcher, f"/usr/bin:/bin:{house.data}/bin"]


def test_the_hints_in_messages_can_be_run(house):
    """Where the shell does not find the name, a message says the path."""
    assert f"`{house.script} " in house.memman("config", "get", "no_such_key").stderr
    folder = house.home / "bin"
    folder.mkdir()
    (folder / "memman").symlink_to(house.script)
    house.environ["PATH"] += f":{folder}"
    assert "`memman " in house.memman("config", "get", "no_such_key").stderr


@pytest.mark.parametrize("path", ["/usr/bin/memman", "/a b/memman", "/a'b/$(id)/`id`/memman", "/ü/memman"])
def test_a_quoted_path_is_one_word_of_a_shell(path):
    """Whatever a folder is called."""
    assert subprocess.check_output(["/bin/sh", "-c", f"printf %s {quoted(path)}"], text=True) == path


def test_only_programs_in_absolute_folders_are_found(tmp_path):
    """As a shell finds them, but for the working folder, which is another wherever an agent runs."""
    (tmp_path / "memman").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "b/memman").touch(0o755)
    assert found(f"{tmp_path}:.:{tmp_path}/b") == f"{tmp_path}/b/memman"
    assert found("") == found("b") == ""
