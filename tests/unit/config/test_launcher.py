"""The launcher: whatever is behind it, a hook never fails, and everything else is the program's own."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from memman.config import launcher
from memman.config.launcher import NONE, Interpreter, quick
from tests.support.box import PATIENCE

WORDS = ("hook", "stop", "--host", "x y")
PLUGIN = Path(__file__).parents[3] / "hooks/claude-code"


def run(path, *words, cwd=None, **environ):
    """Run a launcher."""
    given = {"env": {"PATH": "/usr/bin:/bin"} | environ, "cwd": cwd, "input": "{}", "timeout": PATIENCE}
    return subprocess.run([path, *words], capture_output=True, text=True, check=False, **given)


def laid(folder, program, start=NONE):
    """Lay a launcher for `program` into `folder`."""
    path = folder / "bin/memman"
    path.parent.mkdir(parents=True)
    path.write_text(launcher.text(str(folder), str(program), start))
    path.chmod(0o700)
    return path


@pytest.fixture(name="odd")
def _odd(tmp_path):
    """Make a folder with a name full of what a shell makes much of."""
    folder = tmp_path / "my data $HOME `id` \"q\" 'r' }\\ %h"
    folder.mkdir()
    return folder


def test_it_starts_the_program_with_its_words_and_folder(odd):
    """Arguments arrive as they are; the data folder is named unless the caller names another."""
    program = odd / "program"
    program.write_text('#!/bin/sh\nprintf "%s|" "$@"; printf "%s" "$MEMMAN_DATA_DIR"; exit 7\n')
    program.chmod(0o755)
    path = laid(odd, program)
    done = run(path, "remember", "a b", "$HOME")
    assert (done.returncode, done.stdout) == (7, f"remember|a b|$HOME|{odd}")
    assert run(path, "recall", MEMMAN_DATA_DIR="/other").stdout == "recall|/other"
    hook = run(path, *WORDS)
    assert (hook.returncode, hook.stdout) == (0, f"hook|stop|--host|x y|{odd}")


@pytest.mark.parametrize("fault", ["missing", "a folder", "not executable", "no interpreter", "killed"])
def test_a_hook_succeeds_whatever_the_program_is(odd, fault):
    """A program that is missing or broken costs an agent's turn nothing, and says nothing on standard output."""
    program = odd / "program"
    if fault == "a folder":
        program.mkdir()
    elif fault != "missing":
        program.write_text({"killed": "#!/bin/sh\nkill -KILL $$\n"}.get(fault, "#!/nonexistent/python\n"))
        program.chmod(0o600 if fault == "not executable" else 0o755)
    path = laid(odd, program)
    done = run(path, *WORDS)
    assert (done.returncode, done.stdout) == (0, "")
    assert run(path, "remember", "x").returncode != 0


@pytest.mark.parametrize("words", [("--host", "gemini"), ("--host=gemini",)])
def test_gemini_is_given_an_empty_object(odd, words):
    """Where the program is missing Gemini CLI gets what it takes for nothing, as from the program itself."""
    done = run(laid(odd, odd / "missing"), "hook", "stop", *words)
    assert (done.returncode, done.stdout) == (0, "{}\n")


@pytest.fixture(name="plugin")
def _plugin(tmp_path):
    """Give a copy of Claude Code's plugin, its program first on a PATH, behind it a link to that and another copy."""
    for name in ("one", "two"):
        shutil.copytree(PLUGIN, tmp_path / name)
    (tmp_path / "links").mkdir()
    (tmp_path / "links/memman").symlink_to(tmp_path / "one/bin/memman")
    folders = ("one/bin", "links", "two/bin", "my own * bin")
    return {"HOME": str(tmp_path), "PATH": ":".join(f"{tmp_path}/{name}" for name in folders) + ":/usr/bin:/bin"}


def test_the_plugin_does_not_start_itself(tmp_path, plugin):
    """Where there is no memman but the plugin's own, a hook says nothing and all else one line with exit code 127."""
    path = tmp_path / "one/bin/memman"
    hook, other = run(path, *WORDS, **plugin), run("memman", "--version", **plugin)
    assert (hook.returncode, hook.stdout, hook.stderr) == (0, "", "")
    assert (other.returncode, other.stdout, len(other.stderr.splitlines())) == (127, "", 1)


def test_the_plugin_starts_the_launcher_or_else_the_memman_on_the_path(tmp_path, plugin):
    """The launcher comes first; without one it is the first memman on the PATH that is no plugin's."""
    folder = tmp_path / "my own * bin"
    folder.mkdir()
    (folder / "memman").write_text('#!/bin/sh\nprintf "%s|" "$@"; exit 7\n')
    (folder / "memman").chmod(0o755)
    path = tmp_path / "one/bin/memman"
    done = run(path, "recall", "a  b", "*", **plugin)
    assert (done.returncode, done.stdout) == (7, "recall|a  b|*|")
    (tmp_path / ".memman/bin/memman").mkdir(parents=True)
    assert run(path, "recall", **plugin).stdout == "recall|"
    (tmp_path / ".memman/bin/memman").rmdir()
    (tmp_path / ".memman/bin/memman").write_text("#!/bin/sh\necho launcher\n")
    (tmp_path / ".memman/bin/memman").chmod(0o755)
    assert run(path, "recall", **plugin).stdout == "launcher\n"


