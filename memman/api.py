"""What programs import: `from memman import Memory`. Stable, see docs/api.md."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from memman.belief import AGENT, SOURCES, USER, trusted
from memman.clock import now_ms
from memman.config import scope, stores
from memman.config.places import check_folder, data_dir, own_folder
from memman.config.repository import repository
from memman.config.schedule import refuse_stopped
from memman.config.shown import RECALL, note_shown
from memman.hot.grammar import choice
from memman.hot.provenance import agent, session
from memman.hot.recall import MOST
from memman.hot.recall_session import found
from memman.hot.remember import checked_text, queued
from memman.model.errors import (
    AmbiguousId,
    BadConfig,
    Busy,
    CannotWrite,
    ForPeople,
    MemmanError,
    ProviderError,
    SchedulerStopped,
    StoreError,
    UnknownId,
    UnknownStore,
    UsageError,
)
from memman.model.vocabulary import CATEGORIES
from memman.recall.render import line, tokens
from memman.secrets import legible
from memman.store.filters import Filters

if TYPE_CHECKING:
    from memman.commands.place import Place
    from memman.recall.hit import Hit

__all__ = [
    "AmbiguousId",
    "BadConfig",
    "Busy",
    "CannotWrite",
    "ForPeople",
    "MemmanError",
    "Memory",
    "ProviderError",
    "Recalled",
    "SchedulerStopped",
    "StoreError",
    "UnknownId",
    "UnknownStore",
    "UsageError",
]

# Who forgets, where no agent is known by its name and the word is not the user's.
_PROGRAM = "program"


@dataclass(frozen=True, slots=True)
class Recalled:
    """A memory that recall found, or a note that waits (`pending`).

    `id` can be given to `show` and `forget`. `text` is the statement, `line` the line that `memman recall` prints, with
    its labels. `source` says whose word it is (user, agent, file, import, tool, web); `unverified` is true if neither
    the user nor an agent said it and nobody verified it. `at` is the time since when it holds, `scope` where it holds
    (empty for here or everywhere), `labels` are doubts about it, and `confidence` is from 0 to 1.
    """

    id: str
    text: str
    line: str
    source: str
    unverified: bool
    at: datetime
    scope: str
    labels: tuple[str, ...]
    confidence: float
    pending: bool


class Memory:
    """A store of memories, as seen from a folder.

    `store` and `data` (the data folder) default to those that `memman` would use. `folder` (default: the working
    folder) decides where a note holds and what is recalled. `source` says whose word its notes are, by default an
    agent's: they are labelled unconfirmed, hold for the folder only and cannot replace what the user said, and the
    limits of agents apply to `forget`. Use "user" only for what the user said; in a process that an agent started, the
    source stays the agent's.

    Nothing is open between calls, so an object can be shared by threads and used after a fork, and any number of
    processes can work at once. Every error is a MemmanError. Besides the errors that they name, all methods may raise
    StoreError (damaged, newer or out of reach), CannotWrite and Busy.
    """

    def __init__(
        self,
        store: str | None = None,
        *,
        folder: "str | os.PathLike[str] | None" = None,
        data: "str | os.PathLike[str] | None" = None,
        source: str = AGENT,
    ) -> None:
        """Choose the store, and write nothing.

        Raises UsageError for a bad name, folder or source, BadConfig for a data folder of another user.
        """
        self.data = data_dir() if data is None else own_folder(os.fspath(data) or ".")
        self.folder = stores.cwd() if folder is None else os.path.abspath(folder)
        if folder is not None and not os.path.isdir(self.folder):
            raise UsageError(f"{self.folder} is not a folder")
        self._source = _one_of("source", source, SOURCES)
        check_folder(self.data)
        self._repository = repository(self.folder) if self.folder else None
        self.store = stores.resolve(self.data, store, self._repository)
        self._program = "" if source == USER else _PROGRAM

    def remember(
        self,
        text: str,
        *,
        scope: str | None = None,
        category: str | None = None,
        importance: int | None = None,
        entities: Sequence[str] = (),
        until: str | None = None,
    ) -> str:
        """Queue a note and return its id, once it is on disk. Secrets in it are removed before.

        `recall` finds it at once by its words (`pending`), and by its meaning after a drain has stored it, which the
        scheduler starts soon. `scope` is personal, repository or path:FOLDER; `until` is a date or a time from now,
        such as 14d. A repetition of the newest waiting note is not queued again.

        Raises UsageError for empty or overlong (64 KiB) text, an unknown value, or a folder excluded by
        .memmanignore; UnknownStore; SchedulerStopped if memory is read-only.
        """
        refuse_stopped(self.data, "remember")
        values = {
            "scope": scope,
            "category": category,
            "importance": None if importance is None else str(importance),
            "entities": ",".join(entities),
            "until": until,
            "source": self._source,
        }
        said = checked_text(text.encode("utf-8", "surrogatepass"))
        told, _ = queued(self.data, self.store, [said], values, self._repository, self.folder)
        return told[0][0]

    def recall(
        self,
        query: str,
        *,
        limit: int = 10,
        category: str | None = None,
        history: bool = False,
        all_scopes: bool = False,
    ) -> list[Recalled]:
        """Return what answers a question, best first, at most `limit` (1 to 50); an empty list if nothing is relevant.

        Uses no network and no model. `history` includes superseded memories, `all_scopes` other repositories.

        Raises UsageError for an empty query or an unknown value, UnknownStore.
        """
        asked = legible(query).replace("\0", " ").strip()
        if not asked:
            raise UsageError("there is nothing to search for: give a few words")
        if not 1 <= limit <= MOST:
            raise UsageError(f"limit is a whole number from 1 to {MOST}")
        filters = Filters(
            category=category and _one_of("category", category, CATEGORIES),
            history=history,
            anywhere=all_scopes,
            here=scope.here(self.data, self._repository, self.folder),
        )
        now = now_ms()
        hits = [(hit, _recalled(hit, now)) for hit in found(self.data, self.store, asked, filters, limit, None)]
        told = {one.id: tokens(one.line) for hit, one in hits if not hit.pending}
        note_shown(self.data, self.store, now, RECALL, agent() or self._program, session(), told)
        return [one for _, one in hits]

    def show(self, id: str) -> list[dict[str, Any]]:  # noqa: A002 - as everything here calls it
        """Return everything about a memory, about each memory made of a note, or about a waiting note.

        `id` is an id or its first characters, at least 4. A record is what `memman show ID --json` prints: kind (memory
        or note), uid, text, status, source, category, importance, entities, scope, provenance, history and more; later
        versions may add fields.

        Raises UsageError for an invalid id, UnknownId, AmbiguousId, UnknownStore.
        """
        from memman.commands.place import opened
        from memman.commands.printing import aged
        from memman.commands.show import known

        with opened(self._place()) as store:
            return aged(store, known(store, [id]))

    def forget(self, *ids: str) -> list[str]:
        """Forget memories, all or none; return the ids of those that were forgotten by this call.

        Waiting notes can be forgotten too. `memman forget --undo ID` restores a memory.

        Raises UsageError, UnknownId and AmbiguousId as `show` does, UnknownStore, SchedulerStopped, and, unless
        `source` is "user", ForPeople for protected memories and for more than 10 per session or day.
        """
        from memman.commands.forget import forgotten

        return [str(one["id"]) for one in forgotten(self._place(), ids) if one["changed"]]

    def _place(self) -> "Place":
        from memman.commands.person import asking
        from memman.commands.place import FLAG, Place

        return Place(self.data, self.store, FLAG, asking() or self._program, session())


def _recalled(hit: "Hit", now: int) -> Recalled:
    row = hit.row
    return Recalled(
        id=row.uid,
        text=row.text,
        line=line(hit, now),
        source=row.source,
        unverified=not trusted(row.source) and not hit.verified,
        at=datetime.fromtimestamp(row.valid_from / 1000, UTC),
        scope=hit.scope,
        labels=tuple(hit.labels),
        confidence=hit.confidence,
        pending=hit.pending,
    )


def _one_of(name: str, said: str, allowed: tuple[str, ...]) -> str:
    """Return what was said, one of `allowed`. Raises UsageError."""
    choice({name: said}, name, allowed)
    return said
