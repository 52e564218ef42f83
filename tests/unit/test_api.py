"""`from memman import Memory`: what programs remember, recall, show and forget."""

import json
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import memman
from memman import api

ROOT = Path(__file__).parents[2]
SHOP = "The web shop is deployed on Fly.io."
EXAMPLE = re.search(r"(?s)```python\n(.*?)```", (ROOT / "docs/api.md").read_text())[1]
MANY = """
import os, sys, threading
from memman import Memory

memory = Memory()


def say(thread):
    for number in range(10):
        uid = memory.remember(f"Host {sys.argv[1]}{thread}{number} is in rack {number}.")
        os.write(1, f"{uid}\\n".encode())  # at once: print writes the end of a line by itself
        memory.recall("which rack?")


threads = [threading.Thread(target=say, args=(name,)) for name in "abcd"]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


@pytest.fixture(name="memory")
def _memory(box) -> memman.Memory:
    """Give the box's store as a program sees it from where the box runs memman."""
    return memman.Memory(folder=box.data.parent)


def loaded(code: str) -> set[str]:
    """Return the modules that a program loads beyond a bare interpreter's."""
    listed = f"import sys; before = set(sys.modules); {code}; print(*set(sys.modules) - before)"
    return set(
        subprocess.run([sys.executable, "-c", listed], check=True, capture_output=True, text=True).stdout.split()
    )


def without_age(line: str) -> list[str]:
    """Return the words of a line of recall, but for the second."""
    return [word for n, word in enumerate(line.split(" ")) if n != 1]


def test_importing_memman_loads_nothing_else(box) -> None:  # noqa: ARG001 - a data folder of our own
    """`import memman` is one module; what programs use is loaded when they name it, and nothing by another name."""
    assert loaded("import memman") == {"memman"}
    assert loaded("import memman; hasattr(memman, 'anything')") == {"memman"}
    assert not loaded("from memman import Memory; Memory().recall('shop')") & {"click", "numpy", "httpx"}


def test_every_public_name_is_had_from_memman() -> None:
    """The names of the API are those that memman hands out, each error of them one of the tree."""
    assert sorted(memman._API) == sorted(api.__all__)
    assert all(getattr(memman, name) is getattr(api, name) for name in memman._API)
    assert all(
        issubclass(getattr(memman, name), memman.MemmanError) for name in {*memman._API} - {"Memory", "Recalled"}
    )
    with pytest.raises(AttributeError, match="has no attribute 'Memmory'"):
        _ = memman.Memmory


def test_the_example_of_the_page_runs_and_is_typed(box, tmp_path) -> None:
    """The program of docs/api.md passes mypy --strict and does what it says."""
    program = tmp_path / "example.py"
    program.write_text(EXAMPLE)
    typed = EXAMPLE + "reveal_type(found)\nMemory(data=1)\n"
    (tmp_path / "wrong.py").write_text(typed)

    mypy = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={tmp_path}/cache"]
    run = {"capture_output": True, "text": True, "env": box.environ, "cwd": tmp_path}
    assert subprocess.run([*mypy, program], check=False, **run).returncode == 0
    wrong = subprocess.run([*mypy, tmp_path / "wrong.py"], check=False, **run).stdout
    assert '"memman.api.Recalled"' in wrong
    assert 'incompatible type "int"' in wrong

    done = subprocess.run([sys.executable, program], check=False, **run)
    assert done.returncode == 0, done.stderr
    pending, shown, unknown = done.stdout.splitlines()
    assert pending.endswith(f"agent, pending: {SHOP}")
    assert shown == f"['{SHOP}']"
    assert "has no memory or queued note with the id 0123abcd" in unknown


def test_what_a_program_says_the_command_line_knows(box, memory) -> None:
    """Both see one store: what one says the other recalls, shows and forgets, with the same fields."""
    note = memory.remember(SHOP, category="decision", importance=5, entities=["Fly.io"], until="2099-01-01")
    assert memory.remember(SHOP) == note
    (waiting,) = memory.recall("where is the shop deployed?")
    assert (waiting.pending, waiting.id, waiting.text, waiting.at.utcoffset().seconds) == (True, note, SHOP, 0)
    box.drain()

    (hit,) = memory.recall("where is the shop deployed?", category="decision")
    assert (hit.pending, hit.source, hit.unverified, hit.labels) == (False, "agent", False, ("unconfirmed",))
    assert without_age(hit.line + "\n") == without_age(box.memman("recall", "where is the shop deployed?").stdout)
    (record,) = memory.show(hit.id[:8])
    assert (record["importance"], record["note"]) == (5, note)
    told = json.loads(box.memman("show", hit.id, "--json").stdout)
    assert [one.keys() for one in told] == [record.keys()]
    assert memory.recall("where is the shop deployed?", category="preference") == []

    assert memory.forget(note) == [hit.id]
    assert memory.forget(hit.id) == []
    assert memory.recall("where is the shop deployed?") == []
    assert box.memman("forget", "--undo", hit.id).returncode == 0
    assert [one.id for one in memory.recall("where is the shop deployed?")] == [hit.id]


