"""One event of an agent, as its host tells it."""

import time

from memman.config import stores
from memman.config.places import data_dir
from memman.config.repository import repository
from memman.config.shown import note_shown
from memman.hot.hook import Progress
from memman.hot.provenance import in_shell
from memman.hot.session import Session
from memman.model.payload import Payload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.config.scope import Here

# Characters of a path that any host would send.
_LONGEST = 4096


class Call:
    """One event of one session; one from an agent's shell is not `genuine`: answered, and leaves nothing behind."""

    __slots__ = ("cwd", "data", "genuine", "here", "host", "payload", "progress", "session", "store")

    def __init__(self, host: str, store: str | None, progress: Progress) -> None:
        self.host = host
        self.progress = progress
        self.data = progress.data = data_dir()
        try:
            self.payload = Payload.read()
        except OverflowError:
            progress.missing = "large"
            progress.ended()
            raise
        cwd = self.payload.text("cwd")
        self.cwd = cwd if cwd[:1] == "/" and len(cwd) <= _LONGEST else ""
        self.here = repository(self.cwd) if self.cwd else stores.here()
        self.store = stores.resolve(self.data, store, self.here)
        self.genuine = not in_shell(host)
        self.session = Session(self.data, host, self.payload.text("session_id") if self.genuine else "")

    def note_shown(self, way: str, lines: "dict[str, str]") -> None:
        """Keep which memories were put before the model, and what the line of each cost; it may fail silently."""
        if self.genuine and lines:
            from memman.recall.render import tokens

            costs = {uid: tokens(text) for uid, text in lines.items()}
            now = time.time_ns() // 1_000_000
            note_shown(self.data, self.store, now, way, self.host, self.payload.text("session_id"), costs)

    @property
    def place(self) -> "Here":
        """Where the session works."""
        from memman.config.scope import here

        return here(self.data, self.here, self.cwd or stores.cwd())
