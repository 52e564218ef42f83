"""A sandbox that keeps an agent's commands from writing: what is said, what works, and the setting that allows it."""

import os
import shutil
import subprocess
import tomllib

import pytest

from memman.integrations.edits import CannotEdit
from memman.integrations.parts import allow, forbid, roots
from tests.support.box import PATIENCE, no
from tests.support.terminal import attended

ROOT = "/home/al ice/.memman"
# Settings files.
TEXTS = ("", 'model = "gpt-5"\n', 'model = "gpt-5"', '[x]\r\nwritable_roots = ["/c"]\r\n')


@pytest.mark.parametrize("text", TEXTS)
def test_the_folder_is_added_and_taken_out_again(text):
    """Nothing else changes, and the text is as it was, but for a missing end of line."""
    new = allow(text, ROOT)
    assert tomllib.loads(new) == tomllib.loads(text) | {"sandbox_workspace_write": {"writable_roots": [ROOT]}}
    assert allow(new, ROOT) == new
    assert forbid(new).rstrip() == text.rstrip()


@pytest.mark.parametrize(
    "text",
    [
        'sandbox_workspace_write = { writable_roots = ["/a"] }\n',
        '[sandbox_workspace_write]\nwritable_roots = ["/a"]\n',
    ],
)
def test_where_there_are_folders_already_a_person_adds_ours(text):
    """It is refused, with what to write; what a person wrote is not taken out."""
    with pytest.raises(CannotEdit, match="by hand"):
        allow(text, ROOT)
    assert forbid(text.replace("/a", ROOT)) == text.replace("/a", ROOT)


class Codex:
    """A user of Codex."""

    def __init__(self, box):
        self.box, self.home = box, box.data.parent
        self.path = self.home / ".codex/config.toml"
        self.path.parent.mkdir()
        box.environ["HOME"] = str(self.home)

    def install(self, *args):
        """Install for Codex."""
        run = self.box.person if args else self.box.memman
        done = run("install", "--no-wizard", "--target", "codex", *args)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(name="codex")
def _codex(box, monkeypatch):
    """Give such a user."""
    monkeypatch.setenv("HOME", str(box.data.parent))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    return Codex(box)


def test_install_never_allows_it_by_itself(codex):
    """Without a flag, and with nobody to ask, the folder is not in the file."""
    codex.install()
    assert roots(codex.path.read_text()) == []


def test_the_flag_asks_a_person(codex):
    """Where nobody can be asked, and where the answer is no, nothing is installed."""
    line = ("install", "--no-wizard", "--target", "codex", "--allow-sandbox")
    for done in (codex.box.memman(*line), codex.box.person(*line, answer=no)):
        assert (done.returncode, done.stdout) == (77, "")
    assert not codex.path.exists()
    assert not codex.box.data.exists()


@pytest.mark.parametrize("text", [None, *TEXTS[1:]])
def test_a_flag_allows_it_and_uninstall_takes_it_back(codex, text):
    """The plan names the file; it stays allowed when installed again; the very bytes come back."""
    if text is not None:
        codex.path.write_bytes(text.encode())
    assert f"{codex.path} (its sandbox, the MCP server)" in codex.install("--allow-sandbox")
    assert str(codex.box.data) in roots(codex.path.read_bytes().decode())
    assert "its sandbox" not in codex.install()
    assert str(codex.box.data) in roots(codex.path.read_bytes().decode())
    assert attended([codex.box.script, "uninstall"], codex.box.environ, codex.home).returncode == 0
    assert (codex.path.read_bytes().decode() if codex.path.exists() else None) == text


def test_what_was_added_since_stays(codex):
    """Of a file that the user changed only our tables go."""
    codex.install("--allow-sandbox")
    added = "\n[features]\nhooks = true\n"
    codex.path.write_text(codex.path.read_text() + added)
    attended([codex.box.script, "uninstall"], codex.box.environ, codex.home)
    assert codex.path.read_text().strip() == added.strip()


@pytest.fixture(name="confined")
def _confined(codex):
    """Return what runs memman as a command in Codex's sandbox: where the disk is read-only."""
    if os.geteuid() or not shutil.which("unshare"):
        pytest.skip("a read-only mount of one's own needs root and unshare")

    def run(*args):
        data = codex.box.data
        shell = f'mount --bind "{data}" "{data}" && mount -o remount,bind,ro "{data}" && exec "$@"'
        command = ["unshare", "--mount", "/bin/sh", "-c", shell, "sh", codex.box.script, *args]
        env = codex.box.environ | {"CODEX_SANDBOX_NETWORK_DISABLED": "1"}
        done = subprocess.run(command, env=env, capture_output=True, text=True, input="", timeout=PATIENCE, check=False)
        if "mount" in done.stderr:
            pytest.skip(f"no mounts here: {done.stderr}")
        return done

    return run


def test_a_refused_note_names_the_sandbox(codex, confined):
    """One line, no advice on permissions; and what is remembered can be recalled there."""
    codex.install()
    codex.box.remember("Redis caches the sessions of billing.")
    codex.box.drain()
    done = confined("remember", "The staging database is Postgres.")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (74, "", 1)
    assert f"the sandbox of codex does not let its commands write to {codex.box.data}" in done.stderr
    assert "--allow-sandbox" in done.stderr
    assert "permissions" not in done.stderr
    recalled = confined("recall", "redis sessions")
    assert ("billing" in recalled.stdout, recalled.returncode) == (True, 0)
