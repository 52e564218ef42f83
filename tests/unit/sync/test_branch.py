"""A branch of a store: it goes on by itself, and what it did comes back into the store it was made of."""

import json

import pytest


@pytest.fixture
def branched(box):
    """Give a store of two memories and a branch of it, `trial`; each learns something that the other does not."""
    note(box, "The staging database listens on port 5433.", "Deploys go through Fly.io from main.")
    assert box.memman("store", "branch", "trial").returncode == 0
    note(box, "The staging database listens on port 6432 now, not on 5433.", store="trial")
    note(box, "We use Helix for the search service.", store="trial")
    note(box, "Deploys go through Render from main, no longer through Fly.io.")
    return box


def note(box, *texts, store="default"):
    """Have a person say something in a store, and drain it."""
    for text in texts:
        assert box.memman("--store", store, "remember", text).returncode == 0
    box.drain()


def held(box, store="default"):
    """Return the texts that a store holds now."""
    return {row["text"] for row in json.loads(box.memman("--store", store, "list", "--json").stdout)}


def test_what_a_branch_learns_and_replaces_comes_back_once(branched):
    """Until the merge neither knows of the other; then the store holds both sides, and the branch is as it was."""
    before = held(branched, "trial")
    assert before == {
        "The staging database listens on port 6432 now, not on 5433.",
        "Deploys go through Fly.io from main.",
        "We use Helix for the search service.",
    }
    assert "We use Helix for the search service." not in held(branched)
    assert json.loads(branched.memman("store", "merge", "trial", "--json").stdout)["records"] > 0
    assert held(branched) == {
        "The staging database listens on port 6432 now, not on 5433.",
        "Deploys go through Render from main, no longer through Fly.io.",
        "We use Helix for the search service.",
    }
    assert held(branched, "trial") == before
    assert json.loads(branched.memman("store", "merge", "trial", "--json").stdout)["records"] == 0
    note(branched, "The search index is rebuilt on Sundays.", store="trial")
    branched.memman("store", "merge", "trial")
    assert "The search index is rebuilt on Sundays." in held(branched)


def test_diff_names_the_side_and_what_became_of_each_memory(branched):
    """What only one side holds is listed with what the other knows of it, and nothing that both hold."""
    changes = json.loads(branched.memman("store", "diff", "trial", "--json").stdout)
    assert {(one["store"], one["what"], one["text"]) for one in changes} == {
        ("trial", "superseded in default", "Deploys go through Fly.io from main."),
        ("trial", "not in default", "The staging database listens on port 6432 now, not on 5433."),
        ("trial", "not in default", "We use Helix for the search service."),
        ("default", "superseded in trial", "The staging database listens on port 5433."),
        ("default", "not in trial", "Deploys go through Render from main, no longer through Fly.io."),
    }


def test_what_both_sides_learned_is_compared(box):
    """Two corrections of one fact, one on each side, do not both stand after the merge: the newer counts."""
    note(box, "The staging database listens on port 5433.")
    box.memman("store", "branch", "trial")
    note(box, "The staging database listens on port 6432.", store="trial")
    note(box, "The staging database listens on port 7001.")
    merged = json.loads(box.memman("store", "merge", "trial", "--json").stdout)
    assert (held(box), merged["replaced"]) == ({"The staging database listens on port 7001."}, 1)


def test_what_was_purged_in_the_store_does_not_come_back(branched):
    """A purge outlives a merge, though the branch still holds the memory."""
    (uid,) = branched.store("SELECT uid FROM memory WHERE text = 'Deploys go through Fly.io from main.'")
    assert branched.memman("purge", uid).returncode == 0
    assert branched.memman("store", "merge", "trial").returncode == 0
    assert branched.store("SELECT body FROM record WHERE body LIKE '%Deploys go through Fly.io from main.%'") == []
    assert branched.store("SELECT text FROM memory WHERE text = 'Deploys go through Fly.io from main.'") == []


def test_a_purge_names_the_branch_that_has_it_still_and_is_not_merged(branched):
    """What is purged on one side is named on the other, where a person decides anew."""
    (uid,) = branched.store("SELECT uid FROM memory WHERE text = 'Deploys go through Fly.io from main.'")
    said = branched.memman("purge", uid, "--store", "trial").stdout
    assert f"store 'default' still contains it; to delete that too: memman --store default purge {uid[:8]}" in said
    assert branched.memman("store", "merge", "trial").returncode == 0
    assert branched.store("SELECT count(*) FROM memory WHERE uid = ?", uid) == [1]


def test_another_store_of_the_parents_name_is_not_the_parent(branched):
    """A branch is merged into the store it was made of, and into none that only has its name."""
    assert branched.person("store", "remove", "default").returncode == 0
    assert branched.memman("store", "create", "default").returncode == 0
    done = branched.memman("store", "merge", "trial")
    assert "is gone" in done.stderr
    assert done.returncode == 11


@pytest.mark.parametrize(
    ("args", "code", "why"),
    [
        (("diff", "default"), 2, "is not a branch"),
        (("merge", "default"), 2, "is not a branch"),
        (("merge", "nowhere"), 11, "there is no store named"),
        (("branch", "trial"), 2, "already exists"),
    ],
)
def test_what_cannot_be_done_says_so_in_a_line(branched, args, code, why):
    """Nothing is changed, and one line says what is wrong."""
    done = branched.memman("store", *args)
    assert (done.returncode, len(done.stderr.splitlines())) == (code, 1), done.stderr
    assert why in done.stderr
