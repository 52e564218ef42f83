"""How agents find memman: by its name where their shells do, through a link or not, else by the launcher's path."""

import json
import os
import subprocess

import pytest

from memman.config.command import command, found, quoted
from tests.support.box import PATIENCE, nursery
from tests.support.terminal import attended

CLAUDE = ".claude/settings.json"
SKILL = ".claude/skills/memman/SKILL.md"


class House:
    """A user whose memman is in an environment off PATH."""

    def __init__(self, home, script):
        self.home, self.script = home, script
        self.environ = {"HOME": str(home), "PATH": "/usr/bin:/bin", "SHELL": "/bin/bash", "MEMMAN_DRAIN": "off"}
        self.bin, self.data = home / ".local/bin", home / ".memman"
        (home / ".claude").mkdir(parents=True)

    @property
    def link(self):
        """Where the link goes."""
        return self.bin / "memman"

    def settle(self):
        """Have ~/.local/bin on the PATH, after a login and here."""
        self.bin.mkdir(parents=True)
        (self.home / ".profile").write_text('PATH="$HOME/.local/bin:$PATH"\n')
        self.environ["PATH"] = f"{self.bin}:/usr/bin:/bin"

    def run(self, *argv, **environ):
        """Run a program as this user."""
        given = {"capture_output": True, "text": True, "input": "{}", "timeout": PATIENCE}
        return subprocess.run(argv, env=self.environ | environ, cwd=self.home, check=False, **given)

    def memman(self, *args):
        """Run memman."""
        return nursery().run(*args, environ=self.environ, cwd=self.home)

    def uninstall(self, **environ):
        """Uninstall at a terminal where somebody agrees, and return what was said."""
        begin = nursery().attend
        return attended([self.script, "uninstall"], self.environ | environ, self.home, begin=begin).stdout

    def install(self):
        """Install for Claude Code, and return what was said."""
        done = self.memman("install", "--target", "claude-code", "--no-wizard")
        assert done.returncode == 0, done.stderr
        return done.stdout

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

    def amiss(self):
        """Return what doctor finds amiss with the command."""
        findings = json.loads(self.memman("doctor", "--json", "--check", "launcher").stdout)["findings"]
        return [finding for finding in findings if finding["status"] != "ok"]


@pytest.fixture(name="house")
def _house(box, tmp_path):
    """Give a house."""
    return House(tmp_path / "home", box.script)


def test_without_a_place_on_the_path_agents_are_told_the_launcher(house):
    """Guide, skill and grants name a path that any shell can run; a link would help nobody, and none is made."""
    said = house.install()
    launcher = str(house.data / "bin/memman")
    assert f"agents will use {launcher}" in said
    assert command(str(house.data)) == launcher
    assert set(house.told()) == {launcher, "memman"}
    assert house.told().count("memman") == 1  # the grant: the session's hook has Claude Code find the name, too
    assert not house.link.exists()
    assert not house.amiss()
    assert house.run("/bin/bash", "-lc", f"{launcher} --version").stdout.startswith("memman ")


def test_a_link_lets_them_find_the_name_and_goes_again(house):
    """Where ~/.local/bin is on the PATH the launcher is linked there; uninstall removes the link and no more."""
    house.settle()
    other = house.bin / "other"
    other.write_text("#!/bin/sh\n")
    assert f"link {house.link}" in house.install()
    assert house.link.readlink() == house.data / "bin/memman"
    assert set(house.told()) == {"memman"}
    assert not house.amiss()
    assert house.run("/bin/bash", "-lc", "memman --version").stdout.startswith("memman ")
    house.install()
    assert f"remove {house.link}" in house.uninstall()
    assert os.listdir(house.bin) == ["other"]
    assert not (house.data / "command").exists()


def test_another_memman_is_never_written_over(house):
    """What stands there under the name stays as it is, which is said, and agents are told the launcher."""
    house.settle()
    house.link.write_text("#!/bin/sh\necho another\n")
    house.link.chmod(0o755)
    assert f"{house.link} is another memman and was not touched" in house.install()
    assert str(house.data / "bin/memman") in house.told()
    house.uninstall()
    assert house.link.read_text() == "#!/bin/sh\necho another\n"


def test_what_is_no_program_is_left_too(house):
    """A file that shells do not run keeps its place as well."""
    house.settle()
    house.link.write_text("notes\n")
    assert f"{house.link} does not belong to memman and was not touched" in house.install()
    assert house.link.read_text() == "notes\n"


def test_a_name_that_leads_here_already_needs_no_link(house):
    """A tool's own link to the program is as good, and stays when memman is uninstalled."""
    house.settle()
    house.link.symlink_to(house.script)
    house.install()
    assert set(house.told()) == {"memman"}
    house.uninstall()
    assert str(house.link.readlink()) == house.script


def test_the_link_of_another_data_folder_is_left(house):
    """A second memman of the same user takes no name from the first."""
    house.settle()
    house.install()
    second = {"MEMMAN_DATA_DIR": str(house.home / "second")}
    done = house.run(house.script, "install", "--target", "claude-code", "--no-wizard", **second)
    assert f"{house.link} is another memman" in done.stdout
    house.uninstall(**second)
    assert house.link.readlink() == house.data / "bin/memman"


def test_the_program_itself_is_not_called_another_one(house):
    """With a data folder elsewhere agents are told the launcher: the name alone would use the usual folder."""
    house.settle()
    house.link.symlink_to(house.script)
    moved = {"MEMMAN_DATA_DIR": str(house.home / "second")}
    done = house.run(house.script, "install", "--target", "claude-code", "--no-wizard", **moved)
    assert f"{house.link} does not use {house.home}/second by itself: agents will use" in done.stdout
    assert "another memman" not in done.stdout


@pytest.mark.parametrize("fault", ["link gone", "path gone", "another first"])
def test_doctor_says_when_they_do_not_find_it_any_more(house, fault):
    """One warning, whose command mends it."""
    house.settle()
    house.install()
    if fault == "link gone":
        house.link.unlink()
    elif fault == "path gone":
        (house.home / ".profile").unlink()
    else:
        house.link.unlink()
        house.link.write_text(f'#!/bin/sh\nexec {house.script} "$@"\n')
        house.link.chmod(0o755)
        house.environ["MEMMAN_DATA_DIR"] = str(house.data)
    (finding,) = house.amiss()
    assert (finding["status"], finding["mend"].endswith("install")) == ("warn", True)
    house.install()
    assert not house.amiss()


def test_the_shells_of_a_session_of_claude_code_find_it(house):
    """The hook at a session's start adds the launcher's folder to their PATH, at its end."""
    house.install()
    env_file = house.home / "env file"
    launcher = str(house.data / "bin/memman")
    house.run(launcher, "hook", "session-start", "--host", "claude-code", CLAUDE_ENV_FILE=str(env_file))
    said = house.run("/bin/sh", "-c", f". '{env_file}'; command -v memman; echo $PATH").stdout.splitlines()
    assert said == [launcher, f"/usr/bin:/bin:{house.data}/bin"]


def test_the_hints_in_messages_can_be_run(house):
    """Where the shell does not find the name, a message says the path."""
    (house.home / "a b").mkdir()
    assert f"`{house.script} " in house.memman("config", "get", "no_such_key").stderr
    house.settle()
    house.install()
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
