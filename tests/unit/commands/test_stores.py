"""Stores and settings, through the command line only."""

import json
import subprocess

import pytest


def told(box, *args, **popen):
    """Run a command that must succeed; return its JSON."""
    done = box.memman(*args, "--json", **popen)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def names(box):
    """Return the names that `store list` shows."""
    return [row["name"] for row in told(box, "store", "list")]


def why(box, *args, **popen):
    """Return which store is in force, and why."""
    store = told(box, *args, "status", **popen)["store"]
    return store["name"], store["why"]


@pytest.fixture
def repository(box):
    """Give a git repository with a second work tree beside the box."""
    place = box.data.parent / "project"
    git = ("git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-C", str(place))
    subprocess.run(["git", "init", "-q", str(place)], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "first"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(box.data.parent / "tree")], check=True, capture_output=True)
    return place


def test_stores_are_made_listed_and_chosen(box):
    """A store is created once, listed with what it holds, and chosen as the active one."""
    assert "created" in box.memman("store", "create", "work").stdout
    assert "already exists" in box.memman("store", "create", "work").stdout
    box.memman("--store", "work", "remember", "The heron nests")
    assert why(box) == ("default", "default")
    box.memman("store", "use", "work")
    assert why(box) == ("work", "active")
    (row,) = told(box, "store", "list")
    assert (row["name"], row["chosen"], row["active"], row["waiting"], row["memories"]) == ("work", True, True, 1, 0)
    assert box.memman("store", "list").stdout.startswith("*  work")


def test_a_store_with_notes_waiting_is_known(box):
    """A store that only has notes waiting can be looked at by name."""
    box.remember("The heron nests", store="fresh")
    assert names(box) == ["fresh"]
    assert told(box, "list", "--store", "fresh") == []
    assert told(box, "status", "--store", "fresh")["queue"]["waiting_here"] == 1


def test_the_order_of_choice_is_flag_environment_binding_active_default(box, repository):
    """Each way to choose a store goes before the next, and status names the one in force."""
    for name in ("a", "b", "c", "d"):
        box.memman("store", "create", name)
    here = {"cwd": repository}
    assert why(box, **here) == ("default", "default")
    box.memman("store", "use", "d")
    assert why(box, **here) == ("d", "active")
    box_bind(box, repository, "c")
    assert why(box, **here) == ("c", "binding")
    assert why(box) == ("d", "active")
    box.environ["MEMMAN_STORE"] = "b"
    assert why(box, **here) == ("b", "MEMMAN_STORE")
    assert why(box, "--store", "a", **here) == ("a", "--store")


def box_bind(box, place, *args):
    """Run `store bind` in a folder."""
    return box.memman("store", "bind", *args, cwd=place)


def test_a_binding_is_shared_by_work_trees_and_can_be_unset(box, repository):
    """Binding one work tree binds them all, folders below included."""
    box.memman("store", "create", "work")
    assert box_bind(box, repository, "work").returncode == 0
    below = repository / "src" / "deep"
    below.mkdir(parents=True)
    assert why(box, cwd=box.data.parent / "tree") == ("work", "binding")
    assert why(box, cwd=below) == ("work", "binding")
    box.memman("remember", "The heron nests here", cwd=below)
    assert box.queue("SELECT store FROM note") == ["work"]
    assert "it was bound to 'work'" in box_bind(box, box.data.parent / "tree", "--unset").stdout
    assert why(box, cwd=repository) == ("default", "default")


def test_a_removed_store_can_be_put_back(box):
    """Removing moves the folder aside and says how to undo that."""
    box.memman("store", "create", "old")
    box.memman("--store", "old", "remember", "The heron nests")
    box.memman("scheduler", "drain")
    done = box.memman("store", "remove", "old")
    assert "old" not in names(box)
    assert "heron" not in box.memman("recall", "heron").stdout
    undo = done.stdout.splitlines()[-1].partition(": ")[2]
    assert undo.startswith(f"mv {box.data}/removed/old-")
    subprocess.run(undo.split(), check=True)
    assert "heron" in box.memman("recall", "--store", "old", "heron").stdout


