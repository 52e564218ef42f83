import asyncio
import json

import pytest

from memman.model.names import mentions
from memman.model.records import Fact
from tests.unit.config.test_scope import git
from tests.unit.pipeline.test_links import edges, shop, stored


def told(box, *args, **options):
    """Run a verb with --json; return what it says."""
    done = box.memman(*args, "--json", **options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("the Kestrel-Dienst on db02.prod", "kestrel", True),
        ("the Kestrel-7 probe", "Kestrel", False),
        ("kestrel 7 is down", "Kestrel-7", True),
        ("PAY-14321", "PAY-1432", False),
        ("en la pasarela Halcón", "halcon", True),
        ("重启数据库服务", "数据库", True),
        ("anything", "-", False),
    ],
)
def test_a_name_is_mentioned_as_a_whole(text, name, expected):
    """Case, accents and marks do not matter; another number or more letters make another name."""
    assert mentions(text, name) is expected


def test_a_name_links_what_was_stored_before_it_was_known_as_one(tmp_path):
    """A memory without entities is linked by its text; an ordinary word that comes again links nothing."""

    async def run():
        async with shop(tmp_path) as (store, tools):
            for n, text in enumerate(("kestrel-7 sleeps at night.", "The queue is full.", "We woke Kestrel-7 early.")):
                await stored(store, tools, n, [Fact(text)])
            await stored(store, tools, 9, [Fact("The queue is empty again.")])
            return edges(store, "entity")

    made = asyncio.run(run())
    assert set(made) == {(3, 1)}
    assert made[3, 1][1] == "Kestrel-7"


@pytest.fixture
def two(box, tmp_path):
    """Return a box with memories of two repositories and of none, about one service."""
    for name in ("shop", "blog"):
        folder = tmp_path / name
        folder.mkdir()
        git(folder, "init", "--quiet")
        git(folder, "commit", "--quiet", "--allow-empty", "--message", f"Begin {name}")
        box.memman("remember", f"The {name} sends mail through Marabou-2.", cwd=folder)
    box.memman("remember", "--scope", "personal", "I wrote Marabou-2 myself.", cwd=tmp_path)
    assert box.memman("scheduler", "drain", "--wait").returncode == 0
    return box


def test_about_tells_all_that_mentions_a_name(two, tmp_path):
    """Newest first, from all repositories, each with its own, however the name is written."""
    every = told(two, "list", "--about", "marabou 2", cwd=tmp_path / "shop")
    assert [one["scope"] for one in every] == ["", "blog", "shop"]
    assert told(two, "list", "--about", "Marabou-2", cwd=tmp_path / "shop") == every
    assert told(two, "list", "--about", "Marabou-3") == []
    assert two.memman("list", "--about", "-").returncode == 2


def test_edges_lead_to_no_other_repository(two, tmp_path):
    """What is related but belongs elsewhere is counted, and shown when asked for."""
    (mine, *_) = told(two, "list", "--about", "Marabou-2", cwd=tmp_path / "shop")
    found = told(two, "graph", "related", mine["uid"], "--edge", "entity", cwd=tmp_path / "shop")
    assert [one["scope"] for one in found["related"]] == ["shop"]
    assert found["elsewhere"] == 1
    every = told(two, "graph", "related", mine["uid"], "--edge", "entity", "--all-scopes", cwd=tmp_path / "shop")
    assert {one["scope"] for one in every["related"]} == {"shop", "blog"}
