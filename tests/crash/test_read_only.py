"""On a disk that nobody can write to memory is still read, and what would write says so in one line."""

import json
import os
import shlex
import shutil
import subprocess

import pytest

from memman.model.errors import CannotWrite

ROOT = ("unshare", "--mount") if os.geteuid() == 0 else ("unshare", "--map-root-user", "--mount")
QUESTION = "where does the heron nest"
PROMPT = json.dumps({"session_id": "s", "prompt": f"{QUESTION}?", "last_assistant_message": "By the river."})
WRITERS = (("remember", "The weir was painted green."), ("scheduler", "drain"))
HOOKS = ("session-start", "user-prompt", "stop", "session-end")


@pytest.fixture(name="frozen")
def _frozen(box, request):
    """Run memman where the data folder is read-only, by its modes or by its mount."""
    box.remember("The heron nests by the river.")
    box.drain()
    box.remember("The kingfisher hunts at the weir.")
    if request.param == "mount":
        if not shutil.which("unshare") or subprocess.run([*ROOT, "true"], capture_output=True, check=False).returncode:
            pytest.skip("no mount namespace can be made here")
        data = shlex.quote(str(box.data))
        mount = f"mount --bind {data} {data} && mount -o remount,ro,bind {data} && exec"
        yield lambda *words, **popen: box.memman(
            before=(*ROOT, "sh", "-c", f"{mount} {shlex.join((box.script, *words))}"), **popen
        )
        return
    modes = {path: path.stat().st_mode for path in (box.data, *box.data.rglob("*"))}
    for path, mode in modes.items():
        path.chmod(mode & 0o500)
    before = ("setpriv", "--bounding-set=-dac_override,-dac_read_search") if os.geteuid() == 0 else ()
    if before and not shutil.which(before[0]):
        pytest.skip("root needs setpriv to be bound by permissions")
    yield lambda *words, **popen: box.memman(*words, before=before, **popen)
    for path, mode in modes.items():
        path.chmod(mode)


@pytest.mark.promise("R18")
@pytest.mark.parametrize("frozen", ["modes", "mount"], indirect=True)
def test_a_read_only_folder_is_read_and_nothing_else(box, frozen, kept):
    """Recall answers from store and queue, hooks answer or say nothing, and what writes ends with exit code 74."""
    for question, word in ((QUESTION, "heron"), ("where does the kingfisher hunt", "kingfisher")):
        done = frozen("recall", question)
        assert (done.returncode, done.stderr, word in done.stdout) == (0, "", True)
    for words in WRITERS:
        done = frozen(*words)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (CannotWrite.exit_code, "", 1)
        assert str(box.data) in done.stderr
    for event in HOOKS:
        done = frozen("hook", event, "--host", "codex", input=PROMPT)
        assert (done.returncode, done.stderr) == (0, "")
        assert ("heron" in done.stdout) == (event in {"user-prompt", "session-start"})
    assert box.states() == {"done": 1, "pending": 1}
    kept(f"read-only folder: 2 recalls right, {len(WRITERS)} writers exit code 74, {len(HOOKS)} hooks exit code 0")