def test_of_the_active_store_the_question_says_so(box):
    """The active store is called so where its removal is asked about; afterwards the default is active."""
    for name in ("default", "work"):
        box.memman("store", "create", name)
    box.memman("store", "use", "work")
    assert "is the active store" in box.memman("store", "remove", "work").asked
    assert why(box) == ("default", "default")
    assert "is the active store" in box.memman("store", "remove", "default").asked


def test_waiting_notes_of_a_removed_store_are_kept(box):
    """Notes that wait for a removed store are counted, and kept beside it."""
    box.memman("store", "create", "old")
    box.memman("--store", "old", "remember", "The heron nests")
    done = box.memman("store", "remove", "old")
    assert "notes queued for it: 1" in done.asked
    assert "took 1 note out of the queue" in done.stdout
    assert box.states() == {}
    (kept,) = (box.data / "removed").glob("old-*/notes.json")
    assert json.loads(kept.read_text())[0]["text"] == "The heron nests"


def test_removing_a_bound_store_unbinds_it(box, repository):
    """No repository stays bound to a store that is gone."""
    box.memman("store", "create", "work")
    box_bind(box, repository, "work")
    assert "is no longer bound to a store" in box.memman("store", "remove", "work").stdout
    assert why(box, cwd=repository) == ("default", "default")


# --- config ---


def test_a_setting_is_set_read_and_unset(box):
    """Keys are written in either case, with or without the prefix; unset returns the default."""
    box.memman("config", "set", "drain.concurrency", "4")
    assert box.memman("config", "get", "MEMMAN_DRAIN_CONCURRENCY").stdout == "4\n"
    shown = told(box, "config", "show")["MEMMAN_DRAIN_CONCURRENCY"]
    assert shown == {"value": "4", "set": True}
    box.memman("config", "unset", "drain-concurrency")
    assert box.memman("config", "get", "drain_concurrency").stdout == "16\n"
    assert (box.data / "env").stat().st_mode & 0o777 == 0o600


def test_secrets_are_masked_in_show_and_printed_by_get(box):
    """`config show` ends a secret in its last four characters; `config get` prints it; - reads it from a pipe."""
    box.memman("config", "set", "LLM_API_KEY", "-", input="sk-or-abcdefgh1234\n")
    for more in ([], ["--json"]):
        shown = box.memman("config", "show", *more).stdout
        assert "…1234" in shown
        assert "abcdefgh" not in shown
    assert box.memman("config", "get", "LLM_API_KEY").stdout == "sk-or-abcdefgh1234\n"
    box.memman("config", "set", "LLM_API_KEY", "short")
    assert "short" not in box.memman("config", "show", "--json").stdout


@pytest.mark.parametrize("how", ["option", "environment"])
@pytest.mark.parametrize("verb", ["remember", "recall"])
def test_a_store_that_is_not_there_is_named_with_those_that_are(box, how, verb):
    """A mistyped store makes none and shows nothing in silence: one line says which there are and how to make it."""
    box.memman("store", "create", "work")
    environ = {"MEMMAN_STORE": "qux"} if how == "environment" else {}
    box.environ.update(environ)
    done = box.memman(*(() if environ else ("--store", "qux")), verb, "The heron nests")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (11, "", 1)
    assert "no store named 'qux': the stores are default, work;" in done.stderr
    assert "memman store create qux` makes it" in done.stderr
    assert not box.queue_path.exists()
    assert not box.store_path("qux").exists()


def test_a_store_that_is_made_first_takes_notes(box):
    """After the verb that the error names, the same command works; the default store needs none."""
    box.environ["MEMMAN_STORE"] = "qux"
    assert "there is only 'default';" in box.memman("remember", "The heron nests").stderr
    assert box.memman("store", "create", "qux").returncode == 0
    assert box.memman("remember", "The heron nests").returncode == 0
    box.environ["MEMMAN_STORE"] = "default"
    assert box.memman("remember", "The heron nests").returncode == 0
    assert sorted(box.queue("SELECT store FROM note")) == ["default", "qux"]


def test_a_hook_is_silent_about_a_store_that_is_not_there(box):
    """Nobody would read its error."""
    box.environ["MEMMAN_STORE"] = "qux"
    for event, payload in (
        ("user-prompt", {"prompt": "where does the grey heron nest"}),
        ("stop", {"prompt": "x", "last_assistant_message": "Noted."}),
    ):
        done = box.memman("hook", event, "--host", "codex", input=json.dumps(payload))
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
