"""What a store tells of what its memories are believed by."""

import pytest

from memman.belief import outlasts
from memman.store.sqlite import beliefs
from tests.unit.store.test_records import lived


@pytest.mark.parametrize("seed", range(4))
def test_lists_of_the_whole_store_and_answers_about_memories_agree(tmp_path, seed):
    """On what only agents have said, and on what is marked and holds longer than what marks it."""
    store = lived(tmp_path / "memman.db", seed).store
    current = [row for (row,) in store.db.execute("SELECT id FROM memory WHERE status = 'current' ORDER BY id DESC")]
    known = store.reader.statements(current)
    assert beliefs.lone(store.db) == [row for row in current if known[row].lone]
    for old, new, _ in beliefs.claimed(store.db):
        assert known[new].lone
        assert (old, new) in {(one, row) for row in current for one, *_ in store.reader.contradicts([row]).get(row, ())}
    ends = store.reader.ends(current)
    assert {row: known[row].ends_at for row in current if outlasts(None, known[row].ends_at)} == ends
    store.close()
