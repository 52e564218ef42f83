"""What is read of a repository is read from its files: nothing that its configuration names is ever started."""

import json
import os
import subprocess

import pytest

from memman.config import history
from memman.config.repository import repository

# Keys that name a program, and what each may hold: {} is the program's path.
STARTERS = {
    "alias.log": "!{}",
    "alias.ls-files": "!{}",
    "alias.rev-list": "!{}",
    "core.alternateRefsCommand": "{}",
    "core.askPass": "{}",
    "core.editor": "{}",
    "core.fsmonitor": "{}",
    "core.gitProxy": "{}",
    "core.pager": "{}",
    "core.sshCommand": "{}",
    "credential.helper": "!{}",
    "diff.external": "{}",
    "diff.x.command": "{}",
    "diff.x.textconv": "{}",
    "filter.x.clean": "{}",
    "filter.x.process": "{}",
    "filter.x.smudge": "{}",
    "gpg.program": "{}",
    "gpg.ssh.program": "{}",
    "gpg.x509.program": "{}",
    "merge.x.driver": "{}",
    "pager.log": "{}",
    "pager.rev-list": "{}",
    "remote.origin.receivepack": "{}",
    "remote.origin.uploadpack": "{}",
    "remote.origin.vcs": "ext::{}",
    "sequence.editor": "{}",
    "uploadpack.packObjectsHook": "{}",
}


