"""What was shown, how, to whom and at what cost: a bounded record that the drain folds away. Hot.

A line is "when store way agent session uid:tokens …", a dot for no agent and no session.
"""

import os

from memman.config.places import append_line, sessions_path, shown_path, text_at
from memman.config.stores import valid_name
from memman.secrets import screened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

RECALL, SESSION_START, PROMPT, PRE_TOOL, SUBAGENT = WAYS = (
    "recall", "session-start", "prompt", "pre-tool", "subagent",
)  # fmt: skip
# The mark in a session's file where it has ended.
ENDED = "ended"
# What stands behind the name of a session's file where something waits for its next prompt (memman.queue.untold).
UNTOLD = ".unnoted"
# How the files begin that say, in the form of a session's, until when sessions were told what others left in a place.
RECEIPTS = "kept"
_MOST_BYTES = 1_048_576
_NOBODY = "."
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_LONGEST_NAME = 64
_MOST_TOKENS = 10**6


def session_name(session: str) -> str:
    """Return what a session is called in files; for an id that is no plain name, or a secret, a digest of it."""
    if len(session) <= _LONGEST_NAME and _PLAIN.issuperset(session) and screened(session) == session:
        return session
    from hashlib import blake2b

    return blake2b(session.encode(), digest_size=16).hexdigest()


def session_ended(data: str, host: str, session: str) -> bool:
    """Whether a session's file says that it has ended."""
    return ENDED in text_at(f"{sessions_path(data)}/{host}-{session_name(session)}").partition("\n")[0].split()


class Showing:
    """Memories of one store that were shown at one time: `tokens` by uid."""

    __slots__ = ("agent", "at", "session", "store", "tokens", "way")

    def __init__(self, at: int, store: str, way: str, agent: str, session: str, tokens: "dict[str, int]") -> None:
        self.at, self.store, self.way, self.agent, self.session = at, store, way, agent, session
        self.tokens = tokens


def note_shown(data: str, store: str, at: int, way: str, agent: str, session: str, tokens: "Mapping[str, int]") -> None:
    """Append what was shown to a bounded record; it may fail silently."""
    if not tokens:
        return
    who = " ".join([session_name(said) if said else _NOBODY for said in (agent, session)])
    line = f"{at} {store} {way} {who} {' '.join([f'{uid}:{count}' for uid, count in tokens.items()])}\n"
    append_line(shown_path(data), line, _MOST_BYTES)


def taken(data: str) -> "Iterator[Showing]":
    """Take the record and remove it; lines that are torn or nobody's are left out."""
    path = shown_path(data)
    aside = path + ".taken"
    try:
        os.replace(path, aside)
    except OSError:  # what a drain that was killed had taken is still there
        if not os.path.exists(aside):
            return
    for line in text_at(aside).split("\n"):
        if showing := _read(line.split()):
            yield showing
    try:
        os.remove(aside)
    except OSError:
        return


def _read(words: "list[str]") -> Showing | None:
    """Read a line, None where it was torn."""
    at, store, way, *rest = [*words, *[""] * 5]
    agent, session = [word if word != _NOBODY else "" for word in rest[:2]]
    names = all(len(name) <= _LONGEST_NAME and _PLAIN.issuperset(name) for name in (agent, session))
    if not (_digits(at, 15) and valid_name(store) and way in WAYS and names):
        return None
    return Showing(int(at), store, way, agent, session, _tokens(rest[2:]))


def _tokens(words: "list[str]") -> "dict[str, int]":
    """Read uids with what each cost; of one that was torn the cost is not known."""
    pairs = [word.partition(":") for word in words]
    return {
        uid: min(int(cost), _MOST_TOKENS) if _digits(cost, 9) else 0
        for uid, _, cost in pairs
        if uid and _PLAIN.issuperset(uid) and uid not in WAYS
    }


def _digits(word: str, most: int) -> bool:
    return word.isascii() and word.isdigit() and len(word) <= most
