"""Folders of which nothing is to be remembered: `.memmanignore` at a work tree's root, and MEMMAN_IGNORE."""

import json
import os
import subprocess

import pytest

from memman.config.ignore import matches

FITS = (
    ("secrets", "secrets"), ("secrets/", "a/b/secrets/c"), ("/secrets", "secrets/deep/down"), ("a/b", "a/b/c"),
    ("client-*", "work/client-acme"), ("*-private", "x-private/y"), ("a*b*c", "aXbYc"), ("**/keys", "a/keys"),
    ("a/**", "a/b"), ("*", ""), ("/", "any/where"), ("*", "any"), ("/*/keys", "a/keys"),
)  # fmt: skip
MISSES = (
    ("secrets", "secret"), ("/secrets", "a/secrets"), ("a/b", "x/a/b"), ("client-*", "client"), ("a*b", "aXc"),
    ("a*bb*b", "abb"), ("secrets", ""), ("a/b", "a"), ("/*/keys", "keys"),
)  # fmt: skip


@pytest.mark.parametrize(("pattern", "path", "fits"), [(*p, True) for p in FITS] + [(*p, False) for p in MISSES])
def test_a_pattern_fits_a_folder_and_what_lies_in_it(pattern, path, fits):
    """Names are looked for anywhere, paths from the root; `*` stays within a name."""
    assert matches(pattern, path.split("/") if path else []) == fits


@pytest.fixture
def tree(box):
    """Make a work tree with a folder `hr` and another, below which nothing and something may be remembered."""
    root = box.data.parent / "tree"
    for name in ("hr/letters", "src"):
        (root / name).mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(root)], check=True, env=box.environ)
    (root / ".memmanignore").write_text("# people\n\nhr/\n")
    return root


def hook(box, folder, event, **payload):
    """Tell memman of an event in a folder."""
    said = json.dumps({"session_id": "s", "cwd": str(folder)} | payload)
    ended = box.memman("hook", event, "--host", "claude-code", input=said)
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout


def said(box, folder):
    """Have a turn and a compaction in a folder; return what was queued."""
    prompt = "From now on always run make lint before you commit."
    hook(box, folder, "user-prompt", prompt=prompt)
    hook(box, folder, "stop", prompt=prompt, last_assistant_message="Will do.")
    hook(box, folder, "post-compact", compact_summary="The user prefers short answers.")
    return box.queue("SELECT channel FROM note ORDER BY id") if box.queue_path.exists() else []


def test_remember_refuses_where_nothing_is_to_be_remembered(box, tree):
    """In the folder and below `remember` exits 2 with one line that names the pattern; beside it, it queues."""
    for name in ("hr", "hr/letters"):
        ended = box.memman("remember", "Ada earns a lot.", cwd=tree / name)
        assert (ended.returncode, ended.stdout) == (2, "")
        assert ended.stderr.count("\n") == 1
        assert "hr/" in ended.stderr
    assert not box.queue_path.exists() or box.queue("SELECT text FROM note") == []
    assert box.memman("remember", "The build takes a minute.", cwd=tree / "src").returncode == 0


def test_hooks_are_silent_there_and_keep_nothing(box, tree):
    """No turn, prompt or summary of the folder is kept anywhere; those beside it are."""
    assert said(box, tree / "hr") == []
    kept = b"".join(path.read_bytes() for path in (box.data / "sessions").glob("*"))
    assert b"make lint" not in kept
    assert said(box, tree / "src") == ["turn", "compact"]


def test_a_folder_can_be_named_in_the_settings(box, tree):
    """MEMMAN_IGNORE holds for folders without a repository too, with ~ and *."""
    folder = box.data.parent / "clients" / "acme" / "app"
    folder.mkdir(parents=True)
    box.configure(IGNORE="~/clients/*, attic")
    assert box.memman("remember", "Acme pays late.", cwd=folder).returncode == 2
    assert said(box, folder) == []
    assert box.memman("remember", "The build takes a minute.", cwd=tree / "src").returncode == 0


def test_a_whole_work_tree_can_be_left_out(box, tree):
    """A line `*` leaves out the root as well; a link into the tree is no way around it."""
    (tree / ".memmanignore").write_text("*\n")
    link = box.data.parent / "link"
    link.symlink_to(tree / "src")
    for folder in (tree, tree / "src", link):
        assert box.memman("remember", "x is y", cwd=folder).returncode == 2
        assert said(box, folder) == []


def test_a_list_that_is_no_file_keeps_everything_out(box, tree):
    """What cannot be read is not taken for a permission: `remember` says so in one line, hooks keep nothing."""
    (tree / ".memmanignore").unlink()
    os.mkfifo(tree / ".memmanignore")
    ended = box.memman("remember", "x is y", cwd=tree)
    assert ended.returncode == 74
    assert ended.stderr.count("\n") == 1
    assert said(box, tree) == []
