"""What hooks know about one session of an agent: which memories it was shown, and its last prompt."""

from memman.config.places import sessions_path, swap_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_LONGEST_NAME = 64
# Memories remembered as shown, the newest.
_MOST_SHOWN = 512


def session_path(data: str, host: str, session: str) -> str:
    """Return the path of a session's file; for an id that is not a plain name a digest stands in it."""
    if len(session) > _LONGEST_NAME or not _PLAIN.issuperset(session):
        from hashlib import blake2b

        session = blake2b(session.encode(), digest_size=16).hexdigest()
    return f"{sessions_path(data)}/{host}-{session}"


class Session:
    """One session; without an id it knows nothing and keeps nothing.

    In its file the first line holds the uids that were shown, oldest first, and
    the rest is the prompt.
    """

    __slots__ = ("id", "path", "prompt", "shown")

    def __init__(self, data: str, host: str, session: str) -> None:
        self.id = session
        self.path = session_path(data, host, session) if session else ""
        shown, _, self.prompt = _content(self.path).partition("\n")
        self.shown = dict.fromkeys(shown.split())

    def show(self, uids: "Iterable[str]") -> None:
        """Record that the session was shown these memories."""
        for uid in uids:
            self.shown.pop(uid, None)
            self.shown[uid] = None

    def save(self) -> None:
        """Write the file; may fail silently, for what was found is worth more than the record of it."""
        if not self.path:
            return
        try:
            swap_file(self.path, f"{' '.join([*self.shown][-_MOST_SHOWN:])}\n{self.prompt}", durable=False)
        except OSError:
            return


def _content(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as source:
            return source.read()
    except OSError:
        return ""
