"""Whose memories are recalled in a folder: nobody's by a claim, its own whatever its address becomes."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from memman.config.repository import digest, place, repository
from memman.config.scope import here, known, sees, told
from memman.hot.remind import reminder
from memman.hot.session import Session
from tests.support.box import PATIENCE

GIT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{who}_{what}": "a@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
}
PORT, ASKED = "The dev server uses port 7100.", "dev server port"
ADDRESS = "git@example.com:acme/till.git"


def git(folder, *args):
    """Run git in a folder; return what it prints."""
    command = ("git", "-C", str(folder), "-c", "protocol.file.allow=always", *args)
    return subprocess.run(command, env=os.environ | GIT, capture_output=True, text=True, check=True).stdout.strip()


def made(folder, commits=2, address=""):
    """Make a repository."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet")
    for n in range(commits):
        git(folder, "commit", "--quiet", "--allow-empty", "--message", f"{folder.name} {n}")
    if address:
        git(folder, "remote", "add", "origin", address)
    return folder


def at(data, folder, *, keep=False):
    """Return where one is who stands in a folder."""
    return here(str(data), repository(str(folder)), str(folder), keep=keep)


def said(box, folder, *args, **more):
    """Run memman in a folder; return what it prints."""
    done = box.memman(*args, cwd=folder, **more)
    assert done.returncode == 0, done.stderr
    return done.stdout


def learned(box, folder, text=PORT):
    """Have something remembered in a folder."""
    said(box, folder, "remember", text)
    box.drain()


def found(box, folder, query=ASKED):
    """Return the texts that a recall in a folder finds."""
    return [hit["text"] for hit in json.loads(said(box, folder, "recall", query, "--json"))["hits"]]


def begun(box, folder):
    """Return what a session that begins in a folder is told."""
    event = {"session_id": "s", "cwd": str(folder), "source": "startup"}
    done = box.memman("hook", "session-start", "--host", "claude-code", input=json.dumps(event))
    return json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]


# --- claims ---


def linked(place, victim):
    """Lay a `.git` file that names another repository."""
    (place / ".git").write_text(f"gitdir: {victim}/.git\n")


def symlinked(place, victim):
    """Lay a link to another repository's git folder."""
    (place / ".git").symlink_to(victim / ".git")


def common(place, victim):
    """Lay a git folder that says to share another's."""
    made(place)
    (place / ".git/commondir").write_text(f"{victim}/.git\n")


def tree(place, victim):
    """Lay the files of a work tree that the other repository knows nothing of."""
    fake = place / "worktrees/x"
    fake.mkdir(parents=True)
    (place / ".git").write_text(f"gitdir: {fake}\n")
    (fake / "commondir").write_text(f"{victim}/.git\n")
    (fake / "gitdir").write_text(f"{place}/.git\n")


def addressed(place, victim):  # noqa: ARG001 - as the others
    """Claim the address with another history."""
    made(place, address=ADDRESS)


def shallow(place, victim):
    """Claim the address with a history that is cut off."""
    git(place.parent, "clone", "--quiet", "--depth", "1", f"file://{victim}", str(place))
    git(place, "remote", "set-url", "origin", ADDRESS)


def forked(place, victim):
    """Have the history with another address."""
    git(place.parent, "clone", "--quiet", str(victim), str(place))
    git(place, "remote", "set-url", "origin", "git@example.com:mallory/till.git")


def marked(place, victim):  # noqa: ARG001 - as the others
    """Bring along the name that a person gave the other."""
    made(place)
    (place / ".git/memman-scope").write_text("till\n")
    git(place, "remote", "add", "origin", "scope:till")


@pytest.mark.parametrize("claim", [linked, symlinked, common, tree, addressed, shallow, forked, marked])
@pytest.mark.parametrize("named", ["", "till"])
def test_a_folder_claims_no_other_repository(box, tmp_path, claim, named):
    """Whatever its files say, a folder that somebody else made sees nothing of the repository, nor is it that."""
    victim = made(tmp_path / "work/till", address=ADDRESS)
    if named:
        said(box, victim, "scope", "name", named)
    else:
        box.data.mkdir(mode=0o700)
    place = tmp_path / "work/hostile"
    if claim not in (shallow, forked):
        place.mkdir()
    claim(place, victim)
    mine, theirs = at(box.data, victim), at(box.data, place)
    assert mine.repository == ("scope:till" if named else mine.repository)
    assert not sees(theirs, mine.repository, "", inside=False)
    assert not sees(mine, theirs.repository, "", inside=False)
    assert repository(str(place)).common != repository(str(victim)).common


