"""Everything below the data folder is private from its creation, whatever the umask; nothing else changes its modes."""

import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from memman.config.places import write_file
from memman.integrations.files import swap
from memman.model.errors import CannotWrite
from tests.security.every_verb import calls, made
from tests.support.box import PATIENCE
from tests.support.hook_calls import recorded
from tests.support.kinds import over
from tests.support.providers import ScriptedProvider

# The system calls that bring a file or a folder into being, with the mode they ask for.
CREATES = "open,openat,creat,mkdir,mkdirat,mknod,mknodat"
CREATED = re.compile(r'(?:open|openat|creat|mkdir|mkdirat)\((?:AT_FDCWD, )?"([^"]+)".*?, (0[0-7]+)\) += \d')
# Verbs that leave nothing for others to work with come last.
LAST = ("purge", "store remove", "scheduler stop", "scheduler start", "scheduler uninstall", "uninstall")
SETTINGS = (".claude/settings.json", ".codex/hooks.json", ".gemini/settings.json", ".openclaw/openclaw.json")


@pytest.fixture
def home(box):
    """Make a home where agents keep settings that others may read."""
    home = box.data.parent
    for name in SETTINGS:
        path = home / name
        path.parent.mkdir()
        path.write_text("{}\n")
        path.chmod(0o644)
        path.parent.chmod(0o755)
    (home / ".config/opencode").mkdir(parents=True)
    return home


def strangers(folder):
    """Return what others may read or change below a folder, and how many files and folders there are."""
    found = {
        path: stat.S_IMODE(os.lstat(path).st_mode)
        for place, folders, files in os.walk(folder)
        for path in (place, *(os.path.join(place, name) for name in (*folders, *files)))
        if not os.path.islink(path)
    }
    wanted = {path: 0o700 if os.path.isdir(path) else 0o600 for path in found}
    launcher = str(folder / "bin/memman")
    if launcher in found:
        wanted[launcher] = 0o700
    return [path for path in found if found[path] != wanted[path]], set(found)


def born_open(trace, data):
    """Return what a traced run created below the data folder for others to read, if only for a moment."""
    lines = trace.read_text(errors="replace").splitlines() if trace.exists() else ()
    calls_ = (CREATED.search(line) for line in lines if "O_CREAT" in line or "mkdir" in line)
    return [found.group() for found in calls_ if found and found[1].startswith(data) and int(found[2], 8) & 0o077]


def serve(box, umask, before):
    """Run the loop that starts drains until it has begun one."""
    process = subprocess.Popen([*before, box.script, "scheduler", "serve"], env=box.environ, umask=umask)
    try:
        process.wait(timeout=2)
    except subprocess.TimeoutExpired:
        child = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True, check=False).stdout
        os.kill(int(child.split()[0]) if before and child else process.pid, signal.SIGTERM)
        process.wait(timeout=PATIENCE)


def traced(tmp_path):
    """Return what to put before a command so that every creation is written down; nothing where it cannot be."""
    trace = tmp_path / "trace"
    command = ("strace", "-f", "-qq", "--seccomp-bpf", "-s", "4096", "-A", "-o", str(trace), "-e", f"trace={CREATES}")
    works = shutil.which("strace") and not subprocess.run([*command, "true"], check=False).returncode
    trace.unlink(missing_ok=True)
    return (command if works else ()), trace


@pytest.mark.slow
@pytest.mark.promise("S2")
def test_every_verb_leaves_private_files_alone(box, home, tmp_path_factory, rounds, kept):
    """After each verb and each hook, under any umask, there is no file below the data folder that others can read.

    Where system calls can be traced, nothing was so at its creation either: -wal, -shm, locks, drafts and logs too.
    """
    before, trace = traced(tmp_path_factory.mktemp("trace"))
    commands = seen = 0
    for umask in rounds([0o000], [0o000, 0o022, 0o077]):
        shutil.rmtree(box.data, ignore_errors=True)
        os.umask(umask)
        try:
            with ScriptedProvider() as provider:
                found = _lived(box, provider, umask, before)
        finally:
            os.umask(0o022)
        commands += found[0]
        seen += found[1]
        assert born_open(trace, str(box.data)) == []
        trace.unlink(missing_ok=True)
    for name in SETTINGS:
        assert stat.S_IMODE((home / name).stat().st_mode) == 0o644
        assert stat.S_IMODE((home / name).parent.stat().st_mode) == 0o755
    watched = "traced from creation" if before else "looked at after each"
    kept(f"{commands} commands, {seen} files and folders {watched}: 0 outside 0600 and 0700")


@pytest.mark.parametrize("verb", [("remember", "A heron nests."), ("install", "--no-wizard"), ("scheduler", "drain")])
def test_a_folder_made_under_a_usual_umask_is_made_private(box, verb):
    """The first use of a data folder that was there before takes it from everybody else; what only looks does not."""
    shutil.rmtree(box.data, ignore_errors=True)
    box.data.mkdir()
    box.data.chmod(0o755)
    for looks in (("status",), ("install", "--no-wizard", "--dry-run"), ("recall", "heron")):
        assert box.memman(*looks).returncode == 0
        assert stat.S_IMODE(box.data.stat().st_mode) == 0o755
    assert box.memman(*verb).returncode == 0
    assert strangers(box.data)[0] == []


