"""What is said in one repository stays there, wherever its session goes."""

import json

import pytest

from tests.support.hook_calls import hook

WISH = "From now on we always send Kessler invoices as PDF/A."
OTHER = "From now on we always write Zed's dates in ISO 8601."


class Customers:
    """Two repositories, each with a store of its own or both with one, and a session that works in them."""

    def __init__(self, box, folder):
        self.box, self.folders = box, {name: folder / name for name in "cd"}
        for one in self.folders.values():
            (one / ".git").mkdir(parents=True)

    def says(self, event, where, turn="t1", host="claude-code", **more):
        """Have an event come from a repository."""
        payload = {"session_id": "s", "cwd": str(self.folders[where]), "prompt_id": turn, **more}
        hook(self.box, event, host, payload)

    def prompts(self, where, text, **more):
        """Have the user say something."""
        self.says("user-prompt", where, prompt=text, **more)

    def stops(self, where, text, **more):
        """Have the agent answer."""
        self.says("stop", where, last_assistant_message=text, **more)

    def notes(self):
        """Return the folder, repository, store, text and what was said before it of what waits."""
        sql = "SELECT cwd, repository, store, text, reply FROM note ORDER BY id"
        return [(cwd[-1:], whose.partition("#")[0][-1:], *more) for cwd, whose, *more in self.box.queue(sql)]


@pytest.fixture
def customers(box, tmp_path):
    """Give two repositories, of which the second has a store of its own."""
    two = Customers(box, tmp_path / "src")
    box.person("store", "create", "dd")
    box.person("store", "bind", "dd", cwd=two.folders["d"])
    return two


def test_a_turn_is_of_the_repository_in_which_its_prompt_was_given(customers):
    """And of its store, with what the agent answered, wherever that went by then; so is what it said before."""
    customers.prompts("c", WISH)
    customers.stops("d", "Kessler's are PDF/A from now on.")
    customers.prompts("d", OTHER, turn="t2")
    customers.stops("c", "Zed's dates are ISO 8601 from now on.", turn="t2")
    assert customers.notes() == [
        ("c", "c", "default", WISH, "Kessler's are PDF/A from now on."),
        ("d", "d", "dd", OTHER, "Zed's dates are ISO 8601 from now on."),
    ]


def test_what_an_agent_notes_is_of_where_it_was_asked(customers):
    """Also where another hook has it go on; a stop of which no prompt is known is where it comes from."""
    customers.says("session-start", "c", source="startup")
    customers.prompts("c", WISH)
    customers.stops("c", "Should it hold?\nNoted: Kessler's invoices are PDF/A.")
    customers.stops("d", "Noted: Kessler's letters are PDF/A, too.", stop_hook_active=True)
    customers.prompts("d", "/dates", turn="t2")
    customers.stops("d", "Noted: Zed's dates are ISO 8601.", turn="t2")
    told = customers.notes()
    assert [one[:3] for one in told] == [("c", "c", "default")] * 3 + [("d", "d", "dd")]
    assert "Kessler" not in json.dumps(told[3:])


@pytest.mark.parametrize("turn", ["t1", "t2"])
def test_a_turn_without_a_stop_is_where_it_was_given(customers, turn):
    """Whether somebody went on elsewhere in the same turn or in another one, or left."""
    customers.prompts("c", WISH)
    customers.prompts("d", OTHER, turn=turn)
    customers.stops("d", "Kessler's are PDF/A and Zed's dates ISO 8601." if turn == "t1" else "Done.", turn=turn)
    customers.prompts("c", "Never call Kessler on a Monday.", turn="t3")
    customers.says("session-end", "d")
    told = customers.notes()
    assert [one[:4] for one in told] == [
        ("c", "c", "default", WISH), ("d", "d", "dd", OTHER), ("c", "c", "default", "Never call Kessler on a Monday.")
    ]  # fmt: skip
    assert "Kessler" not in json.dumps(told[1])


def test_a_folder_below_or_one_that_is_ignored_changes_nothing(customers):
    """Prompts of one repository are one turn; what is said where nothing is kept is kept nowhere."""
    below = customers.folders["c"] / "web"
    below.mkdir()
    customers.folders["c/web"] = below
    customers.prompts("c", WISH)
    customers.prompts("c/web", "And letters.")
    customers.stops("c/web", "Done.")
    (customers.folders["d"] / ".memmanignore").write_text("*\n")
    customers.prompts("d", OTHER, turn="t2")
    customers.stops("c", "Zed's dates are ISO 8601.\nNoted: Zed's dates are ISO 8601.", turn="t2")
    assert customers.notes() == [("c", "c", "default", f"{WISH}\n\nAnd letters.", "Done.")]


def test_a_summary_is_of_where_the_user_spoke_and_one_of_two_places_is_not_kept(customers):
    """It tells of all that was said."""
    customers.prompts("c", WISH)
    customers.stops("c", "Done.")
    customers.says("post-compact", "d", compact_summary="Kessler gets PDF/A.")
    assert customers.notes()[1:] == [("c", "c", "default", "Kessler gets PDF/A.", "")]
    customers.prompts("d", OTHER, turn="t2")
    customers.stops("d", "Done.", turn="t2")
    customers.says("post-compact", "d", compact_summary="Kessler gets PDF/A, Zed ISO 8601.")
    assert len(customers.notes()) == 3