def test_it_is_written_where_it_is_not_as_it_should_be(box):
    """Private and executable from the first moment, left alone when it is right, mended when it is not."""
    data = str(box.data)
    path = launcher.lay(data)
    assert os.stat(path).st_mode & 0o777 == 0o700
    assert launcher.target(data) == launcher.program() == box.script
    assert launcher.start(data) == quick()
    first = os.stat(path).st_ino
    assert os.stat(launcher.lay(data)).st_ino == first
    os.chmod(path, 0o600)
    launcher.lay(data)
    assert os.access(path, os.X_OK)
    with open(path, "a", encoding="utf-8") as file:
        file.write("exit 1\n")
    launcher.lay(data)
    assert run(path, "--version").returncode == 0
    assert os.listdir(box.data / "bin") == ["memman"]


def test_only_a_moved_folder_is_named(box):
    """The usual folder follows HOME; another one is written down."""
    assert "MEMMAN_DATA_DIR" in launcher.text(str(box.data), "/m")
    assert "MEMMAN_DATA_DIR" not in launcher.text(os.path.expanduser("~/.memman"), "/m")


def test_an_agent_that_ends_a_late_hook_ends_the_program_too(odd):
    """After SIGTERM to the launcher nobody holds its output open, and standard input did reach the program."""
    program = odd / "program"
    program.write_text("#!/bin/sh\nread line; echo $line; exec sleep 60\n")
    program.chmod(0o755)
    pipe = subprocess.PIPE
    with subprocess.Popen([laid(odd, program), *WORDS], stdin=pipe, stdout=pipe, text=True) as hook:
        hook.stdin.write("a prompt\n")
        hook.stdin.flush()
        assert hook.stdout.readline() == "a prompt\n"
        hook.terminate()
        assert hook.stdout.read() == ""
        assert hook.wait(PATIENCE) == 0


def saying(folder):
    """Make a program that tells what it was started with."""
    path = folder / "program"
    path.write_text('#!/bin/sh\nprintf "%s|" "$@"\n')
    path.chmod(0o755)
    return path


def test_the_verbs_of_a_turn_are_started_without_site(odd):
    """They remember and recall without the program that all other verbs are started by."""
    path = laid(odd, saying(odd), quick())
    assert quick().python
    assert len(run(path, "remember", "A heron nests.").stdout.strip()) == 32
    assert "A heron nests." in run(path, "recall", "heron").stdout
    assert run(path, "hook", "session-start", "--host", "codex").stdout.startswith("{")
    assert run(path, "status", "-x").stdout == "status|-x|"


@pytest.mark.parametrize("fault", ["another version", "nothing there", "no interpreter", "not the package"])
def test_what_was_written_down_and_no_longer_holds_is_passed_over(odd, fault):
    """A folder or an interpreter that is gone, or of another version, leaves the verb to the program."""
    python, library = quick()
    version, _, folders = library.partition(":")
    start = {
        "another version": Interpreter(python, f"2.7:{folders}"),
        "nothing there": Interpreter(python, f"{version}:/nonexistent"),
        "no interpreter": Interpreter("/nonexistent/python", library),
        "not the package": Interpreter(python, version),
    }[fault]
    path = laid(odd, saying(odd), start)
    assert run(path, "recall", "a  b", "$HOME").stdout == "recall|a  b|$HOME|"


def test_what_a_project_puts_on_the_path_of_python_is_not_run(odd):
    """Neither PYTHONPATH nor the working folder can put another package in the place of ours."""
    for name in ("apsw", "memman", "os"):
        (odd / f"{name}.py").write_text("print('not ours')\n")
    path = laid(odd, saying(odd), quick())
    assert run(path, "recall", "heron", cwd=odd, PYTHONPATH=str(odd)).stdout == ""


@pytest.mark.parametrize(
    ("place", "cached"),
    [
        ("home/.cache/uv/archive-v0/x", True),
        ("home/Library/Caches/uv/archive-v0/x", True),
        ("home/.local/pipx/.cache/0123abcd", True),
        ("tagged/archive-v0/x", True),
        ("home/.local/share/uv/tools/memman", False),
        ("home/.local/share/pipx/venvs/memman", False),
        ("src/memman/.venv", False),
    ],
)
def test_what_is_below_a_cache_vanishes(tmp_path, place: str, cached: bool) -> None:
    """A folder above it is called as caches are, or has their tag; a tag of its own, as uv writes, says nothing."""
    for folder in (place, "tagged"):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / "CACHEDIR.TAG").touch()

    assert launcher.in_cache(str(tmp_path / place)) is cached


def test_a_memman_that_stays_keeps_no_copy(box, monkeypatch) -> None:
    """Installed for good, it removes the copies of before; in a cache with its Python it says what to do."""
    old = box.data / "program/0123abcd/bin"
    old.mkdir(parents=True)
    dry = box.memman("uninstall", "--dry-run")
    assert box.memman("install", "--no-wizard", "--target", "claude-code").returncode == 0
    assert list((box.data / "program").iterdir()) == []
    assert str(box.data / "program") in box.memman("uninstall", "--dry-run").stdout
    assert str(box.data / "program") not in dry.stdout
    assert box.memman("uninstall").returncode == 0
    assert not (box.data / "program").exists()

    monkeypatch.setattr(launcher, "in_cache", lambda _: True)
    with pytest.raises(launcher.CannotWrite, match="install memman with pipx or uv tool"):
        launcher.stay(str(box.data))
    assert not (box.data / "program").exists()