def shortened(place, starter):
    """Clone without the first commits."""
    git(place.parent, "clone", "--quiet", "--depth", "1", f"file://{starter}", str(place))


def unborn(place, starter):  # noqa: ARG001 - as the others
    """Have no commit yet."""
    git(place.parent, "init", "--quiet", str(place))


def damaged(place, starter):
    """Have commits that cannot be read."""
    git(place.parent, "clone", "--quiet", str(starter), str(place))
    shutil.rmtree(place / ".git/objects")


def long(place, starter):  # noqa: ARG001 - as the others
    """Have more commits than are read at once."""
    git(place.parent, "init", "--quiet", "-b", "main", str(place))
    who = "committer A <a@example.com> 1600000000 +0000\ndata 1\nx\n"
    commits = "".join(f"commit refs/heads/main\n{who}" for _ in range(10_002))
    subprocess.run(["git", "-C", place, "fast-import", "--quiet"], input=commits, text=True, check=True)


@pytest.mark.parametrize("form", [shortened, unborn, damaged, long])
def test_an_address_alone_is_no_repository(box, tmp_path, form):
    """A folder whose first commit cannot be read holds for itself, and keeps what it knew when there is one."""
    starter = made(tmp_path / "starter")
    mine, theirs = tmp_path / "work/till", tmp_path / "unpacked/till"
    for folder in (mine, theirs):
        folder.parent.mkdir()
        form(folder, starter)
        git(folder, "config", "-f", ".git/config", "remote.origin.url", ADDRESS)
    learned(box, mine)
    assert found(box, mine) == [PORT]
    if form is not long:
        assert found(box, theirs) == []
        (mine / ".git/shallow").unlink(missing_ok=True)
        shutil.rmtree(mine / ".git/objects", ignore_errors=True)
        shutil.copytree(starter / ".git/objects", mine / ".git/objects")
        git(mine, "update-ref", "HEAD", git(starter, "rev-parse", "HEAD"))
    else:
        assert not sees(at(box.data, mine), at(box.data, theirs).repository, "", inside=False)
    first = git(mine, "rev-list", "--max-parents=0", "HEAD")
    assert at(box.data, mine, keep=True).repository == f"example.com/acme/till#{first}"
    assert found(box, mine) == [PORT]


@pytest.mark.parametrize("relative", [False, True])
def test_work_trees_and_submodules_lead_to_their_repository(tmp_path, relative):
    """Theirs are files, too, which the repository knows of; also where both paths are written relative."""
    whole, part = made(tmp_path / "whole"), made(tmp_path / "part")
    git(whole, "worktree", "add", "--quiet", str(tmp_path / "tree"))
    if relative:
        (tmp_path / "tree/.git").write_text("gitdir: ../whole/.git/worktrees/tree\n")
        (whole / ".git/worktrees/tree/gitdir").write_text("../../../../tree/.git\n")
    git(whole, "submodule", "--quiet", "add", str(part), "lib")
    (tmp_path / "linked").symlink_to(tmp_path / "tree")
    for folder in ("tree", "linked"):
        assert repository(str(tmp_path / folder)).common == str(whole / ".git")
    lib = repository(str(whole / "lib"))
    assert (lib.common, lib.commit) == (str(whole / ".git/modules/lib"), git(whole / "lib", "rev-parse", "HEAD"))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes a folder another user's")
