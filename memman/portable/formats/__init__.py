"""The formats that can be imported, in the order in which they are tried."""

import os

from memman.model.errors import UsageError
from memman.portable import export, wiki
from memman.portable.formats import agents, claude_mem, mem0, rules
from memman.portable.incoming import Format

FORMATS: tuple[Format, ...] = (
    *(export.FORMAT, wiki.FORMAT, rules.FORMAT, *agents.FORMATS),
    *(claude_mem.FORMAT, mem0.FORMAT, rules.TEXT),
)
BY_NAME = {one.name: one for one in FORMATS}


def recognised(path: str, name: str | None) -> Format:
    """Return the format that a person names, or that a path is of. Raises UsageError."""
    if not os.path.exists(path):
        raise UsageError(f"there is no file or folder {path}")
    if os.path.isfile(path) and not os.path.getsize(path):
        raise UsageError(f"{path} is empty: there is nothing to import")
    if name:
        return BY_NAME[name]
    found = next((one for one in FORMATS if one.fits(path)), None)
    if found is None:
        raise UsageError(f"{path} is of no format that is recognised: name it with --format ({', '.join(BY_NAME)})")
    return found