def run(folder, *args, check=True):
    """Run git with a name and no settings but the folder's."""
    kept = {name: os.environ[name] for name in ("HOME", "PATH")} | {"GIT_CONFIG_NOSYSTEM": "1"}
    command = ("git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@example.com", *args)
    return subprocess.run(command, env=kept, check=check, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def project(tmp_path):
    """Give a work tree on the branch main, with a commit and a file."""
    folder = tmp_path / "project"
    run(tmp_path, "init", "-q", "-b", "main", str(folder))
    (folder / "main.py").write_text("print()\n")
    run(folder, "add", ".")
    run(folder, "commit", "-q", "-m", "first")
    return folder


@pytest.fixture
def canary(tmp_path):
    """Give a program that leaves a file behind when it is started, and that file."""
    program, trace = tmp_path / "canary", tmp_path / "started"
    program.write_text(f"#!/bin/sh\necho \"$0 $*\" >>'{trace}'\nexit 1\n")
    program.chmod(0o755)
    return program, trace


def first_commit(folder):
    """Return the first commit that memman finds, '' where it does not."""
    found, done = history.first_commit(repository(str(folder)))
    return found if done else ""


def tell(box, folder):
    """Use memman in a folder as an agent and its hooks do."""
    session = {"session_id": "s", "cwd": str(folder)}
    calls = {
        "session-start": {"hook_event_name": "SessionStart", "source": "startup"},
        "user-prompt": {"hook_event_name": "UserPromptSubmit", "prompt": "which port has the server in main.py?"},
        "stop": {"hook_event_name": "Stop", "prompt": "The port is 7100.", "last_assistant_message": "Done."},
    }
    done = [
        box.memman("remember", "The server in main.py listens on port 7100.", cwd=folder),
        box.memman("recall", "port of the server", cwd=folder),
        *(
            box.memman("hook", name, "--host", "claude-code", input=json.dumps(session | call), cwd=folder)
            for name, call in calls.items()
        ),
    ]
    assert [each.returncode for each in done] == [0] * len(done)
    box.drain()
    assert box.recall("port of the server")


@pytest.mark.parametrize("way", ["core.sshCommand", "remote.origin.uploadpack", "ext"])
def test_a_missing_object_with_a_promisor_starts_nothing(box, project, canary, way):
    """In a partial clone git fetches a missing commit by a program that the repository chooses; memman does not."""
    program, trace = canary
    run(project, "commit", "-q", "--allow-empty", "-m", "second")
    first = run(project, "rev-parse", "HEAD~1")
    addresses = {"core.sshCommand": "ssh://host/r", "remote.origin.uploadpack": str(project), "ext": f"ext::{program}"}
    settings = {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": addresses[way],
        "protocol.ext.allow": "always",
    } | ({way: str(program)} if way != "ext" else {})
    for key, value in settings.items():
        run(project, "config", key, value)
    (project / ".git/objects" / first[:2] / first[2:]).unlink()

    run(project, "rev-list", "HEAD", check=False)
    assert trace.exists(), "git itself starts the program: else this would show nothing"
    trace.unlink()
    assert first_commit(project) == ""
    tell(box, project)
    assert not trace.exists()


def test_no_key_of_a_configuration_starts_a_program(box, project, canary):
    """Whatever a repository's configuration, attributes and hooks name, using memman there starts none of it."""
    program, trace = canary
    for key, value in STARTERS.items():
        run(project, "config", key, value.format(program))
    (project / ".gitattributes").write_text("* filter=x diff=x merge=x\n")
    for name in ("post-index-change", "reference-transaction", "pre-commit", "post-commit", "commit-msg"):
        (project / ".git/hooks" / name).write_bytes(program.read_bytes())
        (project / ".git/hooks" / name).chmod(0o755)
    subprocess.run(["git", "-C", project, "status"], capture_output=True, check=False)
    assert trace.exists(), "git itself starts a program: else this would show nothing"
    trace.unlink()

    tell(box, project)
    assert history.tracked(repository(str(project)), ["main.py"]) == {"main.py": "main.py"}
    assert not trace.exists()


def test_memman_starts_no_git(box, project, standin):
    """In a repository, another user's too, git is not started at all: neither by hooks nor by a drain."""
    git = standin("git")
    (project / "below").mkdir()
    if os.geteuid() == 0:
        os.chown(project / ".git", 12345, 12345)
    tell(box, project / "below")
    assert git.calls() == []


@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_the_first_commit_is_found_as_git_finds_it(tmp_path, form):
    """In loose objects, in packs with deltas and in borrowed ones the first commit is the one that git tells."""
    folder = tmp_path / "project"
    run(tmp_path, "init", "-q", "-b", "main", f"--object-format={form}", str(folder))
    message = "\n".join(f"a long message whose lines are alike, number {number}" for number in range(80))
    stream = "".join(
        f"commit refs/heads/main\nmark :{number}\ncommitter A <a@example.com> {1600000000 + number} +0000\n"
        f"data {len(text)}\n{text}\n" + (f"from :{number - 1}\n" if number > 1 else "") + "\n"
        for number in range(1, 200)
        for text in (f"{message} {number}\n",)
    )
    subprocess.run(["git", "-C", folder, "fast-import", "--quiet"], input=stream, text=True, check=True)
    told = run(folder, "rev-list", "--max-parents=0", "HEAD")
    assert first_commit(folder) == told
    run(folder, "repack", "-adfq", "--depth=50")
    run(folder, "commit", "-q", "--allow-empty", "-m", "a loose one on top")
    assert first_commit(folder) == told
    run(tmp_path, "clone", "-q", "--shared", str(folder), str(tmp_path / "borrowing"))
    assert first_commit(tmp_path / "borrowing") == told


def test_the_main_line_tells_the_first_commit(project, tmp_path):
    """A merge of another project's history does not make a repository that project."""
    own = first_commit(project)
    other = tmp_path / "other"
    run(tmp_path, "init", "-q", "-b", "main", str(other))
    run(other, "-c", "user.name=b", "commit", "-q", "--allow-empty", "--date=2001-01-01T00:00:00Z", "-m", "older")
    run(project, "fetch", "-q", str(other), "main")
    run(project, "merge", "-q", "--allow-unrelated-histories", "-m", "merged", "FETCH_HEAD")
    assert len(run(project, "rev-list", "--max-parents=0", "HEAD").split()) == 2
    assert first_commit(project) == own


@pytest.mark.parametrize("version", [2, 3, 4])
def test_tracked_files_are_found_in_the_index(project, version):
    """A name is a path from the folder or the root, or the end of one path alone, in every version of the index."""
    for path in ("docs/a.md", "docs/b.md", "src/deep/é.py", "src/b.md", "deep/main.py"):
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text("x")
    run(project, "add", ".")
    (project / "new.py").write_text("x")
    run(project, "add", "--intent-to-add", "new.py")
    run(project, "update-index", "--index-version", str(version))
    asked = ["main.py", "docs/a.md", "a.md", "b.md", "é.py", "nothing", "../main.py"]
    here = repository(str(project))
    found = {"main.py": "main.py", "docs/a.md": "docs/a.md", "a.md": "docs/a.md", "é.py": "src/deep/é.py"}
    assert history.tracked(here, asked) == found
    assert history.tracked(here, ["main.py", "b.md"], "src") == {"main.py": "main.py", "b.md": "src/b.md"}


def test_what_is_damaged_is_not_known(project):
    """Whatever stands in an object, a pack or the index, the answer is that nothing is known."""
    run(project, "commit", "-q", "--allow-empty", "-m", "second")
    run(project, "repack", "-adq")
    here = repository(str(project))
    whole = first_commit(project)
    assert whole
    files = [*(project / ".git/objects/pack").glob("pack-*.[ip]*"), project / ".git/index"]
    for path in files:
        path.chmod(0o644)
        content = path.read_bytes()
        for at in range(len(content)):
            path.write_bytes(content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :])
            assert first_commit(project) in ("", whole)
            history.tracked(here, ["main.py"])
        path.unlink()
        os.mkfifo(path)
        history.tracked(here, ["main.py"])
        assert first_commit(project) in ("", whole)
        path.unlink()
        path.write_bytes(content)
    assert first_commit(project) == whole
