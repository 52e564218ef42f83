"""A store's name cannot leave the data folder, whatever says it; a file that others wrote cannot bring memman down."""

import os
from itertools import product

import pytest

from tests.security.hostile import SPECIAL

BAD = (
    "../x",
    "..",
    ".",
    "/etc/x",
    "a/b",
    "a\\b",
    "x" * 300,
    "x" * 65,
    "-x",
    "_x",
    "a b",
    "a.b",
    "é",
    "\uff41",
    "a\u200b",
    "a\n",
    "$(x)",
    "",
    "~",
    "con\u0301",
)
USAGE = 2
# Verbs that take a store by --store, and those that take it as their word.
TAKES = (
    ["remember", "A heron."],
    ["recall", "heron"],
    ["list"],
    ["prime"],
    ["log", "list"],
    ["embed", "status"],
)
NAMES = ("create", "use", "bind", "remove")


def below(folder):
    """List all that is below a folder."""
    return {os.path.join(place, name) for place, folders, files in os.walk(folder) for name in (*folders, *files)}


def refused(done):
    """Whether a run ended with one line about the name."""
    return done.returncode == USAGE and done.stderr.count("\n") == 1 and "name" in done.stderr


@pytest.mark.promise("S13")
def test_a_name_that_could_leave_the_data_folder_is_refused(box, rounds, kept):
    """By option, environment, file and verb: one line, exit code 2, and nothing made anywhere; a hook stays silent."""
    box.remember("The heron is grey.")
    box.drain()
    git = box.data.parent / ".git"
    git.mkdir()
    before, tried, wrong = below(box.data.parent), 0, []

    def judge(what, done):
        nonlocal tried
        tried += 1
        if not refused(done):
            wrong.append((what, done.returncode, done.stderr))

    for number, name in enumerate(BAD[:: rounds(3, 1)]):
        for verb in TAKES if rounds(0, 1) else [TAKES[number % len(TAKES)]]:
            judge((verb, name), box.memman(*verb, f"--store={name}"))
        if name:
            judge(("env", name), box.memman("recall", "heron", before=("env", f"MEMMAN_STORE={name}")))
        for verb in NAMES if rounds(0, 1) else [NAMES[number % len(NAMES)]]:
            judge((verb, name), box.memman("store", verb, "--", name))
        payload = '{"prompt": "the grey heron stands"}'
        done = box.memman("--store", name, "hook", "user-prompt", "--host", "codex", input=payload)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    for name in ("../x", "/etc/x", "a\0b", "x" * 300, "é"):
        for file, line in (("active", f"{name}\n"), ("bindings", f"{name}\t{git}\n")):
            (box.data / file).write_text(line)
            judge((file, name), box.memman("recall", "heron"))
            (box.data / file).unlink()
    assert wrong == []
    assert below(box.data.parent) - before <= {str(box.data / "sessions"), *below(box.data / "sessions")}
    kept(f"{tried} uses of bad names by option, environment, file and verb: {tried - len(wrong)} refused")


FILES = (
    "active",
    "bindings",
    "env",
    "heartbeat",
    "install.json",
    "logs/worker.jsonl",
    "schedule",
    "sessions/codex-s",
    "shown.log",
    "doorbell",
    "breaker",
    "state.json",
)
VERBS = (
    ["status"],
    ["recall", "heron"],
    ["remember", "The heron is asleep."],
    ["scheduler", "drain"],
    ["doctor"],
    ["prime"],
    ["store", "list"],
    ["scheduler", "logs"],
    ["config", "show"],
    ["install", "--no-wizard", "--target", "codex"],
    ["uninstall"],
)
GARBAGE = (
    b"\xff\xfe\0\x01" * 50,
    b"=\n==\n\t\t\n" * 20,
    b"[" * 50_000,
    b'{"files": 1, "folders": {}}',
    b'{"files": [{"path": 1}]}',
    b"null",
    b"\n".join(text.encode("utf-8", "replace") for text in SPECIAL),
)
SETTINGS = (".codex/hooks.json", ".codex/config.toml", ".claude/settings.json", ".gemini/settings.json")
SHAPES = (b'{"hooks": []}', b'{"hooks": {"Stop": [1, null, {"hooks": 3}]}}', b"[hooks\n", b"\xef\xbb\xbf")


def test_garbage_in_a_file_is_no_crash(box, rounds):
    """Whatever a file of ours holds, verbs answer or say in one line what is wrong; none is an internal error."""
    box.remember("The heron is grey.")
    box.drain()
    (box.data.parent / ".codex").mkdir()
    for name, content, verb in list(product(FILES, GARBAGE, VERBS))[:: rounds(61, 1)]:
        path = box.data / name
        path.parent.mkdir(exist_ok=True, mode=0o700)
        path.write_bytes(content)
        path.chmod(0o600)
        done = box.memman(*verb)
        assert done.returncode != 70, (name, verb, content[:40], done.stderr)
        assert "Traceback" not in done.stderr
        path.unlink(missing_ok=True)


@pytest.mark.slow
def test_garbage_in_an_agents_settings_is_left_alone(box, rounds):
    """What cannot be read is named and stays byte for byte."""
    for name, content in list(product(SETTINGS, (*GARBAGE, *SHAPES)))[:: rounds(31, 1)]:
        path = box.data.parent / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        for verb in (["install", "--no-wizard", "--target", "all"], ["doctor"], ["uninstall"]):
            done = box.memman(*verb)
            assert done.returncode != 70, (name, verb, content[:40], done.stderr)
            assert "Traceback" not in done.stderr
        assert path.read_bytes() == content
        path.unlink()
