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
    ("./hr", "hr"), ("h?", "hr"), ("a/**/b", "a/x/y/b"), ("a/**/b", "a/b"), ("*" * 40 + "a", "a" * 200),
)  # fmt: skip
MISSES = (
    ("secrets", "secret"), ("/secrets", "a/secrets"), ("a/b", "x/a/b"), ("client-*", "client"), ("a*b", "aXc"),
    ("a*bb*b", "abb"), ("secrets", ""), ("a/b", "a"), ("/*/keys", "keys"),
    ("./hr", "a/hr"), ("h?", "h"), ("h?", "hrs"), ("a/**/b", "a/x"), ("*a" * 40, "a" * 39 + "b" * 160),
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


def test_what_lies_below_an_excluded_folder_is_left_out_whatever_it_is(box, tree):
    """A repository in it, a linked work tree, a folder without git below a list, and a list that leads nowhere."""

    def git(folder, *words):
        subprocess.run(["git", "-C", str(folder), *words], check=True, env=box.environ, capture_output=True)

    base = box.data.parent
    for name in ("hr/inner", "hr/deep/inner"):
        (tree / name).mkdir(parents=True)
        git(tree / name, "init", "-q")
    git(tree, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty", "-m", "x")
    git(tree, "worktree", "add", "-q", str(base / "linked"))
    (base / "linked/hr").mkdir()
    (base / "plain/notes").mkdir(parents=True)
    (base / "plain/.memmanignore").write_text("notes\n")
    (base / "nowhere").mkdir()
    (base / "nowhere/.memmanignore").symlink_to(base / "gone")
    left_out = [tree / "hr/inner", tree / "hr/deep/inner", base / "linked/hr", base / "plain/notes", base / "nowhere"]
    assert [box.memman("remember", "x is y", cwd=folder).returncode for folder in left_out] == [2] * len(left_out)
    for folder in (base / "linked", base / "plain", tree / "src"):
        assert box.memman("remember", "The build takes a minute.", cwd=folder).returncode == 0


def test_what_a_link_leads_to_is_left_out(box, tree):
    """A folder on a list may be a link or lie behind one, and so may the home: the agent's folder is the real one."""
    base = box.data.parent
    (base / "disk/clients/acme").mkdir(parents=True)
    (base / "elsewhere").mkdir()
    (base / "clients").symlink_to(base / "disk/clients")
    (base / "disk/clients/globex").symlink_to(base / "elsewhere")
    (base / "house").symlink_to(base)
    (tree / "people").symlink_to(tree / "src")
    box.configure(IGNORE="~/clients/*")
    (tree / ".memmanignore").write_text("people\n")
    box.environ["HOME"] = str(base / "house")
    for folder in (base / "disk/clients/acme", base / "elsewhere", tree / "src"):
        assert box.memman("remember", "x is y", cwd=folder).returncode == 2, folder
    assert box.memman("remember", "x is y", cwd=tree / "hr").returncode == 0


@pytest.mark.parametrize(
    "written",
    ["\ufeffhr/\n", "./hr\n", "hr # salaries\n", "h?\n", "hr/\r\n", "~/tree/hr\n", "{}/hr\n", "HR\n", "/Hr/\n"],
)
def test_a_list_is_understood_as_people_write_it(box, tree, written):
    """A byte order mark, `./`, comments, `?`, the home, a whole path, capitals: the rest is not left out."""
    (tree / ".memmanignore").write_bytes(written.replace("{}", str(tree)).encode())
    assert box.memman("remember", "Ada earns a lot.", cwd=tree / "hr").returncode == 2
    assert box.memman("remember", "The build takes a minute.", cwd=tree / "src").returncode == 0


@pytest.mark.parametrize(
    "line",
    [
        *(b"!src\n", b"[hs]r\n", b"h\\r\n", b"../x\n", b"m\xfcller\n", b'"pay"\n', b"h\0r\0\n\0", b"{pay,pets}\n"),
        *(b"pay, pets\n", b"pay,pets\n", b"pay; ok\n", b"pay // salaries\n", b"pay//salaries\n", b"- pay\n", b"-pay\n"),
        "pay\n".encode("utf-16"),
        *(b"'pay'\n", b"`pay`\n", b"^pay$\n", b"pay|pets\n", b"<pay>\n", b"pay:\n", b"%HOME%/pay\n", b"a/$USER\n"),
        *(
            b"~nobody-here/pay\n",
            b"pay pets\n",
            "pay\u200b\n".encode(),
            b"\xff\xff\x00\n",
            "pay\n".encode("utf-16"),
            b"syntax: glob\n",
        ),
    ],
)
def test_a_list_that_is_not_understood_leaves_out_everything_and_doctor_names_it(box, tree, line):
    """What git, a shell or another encoding would take for a pattern is not passed over."""
    (tree / ".memmanignore").write_bytes(b"hr\n" + line)
    ended = box.memman("remember", "x is y", cwd=tree / "src")
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1)
    assert said(box, tree / "src") == []
    assert ".memmanignore is not understood" in box.memman("doctor", "--check", "folder", cwd=tree / "src").stdout


def test_a_blank_belongs_to_the_name_of_a_folder_that_is_there(box, tree):
    """So does a `?` in its place, wherever that folder lies; the settings are read in the same way."""
    for folder in ("pay roll", "src/pay roll"):
        (tree / folder).mkdir()
    for line, folder in (("pay roll/", "pay roll"), ("Pay?roll", "src/pay roll")):
        (tree / ".memmanignore").write_text(line + "\n")
        assert box.memman("remember", "Ada earns a lot.", cwd=tree / folder).returncode == 2
        assert box.memman("remember", "The build takes a minute.", cwd=tree / "hr").returncode == 0
    for value, code in (("~/tree/pay roll", 0), ("{pay,pets}", 2), ("pay; pets", 2)):
        box.configure(IGNORE=value)
        assert box.memman("remember", "The build takes a minute.", cwd=tree / "hr").returncode == code


def test_a_list_that_is_no_file_keeps_everything_out(box, tree):
    """What cannot be read is not taken for a permission: `remember` says so in one line, hooks keep nothing."""
    (tree / ".memmanignore").unlink()
    os.mkfifo(tree / ".memmanignore")
    ended = box.memman("remember", "x is y", cwd=tree)
    assert ended.returncode == 74
    assert ended.stderr.count("\n") == 1
    assert said(box, tree) == []