def test_another_user_s_git_folder_is_not_asked():
    """One who can write to a folder above lays no repository there that claims another's address."""
    with tempfile.TemporaryDirectory() as base:
        Path(base).chmod(0o755)
        place = made(Path(base, "shared"), address=ADDRESS)
        os.chown(place / ".git", 12345, 12345)
        code = "import sys; from memman.config.repository import repository; print(repository(sys.argv[1]).name)"
        command = [sys.executable, "-c", code, str(place)]
        looked = subprocess.run(
            command, user=65534, cwd="/", capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert looked.stdout == f"{place}\n", looked.stderr


# --- what a folder was before ---


def test_two_repositories_that_began_alike_are_two(box, tmp_path):
    """Two clients of one template: neither recalls what the other knows, nor replaces it."""
    starter = made(tmp_path / "starter")
    one, other = tmp_path / "client-a", tmp_path / "client-b"
    for folder in (one, other):
        git(tmp_path, "clone", "--quiet", str(starter), str(folder))
        git(folder, "remote", "set-url", "origin", f"git@example.com:agency/{folder.name}.git")
    friday, monday = "We deploy on Fridays with Capistrano.", "We deploy on Mondays with Kamal, not with Capistrano."
    learned(box, one, friday)
    assert found(box, other, "when do we deploy") == []
    learned(box, other, monday)
    assert found(box, one, "when do we deploy") == [friday]
    assert found(box, other, "when do we deploy") == [monday]


def test_a_copy_that_gets_an_address_of_its_own_is_another_repository(box, tmp_path):
    """Also where memman saw it with the address of what it was copied from; when that moves too, they are one again."""
    app, copy = made(tmp_path / "app", address=ADDRESS), tmp_path / "copy"
    learned(box, app)
    shutil.copytree(app, copy)
    assert found(box, copy) == [PORT]
    git(copy, "remote", "set-url", "origin", "git@example.com:acme/other.git")
    assert found(box, copy) == []
    assert "known as" not in begun(box, copy)
    git(app, "remote", "set-url", "origin", "git@example.com:acme/other.git")
    assert found(box, app) == found(box, copy) == [PORT]


def test_whatever_a_folder_is_called_it_keeps_what_it_knew(box, tmp_path):
    """First commit, remote, another remote, another path: it is said once, in the list, and a person can part them."""
    app = made(tmp_path / "work/app", commits=0)
    learned(box, app)
    assert "known as" not in begun(box, app)

    def moved():
        app.rename(tmp_path / "work/moved")
        return tmp_path / "work/moved"

    changes = (
        lambda: made(app, commits=1),
        lambda: made(app, commits=1),
        lambda: git(app, "remote", "add", "origin", ADDRESS) or app,
        lambda: git(app, "remote", "set-url", "origin", "git@example.com:acme/shop.git") or app,
        moved,
    )
    for change in changes:
        folder = change()
        assert found(box, folder) == [PORT]
    assert "memman scope join --undo" in begun(box, folder)
    assert "scope join" not in begun(box, folder)
    assert f"joined with this folder: {app};" in said(box, folder, "scope", "list")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(folder), str(clone))
    git(clone, "remote", "set-url", "origin", "https://example.com/acme/shop")
    assert found(box, clone) == [PORT]
    # A drain compares with what is recalled there.
    learned(box, folder, "The dev server uses port 7200 now, no longer port 7100.")
    assert found(box, folder)[0].startswith("The dev server uses port 7200")
    assert box.store("SELECT count(*) FROM memory WHERE status = 'superseded'") == [1]
    said(box, folder, "scope", "join", "--undo")
    assert PORT not in found(box, folder) + found(box, clone)
    assert "joined" not in said(box, folder, "scope", "list")
    said(box, clone, "scope", "join", str(app))
    assert f"joined with this folder: {app};" in said(box, folder, "scope", "list")


@pytest.mark.parametrize("commits", [0, 2])
def test_another_repository_at_the_same_path_is_another(box, tmp_path, commits):
    """What was told of the folder before stays with the one that is gone."""
    app = made(tmp_path / "work/app", commits, address=ADDRESS)
    learned(box, app)
    shutil.rmtree(app)
    made(app, 2, address="git@example.com:mallory/app.git")
    assert found(box, app) == []
    assert "known as" not in begun(box, app)


def test_a_name_stays_with_its_folder(box, tmp_path):
    """It is kept in the data folder: moved it has it, copied it has not; a lookup of many at once loses no name."""
    app = made(tmp_path / "work/app")
    said(box, app, "scope", "name", "till")
    assert list((app / ".git").glob("memman*")) == []
    for n in range(4):
        shutil.copytree(app, tmp_path / f"copies/{n}")
    code = (
        "import sys\nfrom memman.config.repository import repository\nfrom memman.config.scope import here\n"
        "for folder in sys.argv[2:]: here(sys.argv[1], repository(folder), folder)"
    )
    folders = [str(tmp_path / f"copies/{n}") for n in range(4)]
    running = [box.start(sys.executable, "-c", code, str(box.data), folder) for folder in folders]
    for one in running:
        one.communicate(timeout=PATIENCE)
    lines = (box.data / "repositories").read_text().splitlines()
    assert len(lines) == 5
    app.rename(tmp_path / "work/moved")
    assert at(box.data, tmp_path / "work/moved").repository == "scope:till"
    assert at(box.data, tmp_path / "copies/0").repository.startswith(f"{tmp_path}/copies/0#")


