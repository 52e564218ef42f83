"""Topics: a name that several memories share, and the page that is read from them."""

import json
import subprocess

import pytest

from memman.store.sqlite.store import SqliteStore
from memman.store.sqlite.topics import KEY, kept
from memman.upkeep.topics import Group, choose
from tests.support.hook_calls import context

POSTGRES = (
    "Postgres 16 holds the orders; its address is in DATABASE_URL.",
    "Postgres runs on Neon; migrations take the direct connection.",
    "The connection pool of Postgres is 20 per machine.",
)
TAX = (
    "Tax is rounded per line item, half up.",
    "Tax rates come from the table tax_rate, not from code.",
    "The new tax calculation is on for shops in Austria only.",
)
OTHERS = (
    "Deploys are announced in the channel of the team.",
    "Dana owns the checkout.",
    "Logs are JSON, one object a line.",
    "The nightly export is opened in Excel by the accountant.",
)
SPHINX = (
    "Sphinx builds the blog.",
    "Sphinx needs Python 3.12 here.",
    "Themes of Sphinx are in themes/.",
    "The licence is CC BY.",
    "Old links are redirected.",
)


@pytest.fixture
def shop(box, tmp_path):
    """Return a box that knows a few things of one repository, and something of another."""
    for name in ("shop", "blog"):
        folder = tmp_path / name
        subprocess.run(["git", "init", "-q", str(folder)], check=True)
        subprocess.run(["git", "-C", str(folder), "remote", "add", "origin", f"https://example.org/{name}"], check=True)
    for name, texts in {"shop": (*POSTGRES, *TAX, *OTHERS), "blog": SPHINX}.items():
        for text in texts:
            assert box.memman("remember", text, cwd=tmp_path / name).returncode == 0
    box.drain(seconds=120)
    return box


def folder(box):
    """Return where the shop is."""
    return box.data.parent / "shop"


def topics(box):
    """Return the topics that hold in the shop, each with how many lines it has."""
    done = box.memman("wiki", "list", "--json", cwd=folder(box))
    return {one["name"].lower(): one["lines"] for one in json.loads(done.stdout)}


def shown(box, name, *args):
    """Return what is printed of a topic."""
    done = box.memman("wiki", "show", name, *args, cwd=folder(box))
    return done.stdout or done.stderr


def test_memories_that_share_a_name_are_a_topic(shop):
    """Each repository has its own; a page has the newest line first and whose word it is."""
    assert topics(shop) == {"postgres": 3, "tax": 3}
    page = shown(shop, "POSTGRES").splitlines()
    assert page[0].lower() == "postgres (shop)"
    assert [line.partition("user: ")[2] for line in page[1:]] == [*reversed(POSTGRES)]
    assert "Sphinx" not in shown(shop, "Sphinx").partition("'Sphinx'")[2]
    assert "did you mean" in shown(shop, "postgre")


def test_a_page_never_shows_what_holds_no_longer(shop):
    """What is forgotten, moved or superseded is on no page at once; undone it is there again with the next drain."""
    uid, other = shop.store("SELECT uid FROM memory WHERE text IN (?, ?) ORDER BY id", POSTGRES[0], TAX[0])
    assert shop.memman("forget", uid, cwd=folder(shop)).returncode == 0
    assert topics(shop) == {"tax": 3}
    assert shop.memman("forget", "--undo", uid, cwd=folder(shop)).returncode == 0
    assert topics(shop) == {"postgres": 3, "tax": 3}
    assert shop.memman("scope", "move", other, "--to", "blog", cwd=folder(shop)).returncode == 0
    assert topics(shop) == {"postgres": 3}
    assert POSTGRES[0] in shown(shop, "postgres")
    assert shop.memman("replace", uid, "Postgres 17 holds the orders.", cwd=folder(shop)).returncode == 0
    shop.drain()
    assert POSTGRES[0] not in shown(shop, "postgres")
    assert "Postgres 17" in shown(shop, "postgres")


def test_a_purge_leaves_no_topic_until_the_next_drain(shop):
    """The name of a topic is a word of memories that may be gone."""
    uid = shop.store("SELECT uid FROM memory WHERE text = ?", TAX[0])[0]
    shop.memman("forget", uid)
    assert shop.memman("purge", uid).returncode == 0
    assert shop.store("SELECT count(*) FROM meta WHERE key GLOB ?", KEY + "*") == [0]
    shop.drain()
    assert topics(shop) == {"postgres": 3}


def test_topics_are_made_anew_only_where_memories_have_changed(shop):
    """A drain with nothing new leaves the store as it is."""
    before = shop.store("SELECT key, value FROM meta WHERE key GLOB ?", KEY + "*")
    changes = shop.store("PRAGMA data_version")
    shop.drain()
    assert shop.store("SELECT key, value FROM meta WHERE key GLOB ?", KEY + "*") == before
    assert changes == shop.store("PRAGMA data_version")


def test_what_nobody_trusted_said_makes_no_topic_for_a_session(shop):
    """A person sees it on the page, labelled; a session is not told of it unasked."""
    shop.alter("UPDATE memory SET source = 'web' WHERE text LIKE 'Tax%'")
    assert topics(shop) == {"postgres": 3, "tax": 3}
    assert "web (unverified)" in shown(shop, "tax")
    payload = {"session_id": "s", "cwd": str(folder(shop)), "source": "startup"}
    told = context(shop, "session-start", "claude-code", payload)
    (line,) = [line for line in told.splitlines() if line.startswith("Topics (")]
    assert line.lower().endswith(": postgres")


def test_the_topics_of_a_store_hold_no_name_of_another_repository(shop):
    """Read without a place, all are there; with one only its own."""
    store = SqliteStore(str(shop.store_path()))
    assert {topic.repository.partition("#")[0].rpartition("/")[2] for topic in kept(store.db)} == {"shop", "blog"}
    store.close()


def test_topics_that_tell_most_come_first():
    """One that adds less than two memories to those before is left out; what names them better is preferred."""
    groups = [
        Group("orders", frozenset({1, 2, 3}), 0.3, fits=0.3),
        Group("Redis", frozenset({1, 2, 3}), 0.3, fits=0.5),
        Group("keys", frozenset({3, 4, 5}), 0.2, fits=0.3),
        Group("hours", frozenset({2, 3, 4}), 0.6, fits=0.5),
    ]
    assert [one.name for one in choose(groups)] == ["hours"]
    assert [one.name for one in choose(groups[:3])] == ["Redis", "keys"]


def test_a_session_with_topics_is_told_little_beside_wishes(shop):
    """What bears on its work comes with its first prompt; who is not told at prompts has it all at the start."""
    for name in ("heron", "stork", "crane", "egret", "ibis", "bittern"):
        shop.remember(
            f"The {name} is the host of a different service of another team, in its own hall.", category="fact"
        )
    shop.drain()
    payload = {"session_id": "s", "cwd": str(folder(shop)), "source": "startup"}
    whole = shop.memman("prime", cwd=folder(shop)).stdout
    told = context(shop, "session-start", "claude-code", payload)
    shop.alter("DELETE FROM meta WHERE key GLOB ?", KEY + "*")
    without = context(shop, "session-start", "claude-code", payload | {"session_id": "t"})
    assert [text.count("\n- ") for text in (whole, without)] == [16, 16]
    assert 5 < told.count("\n- ") < 16
