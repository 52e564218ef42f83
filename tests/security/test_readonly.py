"""`--readonly` writes nothing, whatever the verb; `--data-dir` names the folder, for people."""

import click
import pytest

from memman.commands.root import root
from memman.model.verbs import LOOKING
from tests.security.every_verb import LEAVES, calls, made
from tests.security.test_agent_verbs import snapshot
from tests.support.box import nursery

REFUSED, FOR_PEOPLE, USAGE = 73, 77, 2


def run(box, *args, **environ):
    """Run memman without a terminal."""
    return nursery().run(*args, environ=box.environ | environ, cwd=box.data.parent)


def test_readonly_changes_no_byte(box):
    """Verbs that look answer as they do without it; all others end with its exit code."""
    lines = calls(made(box))
    del lines["scheduler serve"]
    before = snapshot(box.data.parent)
    for verb, args in lines.items():
        done = run(box, "--readonly", *args)
        assert (done.returncode == REFUSED) == (verb not in LOOKING), (verb, done)
        assert snapshot(box.data.parent) == before, verb
    assert lines.keys() >= LOOKING


@pytest.mark.parametrize("args", [("remember", "--readonly", "x"), ("remember", "x", "--readonly", "--cat=fact")])
def test_it_may_follow_the_verb(box, args):
    """Before and after the verb it is the same, for the fast verbs and for the others."""
    box.remember("Redis caches the sessions of billing.")
    box.drain()
    before = snapshot(box.data)
    done = run(box, *args)
    assert (done.returncode, done.stdout) == (REFUSED, "")
    assert run(box, "store", "use", "default", "--readonly").returncode == REFUSED
    assert "billing" in run(box, "recall", "redis sessions", "--readonly").stdout
    assert "billing" in run(box, "list", "--readonly").stdout
    assert run(box, "scan", "--fix", "--readonly").returncode == REFUSED
    assert snapshot(box.data) == before


def test_it_reads_what_a_log_holds(box):
    """A note that waits in the queue's log is found, and the log is left as it is."""
    box.remember("Redis caches the sessions of billing.")
    before = snapshot(box.data)
    assert "billing" in run(box, "--readonly", "recall", "redis sessions").stdout
    assert snapshot(box.data) == before


def test_a_folder_that_is_not_there_is_not_made(box):
    """Nor is anything in it."""
    assert run(box, "--readonly", "recall", "redis").returncode == 0
    assert run(box, "--readonly", "status").returncode == 0
    assert not box.data.exists()


def test_a_hook_stays_silent(box):
    """What an agent's turn would leave behind is left out, and the turn goes on."""
    box.remember("Redis caches the sessions of billing.")
    box.drain()
    before = snapshot(box.data)
    assert run(box, "--readonly", "hook", "stop", "--host", "codex").returncode == 0
    assert snapshot(box.data) == before


@pytest.mark.parametrize("place", ["before", "after", "equals", "relative"])
def test_the_data_folder_can_be_named(box, place):
    """Before or after the verb, absolute or relative; the folder of the environment stays away."""
    folder = box.data.parent / "other folder"
    named = {"relative": ("--data-dir", "other folder"), "equals": (f"--data-dir={folder}",)}
    option = named.get(place, ("--data-dir", str(folder)))

    def lines(*words):
        return (*words, *option) if place == "after" else (*option, *words)

    assert run(box, *lines("remember", "Redis caches sessions.")).returncode == 0
    assert "Redis" in run(box, *lines("recall", "redis")).stdout
    assert "1 pending" in run(box, *lines("status")).stdout.replace("pending 1", "1 pending")
    assert (folder / "queue.db").exists()
    assert not box.data.exists()


def test_a_folder_without_a_name_is_refused(box):
    """It would mean the usual one."""
    for args in (("--data-dir", "", "recall", "x"), ("recall", "x", "--data-dir="), ("--data-dir", "", "status")):
        assert run(box, *args).returncode == USAGE
    assert not box.data.exists()


def test_an_agent_keeps_to_its_own_folder(box):
    """A folder's settings say where text is sent: a granted verb must not lead to those of another one."""
    other = str(box.data.parent / "other")
    for args in (
        ("--data-dir", other, "remember", "x"),
        ("recall", "--data-dir", other, "x"),
        ("status", "--data-dir", other),
    ):
        done = run(box, *args, CLAUDECODE="1")
        assert (done.returncode, done.stdout) == (FOR_PEOPLE, "")
    assert run(box, "--data-dir", str(box.data), "remember", "x", CLAUDECODE="1").returncode == 0
    assert not (box.data.parent / "other").exists()


def test_every_verb_has_both_options():
    """Also those that show them in no help of their own."""
    for path in LEAVES:
        context, command = click.Context(root, info_name="memman"), root
        for name in path.split():
            command = command.get_command(context, name)
            context = click.Context(command, parent=context, info_name=name)
        assert {"--data-dir", "--readonly"} <= {name for param in command.get_params(context) for name in param.opts}
