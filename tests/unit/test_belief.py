"""Who may say what, and what follows: the tables that the module opens with, cell by cell, and their words."""

import pytest

from memman import belief
from memman.belief import Statement, allowed, effect, outlasts, vouches

DEEDS = (belief.UNASKED, belief.WISH, belief.BEYOND, belief.STEER, belief.INSIST, belief.AHEAD)
SAID = {
    "agent, lone": Statement("agent"),
    "agent, pasted": Statement("agent", [belief.PROMPTED]),
    "agent, borne out": Statement("agent", [belief.SAID]),
    **{source: Statement(source) for source in belief.SOURCES},
}


def tables():
    """Return the tables of the docstring: heading -> row -> column -> cell."""
    found, rows = {}, []
    for line in [*belief.__doc__.splitlines(), ""]:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| "):
            rows.append(cells)
        elif rows:
            (corner, *heads), _, *others = rows
            found[corner] = {name: dict(zip(heads, told, strict=True)) for name, *told in others}
            rows = []
    return found


def test_every_source_may_do_what_the_table_says():
    """And nothing else; a source that nobody knows may do nothing."""
    table = tables()["may"]
    assert {deed: {source: allowed(source, deed) for source in belief.SOURCES} for deed in DEEDS} == {
        deed: {source: cell == "yes" for source, cell in row.items()} for deed, row in table.items()
    }
    assert not any(allowed("unheard of", deed) for deed in DEEDS)


def test_a_newer_statement_does_to_an_older_one_what_the_table_says():
    """For each pair of who says them."""
    table = tables()["newer, older"]
    assert {new: {old: effect("UPDATE", SAID[new], SAID[old]) for old in row} for new, row in table.items()} == table
    assert set(table) == {*SAID} - {"agent"}


@pytest.mark.parametrize(
    ("changes", "verdict", "found"),
    [
        ({}, "DELETE", "ends"),
        ({}, "MAYBE", "may end"),
        ({"evidence": [belief.REPORTED]}, "UPDATE", "may end"),
        ({"place": True}, "UPDATE", "may end"),
        ({"place": None}, "UPDATE", "ends"),
        ({"ends_at": 5}, "UPDATE", "stands before"),
        ({"ends_at": 5}, "MAYBE", "may end"),
    ],
)
def test_the_user_ends_nothing_that_holds_further_or_longer(changes, verdict, found):
    """Nor what they are not sure of, unless they asked for it."""
    new, old = Statement("user", **changes), Statement("user")
    assert effect(verdict, new, old) == found
    assert effect(verdict, new, old, asked=True) == ("may end" if verdict == "MAYBE" else "ends")


@pytest.mark.parametrize("source", belief.SOURCES)
def test_what_is_protected_gives_way_to_nothing_but_a_person_s_wish(source):
    """An agent's lone word contradicts it; one that was borne out does no more than others."""
    old = Statement("web", protected=True)
    assert effect("UPDATE", Statement(source), old) == ("contradicts" if source == "agent" else "")
    assert effect("UPDATE", Statement(source, [belief.SAID]), old) == ""
    assert effect("UPDATE", Statement("user"), old, asked=True) == "ends"


def test_a_lone_word_contradicts_surely_only_what_it_would_end_whole():
    """For a while, or in part, it may."""
    new, old = Statement("agent", ends_at=5), Statement("user")
    assert effect("UPDATE", new, old) == "may contradict"
    assert effect("UPDATE", Statement("agent"), old, part=True) == "may contradict"
    assert effect("UPDATE", Statement("agent"), old) == "contradicts"


def test_the_user_vouches_for_what_nobody_did():
    """For a page's word, and everywhere for an agent's in one place; else it is known already."""
    user, agent = Statement("user"), Statement("agent", place=True)
    assert vouches(user, Statement("web"))
    assert vouches(user, agent)
    assert not vouches(Statement("user", place=None), agent)
    assert not vouches(user, user)
    assert not vouches(Statement("agent"), Statement("web"))


@pytest.mark.parametrize(
    ("one", "doubted", "found"),
    [
        (Statement("user"), False, belief.HOLDS),
        (Statement("user", [belief.PROMPTED, belief.REPORTED]), False, belief.HOLDS),
        (Statement("agent", [belief.REPORTED]), False, belief.LONE),
        (Statement("agent", [belief.SAID, belief.PROMPTED]), False, belief.HOLDS),
        (Statement("agent", [belief.PROMPTED]), False, belief.UNCERTAIN),
        (Statement("user"), True, belief.UNCERTAIN),
        (Statement("web", [belief.APPROVED]), True, belief.UNTRUSTED),
        (Statement("user", ends_at=5), True, belief.ENDED),
        (Statement("user", ends_at=6), False, belief.HOLDS),
    ],
)
def test_a_memory_stands_as_the_worst_that_is_known_of_it(one, doubted, found):
    """At a moment; the order of the values is that of lists."""
    assert belief.standing(one, 5, doubted=doubted) == found
    assert belief.HOLDS < belief.LONE < belief.UNCERTAIN < belief.UNTRUSTED < belief.ENDED


def test_what_never_ends_outlasts_all_that_does():
    """And nothing outlasts it."""
    assert outlasts(None, 5)
    assert outlasts(6, 5)
    assert not outlasts(5, 5)
    assert not outlasts(None, None)
