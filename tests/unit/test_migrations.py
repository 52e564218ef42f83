"""A store brought to a newer schema: all of a step or none of it, after a copy."""

import apsw
import pytest

from memman.model.errors import MemmanError, NewerSchema
from memman.store.sqlite.schema import STEPS
from memman.store.sqlite.store import SqliteStore

NEXT = (*STEPS, "ALTER TABLE memory ADD COLUMN mood TEXT; CREATE TABLE extra(x);")
BROKEN = (*STEPS, "CREATE TABLE extra(x); CREATE TABLE memory(x);")


@pytest.fixture(name="path")
def _path(tmp_path):
    """Return a store of the first schema that holds a setting."""
    path = str(tmp_path / "data/one/memman.db")
    store = SqliteStore(path)
    with store.unit() as unit:
        unit.set_meta("kept", "yes")
    store.close()
    return path


def version(path):
    """Return a file's schema version."""
    return apsw.Connection(path).execute("PRAGMA user_version").get


def test_a_step_is_taken_once_and_keeps_what_was_there(path):
    """The new column is there, the old rows too, and opening again changes nothing."""
    for _ in range(2):
        store = SqliteStore(path, NEXT)
        assert store.reader.meta("kept") == "yes"
        assert store.db.execute("SELECT mood FROM memory").get is None
        store.close()

    assert version(path) == len(NEXT)


def test_the_old_file_is_copied_first(path):
    """Beside the upgraded store lies a sound copy of what it was, as private as the store."""
    SqliteStore(path, NEXT).close()

    copy = apsw.Connection(f"{path}.schema-{len(STEPS)}.bak")
    assert copy.execute("PRAGMA integrity_check").get == "ok"
    assert copy.execute("SELECT value FROM meta WHERE key = 'kept'").get == "yes"
    assert copy.execute("PRAGMA user_version").get == len(STEPS)


def test_a_step_that_fails_leaves_the_store_as_it_was(path):
    """Nothing of a failed step stays, and the store still opens with the old schema."""
    with pytest.raises(MemmanError):
        SqliteStore(path, BROKEN)

    store = SqliteStore(path)
    assert store.reader.meta("kept") == "yes"
    assert store.db.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'extra'").get == 0
    store.close()


def test_an_older_memman_refuses_the_newer_store(path):
    """A store of a newer schema is refused and left untouched."""
    SqliteStore(path, NEXT).close()

    with pytest.raises(NewerSchema):
        SqliteStore(path)
    assert version(path) == len(NEXT)
