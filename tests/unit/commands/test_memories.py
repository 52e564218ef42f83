"""What is looked at together is of one moment, whatever a drain does meanwhile."""

import pytest

from memman.commands.place import chosen, opened


@pytest.mark.parametrize("early", [False, True], ids=["first note", "later note"])
def test_a_note_that_is_drained_meanwhile_is_found(box, early):
    """An id given out by `remember` is known while its note is stored: as the note, or as its memory."""
    if early:
        box.remember("The weir was painted green.")
        box.drain()
    uid = box.remember("The heron nests by the river.")
    with opened(chosen()) as store:
        box.drain()
        found = store.find(uid)
    assert found.uid == uid