def _lived(box, provider, umask, before):
    """Run every verb and every hook once; count commands and what lay there at one time or another."""
    names = made(box)
    box.use(provider, LOG_LEVEL="debug")
    count, seen = 0, set()

    def look(what):
        wrong, there = strangers(box.data)
        assert wrong == [], what
        seen.update(there)

    every = calls(names)
    every["embed swap"] = ["embed", "swap", "--to", "ollama", "--endpoint", provider.url, "--model", "m"]
    order = [verb for verb in every if verb not in {*LAST, "page", "scheduler serve"}] + [v for v in LAST if v in every]
    for verb in order:
        done = box.memman(*every[verb], before=before)
        assert "Traceback" not in done.stderr
        count += 1
        look(verb)
        if verb == "remember":
            box.memman("scheduler", "drain", before=before)
            look("drain")
    for host, events, line, _ in recorded()[::24]:
        payload = json.dumps(json.loads(line) | {"cwd": str(box.data.parent)})
        for event in events[:2]:
            box.memman("hook", event, "--host", host, before=before, input=payload)
            count += 1
            look(event)
    serve(box, umask, before)
    look("serve")
    return count + 1, len(seen)


def test_a_data_folder_that_others_made_or_may_change_is_refused(box):
    """Everybody's folder, and one that belongs to somebody else, is not written to; the line says what to do."""
    box.data.mkdir(mode=0o700)
    box.data.chmod(0o777)
    done = box.memman("remember", "The heron is grey.")
    assert (done.returncode, done.stderr.count("\n")) == (78, 1)
    assert "chmod 700" in done.stderr
    assert os.listdir(box.data) == []
    box.data.chmod(0o700)
    assert box.memman("remember", "The heron is grey.").returncode == 0


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="only root can make another user's folder")
@pytest.mark.parametrize("kind", ["folder", "link", "broken link", "link on the way"])
def test_another_users_folder_or_link_is_refused(box, kind, request):
    """In a folder that all share, what another user put where ours should be is not followed."""
    # Not below pytest's own folder: each pytest that starts takes that from everybody else.
    shared = Path(tempfile.mkdtemp())
    request.addfinalizer(lambda: shutil.rmtree(shared))
    shared.chmod(0o777)
    own, theirs = 65_534, 12_345
    target = shared / "target"
    target.mkdir(mode=0o755)
    os.chown(target, theirs if kind == "folder" else own, -1)
    data = target
    if kind != "folder":
        data = shared / "link"
        data.symlink_to(target / "none" if kind == "broken link" else target)
        os.chown(data, theirs, -1, follow_symlinks=False)
    data = data / "memman" if kind == "link on the way" else data
    before = ("setpriv", f"--reuid={own}", "--clear-groups", "--")
    if subprocess.run([*before, sys.executable, "-c", ""], capture_output=True, check=False).returncode:
        pytest.skip("this interpreter is in root's own folder")
    box.environ["MEMMAN_DATA_DIR"] = str(data)
    box.environ["HOME"] = str(shared)
    box.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    for verb in (("remember", "The heron is grey."), ("status",), ("scheduler", "drain"), ("config", "show")):
        done = box.memman(*verb, before=before, cwd="/")
        assert (done.returncode, done.stderr.count("\n")) == (78, 1), done.stderr
        assert "belongs to another user" in done.stderr
    assert os.listdir(target) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's link")
@pytest.mark.parametrize("name", ["", "queue.db", "data", "data/default/memman.db"])
def test_root_follows_no_link_in_another_users_home(box, name, tmp_path):
    """With a user's HOME, root writes nowhere that this user's links lead; its own links it follows."""
    target = tmp_path / "target"
    target.mkdir() if name in {"", "data"} else target.touch()
    if name:
        (box.data / name).parent.mkdir(parents=True)
        os.chown(box.data, 12_345, -1)
    link = box.data / name
    link.symlink_to(target)
    os.chown(link, 12_345, -1, follow_symlinks=False)
    for verb in (("remember", "The heron is grey."), ("status",)):
        done = box.memman(*verb)
        assert (done.returncode, done.stderr.count("\n")) == (78, 1), done.stderr
        assert f"{link} is a link that belongs to another user" in done.stderr
    assert not (os.listdir(target) if target.is_dir() else target.stat().st_size)
    os.chown(link, 0, -1, follow_symlinks=False)
    assert box.memman("remember", "The heron is grey.").returncode == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's link")
def test_no_file_is_written_by_another_users_link(tmp_path):
    """Neither an export nor an agent's settings: it might lead to a file of one's own that nobody meant."""
    precious = tmp_path / "precious"
    precious.write_text("{}")
    link = tmp_path / "link"
    link.symlink_to(precious)
    os.chown(link, 12_345, -1, follow_symlinks=False)
    with pytest.raises(CannotWrite, match="a link of another user"):
        write_file(str(link), "new")
    with pytest.raises(CannotWrite, match="a link of another user"):
        swap(str(link), b"{}", b"new")
    assert precious.read_text() == "{}"


