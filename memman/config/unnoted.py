"""What the user said in a turn that its agent did not note: a drain leaves it for the session's next prompt. Hot."""

import os

from memman.config.places import put_file, sessions_path, text_at
from memman.config.shown import session_name

# Characters of what is quoted.
LONGEST = 160


def leave(data: str, host: str, session: str, text: str) -> None:
    """Leave what was said; it may fail silently."""
    if not session:
        return
    try:
        # In the form of a session's file, of which a purge clears what says a word of what is purged.
        put_file(_path(data, host, session), "\n" + text)
    except OSError:
        return


def take(data: str, host: str, session: str) -> str:
    """Return what was left, once; '' for nothing."""
    path = _path(data, host, session)
    if not os.path.exists(path):
        return ""
    text = text_at(path)
    try:
        os.unlink(path)
    except OSError:  # it would be said at every prompt
        return ""
    return text.strip()


def _path(data: str, host: str, session: str) -> str:
    return f"{sessions_path(data)}/{host}-{session_name(session)}.unnoted"
