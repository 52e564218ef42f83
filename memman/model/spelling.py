"""The name that was probably meant by one that does not exist."""

from collections.abc import Iterable

# How alike two names are, from 0 to 1, before one is taken for a slip of the other: `stauts` and `status` are .83,
# `FOO` and `IGNORE` .22.
_ALIKE = 0.75


def similar(name: str, names: Iterable[str]) -> str:
    """Return the one of `names` that is spelled much like `name`, '' for none."""
    from difflib import get_close_matches

    return "".join(get_close_matches(name, list(names), 1, _ALIKE))