READERS = ("config get HTTP_TRIES", "scheduler drain", "install --no-wizard --target codex", "embed swap --to builtin")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_an_env_file_that_others_can_read_is_refused_by_who_uses_it(box, mode):
    """Whatever acts on a setting refuses, recall answers, and what shows settings says what is wrong."""
    box.remember("The parrot of the team is called Polly, said Kim.")
    box.remember("The heron of the team is called Gustav, said the team.")
    box.drain()
    with ScriptedProvider() as provider:
        box.use(provider)
        (box.data / "env").chmod(mode)
        for line in READERS:
            done = box.memman(*line.split())
            assert done.returncode == 78, line
            assert f"can be read by others (mode {mode:04o})" in done.stderr
        recall = box.memman("recall", "what is the heron of the team called")
        assert recall.returncode == 0
        assert "Gustav" in recall.stdout
        for verb in ("status", "doctor"):
            done = box.memman(verb)
            assert "can be read by others" in done.stdout + done.stderr
        assert not provider.calls


PLANTED = ("sessions/codex-s", "logs/worker.jsonl", "shown.log")


@pytest.mark.parametrize("name", PLANTED)
def test_no_link_in_the_data_folder_is_written_through(box, name, tmp_path):
    """What hooks, recall and drains add to lands in the data folder or nowhere; the work goes on."""
    box.remember("We deploy billing to Fly.io from the main branch.")
    target = tmp_path / "precious"
    target.write_text("mine\n")
    box.drain()
    (box.data / name).unlink(missing_ok=True)
    (box.data / name).parent.mkdir(mode=0o700, exist_ok=True)
    (box.data / name).symlink_to(target)
    payload = json.dumps({"session_id": "s", "prompt": "where do we deploy billing?"})
    assert "Fly.io" in box.memman("recall", "where do we deploy billing").stdout
    assert "Fly.io" in box.memman("hook", "user-prompt", "--host", "codex", input=payload).stdout
    assert target.read_text() == "mine\n"
    box.remember("The heron is grey.")
    assert box.memman("scheduler", "drain").returncode == 0
    assert target.read_text() == "mine\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's file")
def test_a_link_to_another_users_file_is_not_written_through(box, tmp_path):
    """A person may keep the env file elsewhere, as long as it is theirs."""
    box.data.mkdir(mode=0o700)
    theirs = tmp_path / "env"
    theirs.write_text("MEMMAN_HTTP_TRIES=3\n")
    theirs.chmod(0o600)
    os.chown(theirs, 12_345, -1)
    (box.data / "env").symlink_to(theirs)
    done = box.memman("config", "set", "HTTP_TRIES", "2")
    assert (done.returncode, done.stderr.count("\n")) == (74, 1)
    assert "another user" in done.stderr
    assert theirs.read_text() == "MEMMAN_HTTP_TRIES=3\n"
    os.chown(theirs, os.geteuid(), -1)
    assert box.memman("config", "set", "HTTP_TRIES", "2").returncode == 0
    assert (box.data / "env").is_symlink()
    assert theirs.read_text() == "MEMMAN_HTTP_TRIES=2\n"


@pytest.mark.parametrize("mode", [0o750, 0o770, 0o755])
def test_a_data_folder_that_others_may_look_into_is_named_by_doctor(box, mode):
    """The first use makes it private; if a person opens it later, it is left so, and doctor says how to shut it."""
    box.data.mkdir(mode=0o700)
    box.data.chmod(mode)
    assert box.memman("remember", "The heron is grey.").returncode == 0
    assert strangers(box.data)[0] == []
    box.data.chmod(mode)
    assert box.memman("remember", "The heron is white.").returncode == 0
    wrong, _ = strangers(box.data)
    assert wrong == [str(box.data)]
    done = box.memman("doctor", "--check", "folder")
    assert f"{box.data} can be read by others (mode {mode:04o})" in done.stdout
    assert "chmod -R go-rwx" in done.stdout


@pytest.mark.promise("S2")
@over("postgres", "folder")
def test_what_machines_share_is_private_too(box, kind, kept):
    """Under umask 000 what a drain writes of replica, rounds and key is for one's own eyes, and where another joins."""
    before = os.umask(0o000)
    try:
        box.remember("A heron nests by the weir.")
        for verb in (("scheduler", "drain"), ("recall", "heron"), ("export",), ("status",)):
            assert box.memman(*verb, timeout=PATIENCE).returncode == 0
        kind.agree()
    finally:
        os.umask(before)
    found = [strangers(one.data) for one in (box, kind.other)]
    assert [wrong for wrong, _ in found] == [[], []]
    kept(f"{sum(len(there) for _, there in found)} files and folders of two machines: 0 outside 0600 and 0700")
