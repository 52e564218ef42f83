"""The git folder as it may be found: complete, packed, or something else altogether."""

import os
import resource
import subprocess
import sys

import pytest

from memman.config.repository import repository
from tests.support.box import PATIENCE

COMMIT = "3f9a1c7e5b2d8046af13c95e7b0d284611223344"
FILES = ("commondir", "HEAD", "config", "packed-refs", "refs/heads/main")


@pytest.fixture
def git(tmp_path):
    """Give the git folder of a work tree on the branch main."""
    folder = tmp_path / ".git"
    (folder / "refs/heads").mkdir(parents=True)
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "refs/heads/main").write_text(COMMIT + "\n")
    return folder


def test_a_branch_leads_to_its_commit(git):
    """A loose ref goes before a packed one; either is found, however many there are."""
    many = "".join(f"{number:040x} refs/tags/v{number}\n" for number in range(20_000))
    (git / "packed-refs").write_text(f"# pack-refs with: peeled\n{many}{'0' * 39}1 refs/heads/main\n")
    assert repository(str(git.parent)).commit == COMMIT
    (git / "refs/heads/main").unlink()
    assert repository(str(git.parent)).commit == "0" * 39 + "1"
    (git / "packed-refs").write_text(f"{COMMIT} refs/heads/other/refs/heads/main2\n")
    assert repository(str(git.parent)).commit == ""


@pytest.mark.parametrize("head", ["what is this", "ref: ../../secret", "ref: refs/heads/none", "f" * 41, ""])
def test_what_is_no_commit_is_none(git, head):
    """Nothing but a hash is taken for a commit, whatever file a ref leads to."""
    (git.parent.parent / "secret").write_text("the content of another file")
    (git / "HEAD").write_text(head)
    assert repository(str(git.parent)).commit == ""


LOOK = """
import sys
from memman.config.repository import repository
found = repository(sys.argv[1])
print(found and (found.commit, found.name))
"""


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("what", ["zero", "pipe", "folder"])
def test_a_file_that_is_none_costs_nothing(git, name, what):
    """A device without end, a pipe nobody writes to, or a folder in the place of a file is passed over."""
    path = git / name
    path.unlink(missing_ok=True)
    if what == "zero":
        path.symlink_to("/dev/zero")
    elif what == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    looked(git.parent)


@pytest.mark.parametrize("what", ["zero", "pipe"])
def test_a_git_link_that_is_no_file_is_no_repository(tmp_path, what):
    """`.git` as a device or a pipe is no repository."""
    if what == "zero":
        (tmp_path / ".git").symlink_to("/dev/zero")
    else:
        os.mkfifo(tmp_path / ".git")
    assert looked(tmp_path) == "None\n"


def test_a_huge_file_is_read_in_part(git):
    """A gigabyte in the place of HEAD is not read whole."""
    os.truncate(git / "HEAD", 1 << 30)
    looked(git.parent)


def looked(folder):
    """Look for the repository in a process that may have half a gigabyte and ten seconds; return what it prints."""
    most = 512 << 20
    return subprocess.run(
        [sys.executable, "-c", LOOK, folder],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)),
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    ).stdout