def test_what_is_known_is_kept_without_secrets_and_not_told_for_ever(tmp_path):
    """An address may hold a token; once a session was told, none is again."""
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    app = made(tmp_path / "app")
    at(data, app)
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    git(app, "remote", "add", "origin", f"https://example.com/{token}/app")
    place = at(data, app)
    assert token not in (data / "repositories").read_text() + place.repository
    assert place.news == at(data, app).news == (f"{app}#{git(app, 'rev-list', '--max-parents=0', 'HEAD')}",)
    told(str(data), repository(str(app)), str(app))
    before = (data / "repositories").stat()
    assert not at(data, app).news
    assert known(str(data), repository(str(app))).identities[0] == place.repository
    assert (data / "repositories").stat().st_ino == before.st_ino


# --- without git ---


@pytest.mark.parametrize("kind", [".hg", ".jj", ".svn", ""])
def test_a_folder_that_git_does_not_know_holds_for_itself(box, tmp_path, kind):
    """What is said there is recalled there, also below, and nowhere else; at home what is said holds everywhere."""
    place, other = tmp_path / "work/legacy", tmp_path / "work/other"
    (place / "src").mkdir(parents=True)
    other.mkdir()
    if kind:
        (place / kind).mkdir()
        (place / kind / "config").write_text('[remote "origin"]\n\turl = git@example.com:acme/till.git\n')
    learned(box, place)
    learned(box, tmp_path, "I always want answers in German.")
    asked = "which port does the dev server listen on"
    for folder, texts in (
        (place, [PORT]),
        (place / "src", [PORT]),
        (other, []),
        (tmp_path / "work", []),
        (tmp_path, []),
    ):
        assert found(box, folder) == texts, folder
        reminded = reminder(str(box.data), "default", at(box.data, folder), asked, Session("", "", ""))
        assert ("7100" in reminded) == bool(texts), folder
        assert found(box, folder, "which language for answers") == ["I always want answers in German."]
    listed = json.loads(said(box, place, "scope", "list", "--json"))
    assert [(row["scope"], row["here"]) for row in listed if row["repository"]] == [("legacy", True)]


def test_a_folder_that_becomes_a_repository_keeps_what_it_knew(box, tmp_path):
    """Also where its first commits come before memman sees it again."""
    place = tmp_path / "work/app"
    place.mkdir(parents=True)
    learned(box, place)
    made(place, address=ADDRESS)
    assert found(box, place) == [PORT]
    assert "memman scope join --undo" in begun(box, place)


def telling(folder):
    """Whether the file system tells a folder from one that had its inode before."""
    return place(str(folder)) != f"{folder.stat().st_ino}-{digest(str(folder))}"


@pytest.mark.parametrize("kind", [".hg", ""])
def test_a_moved_folder_without_git_keeps_what_it_knew(box, tmp_path, kind):
    """Also seen from below it, wherever on its disk it goes; it is said once, and nothing is written into it."""
    app = tmp_path / "work/app"
    (app / "src").mkdir(parents=True)
    if not telling(app):  # tmpfs and overlays: it holds for itself, and nothing is taken for it
        learned(box, app)
        assert found(box, app.rename(tmp_path / "work/moved")) == []
        return
    (app / "description").write_text("An app.\n")
    if kind:
        (app / kind).mkdir()
    learned(box, app)
    (app / "description").write_text("An app for shops.\n")
    moved = app.rename(tmp_path / "work/moved")
    inside = [one.relative_to(moved) for one in sorted(moved.rglob("*"))]
    assert found(box, moved / "src") == found(box, moved) == [PORT]
    assert f"known as '{app}" in begun(box, moved / "src")
    assert "known as" not in begun(box, moved) + begun(box, moved / "src")
    moved = moved.rename(tmp_path / "again")
    learned(box, moved, "The dev server uses port 7200 now, no longer port 7100.")
    assert [text for text in found(box, moved) if "7100." not in text or "7200" in text] == found(box, moved)[:1]
    assert [one.relative_to(moved) for one in sorted(moved.rglob("*"))] == inside
    assert "'" + str(moved) not in begun(box, moved)
    said(box, moved / "src", "scope", "join", "--undo")
    assert PORT not in found(box, moved) + found(box, moved / "src")


def test_a_new_folder_is_not_taken_for_one_whose_inode_it_has(tmp_path):
    """A file system gives an inode again as soon as it is free."""
    data, folders = str(tmp_path / "data"), [tmp_path / f"work/{n}" for n in range(8)]
    for folder in folders:
        folder.mkdir(parents=True)
        place = here(data, None, str(folder), keep=True)
        assert not any(sees(place, f"{other}/", "", inside=False) for other in folders if other != folder)
        shutil.rmtree(folder)
