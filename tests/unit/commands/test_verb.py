"""What makes a verb of a function: it stays one, says who may run it, and prints what it returns."""

import json

import pytest

from memman.commands import backup, store
from memman.commands.place import Place
from memman.commands.verb import admit
from memman.model.errors import ForPeople


def test_a_verb_is_a_function_that_needs_no_command_line(tmp_path):
    """It takes plain values and returns records."""
    place = Place(str(tmp_path), "default", "default")
    assert store.create(place, "work") == {"name": "work", "created": True}
    assert store.use(place, "work") == {"name": "work", "but": "", "here": "default"}
    assert [(row["name"], row["active"]) for row in store.listed(place)] == [("work", True)]


def test_who_offers_a_verb_by_another_way_asks_the_same(monkeypatch):
    """An agent may look, and is refused what is a person's."""
    monkeypatch.setenv("CLAUDECODE", "1")
    admit("store list", {})
    with pytest.raises(ForPeople):
        admit("store remove", {"name": "work"})
    with pytest.raises(ForPeople):
        admit("scan", {"fix": True})


def test_what_a_verb_returns_is_printed_as_it_is(box):
    """With --json records of any kind, a list of them too; without, what its printer makes of them."""
    box.memman("store", "create", "work")
    made = json.loads(box.memman("backup", "create", "--json").stdout)
    assert [one["id"] for one in json.loads(box.memman("backup", "list", "--json").stdout)] == [made["id"]]
    assert json.loads(box.memman("backup", "verify", "latest", "--json").stdout)["sound"]
    assert json.loads(box.memman("config", "set", "HTTP_TRIES", "2", "--json").stdout)["keys"] == ["MEMMAN_HTTP_TRIES"]
    assert box.memman("version", "--json").stdout.startswith('"memman ')
    assert backup.create.help == backup.create.work.__doc__.replace("\n    ", "\n").strip()
