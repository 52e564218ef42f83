"""What keeps a repair from reading: damage is gone round, a disk that fails is not taken for it."""

import apsw
import pytest

from memman.store.sqlite.salvage import PassedOver


@pytest.mark.parametrize(
    "error", [apsw.CorruptError(), apsw.SQLError(), UnicodeDecodeError("utf-8", b"\xff", 0, 1, "x")]
)
def test_damage_is_passed_over(error):
    """A page, a table or a text that cannot be read costs only what is on it."""
    with PassedOver():
        raise error


@pytest.mark.parametrize("error", [apsw.IOError(), apsw.FullError(), apsw.NoMemError(), apsw.CantOpenError()])
def test_what_may_pass_is_raised(error):
    """The repair ends and changes nothing, for the next one may read it all."""
    with pytest.raises(type(error)), PassedOver():
        raise error