def test_a_store_a_folder_and_a_data_folder_can_be_given(box, tmp_path) -> None:
    """A note holds in the folder that was given, in the store and data folder that were given."""
    shop, blog = tmp_path / "shop", tmp_path / "blog"
    for folder in (shop, blog):
        (folder / ".git").mkdir(parents=True)
        (folder / ".git/HEAD").write_text("ref: refs/heads/main\n")
    box.memman("--data-dir", str(tmp_path / "other"), "store", "create", "work")
    given = {"data": tmp_path / "other"}
    memory = memman.Memory("work", folder=shop, **given)
    memory.remember(SHOP)
    assert box.memman("--data-dir", str(given["data"]), "--store", "work", "scheduler", "drain").returncode == 0

    ask = "where is the shop deployed?"
    assert [hit.scope for hit in memory.recall(ask)] == [""]
    assert memman.Memory("work", folder=blog, **given).recall(ask) == []
    assert [hit.scope for hit in memman.Memory("work", folder=blog, **given).recall(ask, all_scopes=True)] == ["shop"]
    assert memman.Memory(folder=shop, **given).recall(ask) == []
    assert memman.Memory(folder=shop).recall(ask) == []


def test_mistakes_have_names(box, memory, tmp_path) -> None:
    """Each mistake raises the error that is documented for it, and keeps nothing."""
    for wrong in ({"source": "me"}, {"folder": tmp_path / "none"}, {"store": "../x"}):
        with pytest.raises(memman.UsageError):
            memman.Memory(**wrong)
    for text, more in (("", {}), ("a\0b", {}), ("x" * 70_000, {}), (SHOP, {"category": "x"}), (SHOP, {"scope": "/"})):
        with pytest.raises(memman.UsageError):
            memory.remember(text, **more)
    for query, more in ((" ", {}), ("shop", {"limit": 0}), ("shop", {"category": "x"})):
        with pytest.raises(memman.UsageError):
            memory.recall(query, **more)
    with pytest.raises(memman.UsageError):
        memory.show("a b")
    with pytest.raises(memman.UnknownId):
        memory.show("0123abcd")
    for call in ("remember", "recall", "show", "forget"):
        with pytest.raises(memman.UnknownStore):
            getattr(memman.Memory("none"), call)("0123abcd")
    assert not box.queue_path.exists()

    assert box.memman("scheduler", "stop").returncode == 0
    for call in (lambda: memory.remember(SHOP), lambda: memory.forget("0123abcd")):
        with pytest.raises(memman.SchedulerStopped):
            call()


def test_a_programs_word_is_an_agents_unless_said_otherwise(box, memory, monkeypatch) -> None:
    """It replaces and forgets nothing that a person protects; the user's own word does, but never below an agent."""
    user = memman.Memory(source="user")
    user.remember(SHOP)
    box.drain()
    (hit,) = user.recall("where is the shop deployed?")
    assert (hit.source, hit.labels) == ("user", ())
    assert box.memman("insights", "protect", hit.id).returncode == 0
    with pytest.raises(memman.ForPeople, match="protected"):
        memory.forget(hit.id)
    monkeypatch.setenv("CLAUDECODE", "1")
    with pytest.raises(memman.ForPeople, match="protected"):
        memman.Memory(source="user").forget(hit.id)
    memman.Memory(source="user").remember("The blog is on Netlify.")
    assert box.queue("SELECT source, agent FROM note WHERE text LIKE 'The blog%'") == [("agent", "claude-code")]
    monkeypatch.delenv("CLAUDECODE")
    assert memman.Memory(source="user").forget(hit.id) == [hit.id]


def test_threads_and_processes_share_a_store(box) -> None:
    """Four threads of each of two processes, and drains between, lose nothing and see no error."""
    others = [box.start(sys.executable, "-c", MANY, name) for name in "xy"]
    drains = [threading.Thread(target=box.memman, args=("scheduler", "drain")) for _ in range(2)]
    for one in drains:
        one.start()
    said = [other.communicate() for other in others]
    for one in drains:
        one.join()

    assert [trouble for _, trouble in said] == ["", ""]
    uids = [uid for out, _ in said for uid in out.split()]
    assert (len(uids), len(set(uids))) == (80, 80)
    box.drain()
    assert box.store("SELECT count(*) FROM memory") == [80]
