"""The file of what was purged."""

from memman.config.purged import WHOLE, Tombstones, bury, dig_up


def test_what_was_purged_is_known_until_a_person_brings_it_back(tmp_path):
    """A memory and a whole note, each in its line; a line that a power cut has torn costs no other."""
    data = str(tmp_path)
    bury(data, [("n1", "m1")], 1)
    bury(data, [("n2", WHOLE)], 2)
    assert Tombstones.load(data) == Tombstones(frozenset({"m1"}), frozenset({"n2"}), frozenset({"n1", "n2"}))
    with (tmp_path / "purged").open("a") as file:
        file.write("3 n3\n")
    dig_up(data, ["m1"], [])
    assert Tombstones.load(data) == Tombstones(frozenset(), frozenset({"n2"}), frozenset({"n2"}))
