"""Items of other formats as notes: which are new here, and how they are queued."""

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import replace

from memman.belief import IMPORT, trusted
from memman.clock import now_ms
from memman.config.purged import Buried, Tombstones
from memman.model.uid import kept_uid
from memman.model.vocabulary import RECORD
from memman.portable.incoming import Item
from memman.queue.append import MAX_BYTES, insert_all
from memman.queue.entry import entry
from memman.queue.view import QueueView
from memman.store.sqlite import undo
from memman.store.sqlite.catalogue import Catalogue
from memman.store.sqlite.reader import SqliteReader

# What each current memory says and holds for.
_SAID = (
    "SELECT m.text, coalesce(s.repository, ''), m.id FROM memory m LEFT JOIN scoped ON scoped.memory = m.id"
    " LEFT JOIN scope s ON s.id = scoped.scope WHERE m.status = 'current'"
)
# Why an item does not come in.
_HERE, _PURGED, _LONG = "here already", "purged", "longer than a note may be"
_REPLACED = "edits of a memory replaced meanwhile (a line without its ^id comes in as a new one)"
# Where what nobody dates goes: behind all that has a date.
_NEWEST = 2**62


def uid(name: str, item: Item) -> str:
    """Return the uid that the note of an item of the format `name` has, whenever it comes in."""
    if item.uid:
        return item.uid
    said = _named(name, item.key) if item.key else kept_uid(f"{item.repository}\n{_folded(item.text)}")
    return kept_uid(f"{_own(item)}\n{said}") if _own(item) else said


def _own(item: Item) -> str:
    """Return what makes of an item more than another's word that may be known already, '' for nothing."""
    return "mine" if item.lifted else RECORD if item.channel == RECORD else ""


def sorted_out(
    data: str, store: str, path: str, name: str, items: Iterable[Item]
) -> tuple[dict[str, Item], Counter[str]]:
    """Return the new items by the uid of their note, and why others are left."""
    new, left = dict[str, Item](), Counter({_HERE: 0, _PURGED: 0, _LONG: 0, _REPLACED: 0})
    with closing(QueueView(data)) as queue, Catalogue.open(path) as catalogue:
        known = _Known(data, set(queue.of(store)), catalogue.reader)
        for item in map(known.settled, items):
            note = uid(name, item)
            while note in known.undone:
                note = kept_uid(note)  # the receipt of the first would keep it out
            if why := _HERE if note in new else known.why(note, item):
                left[why] += 1
            else:
                new[note] = item
    return dict(sorted(new.items(), key=lambda pair: pair[1].at or _NEWEST)), left


class _Known:
    """What a store and its queue know already."""

    def __init__(self, data: str, waiting: set[str], reader: SqliteReader) -> None:
        self.waiting, self.tombs, self.texts = waiting, Tombstones.load(data), Buried.load(data)
        self.reader, self.statuses = reader, dict(reader.db.execute("SELECT uid, status FROM memory"))
        self.said = {(_folded(text), whose): row for text, whose, row in reader.db.execute(_SAID)}
        self.undone = undo.notes(reader.db)

    def settled(self, item: Item) -> Item:
        """Make an edit of a memory that is not here a text like any other."""
        return replace(item, edits="", source=IMPORT) if item.edits and item.edits not in self.statuses else item

    def why(self, note: str, item: Item) -> str:
        """Say why an item does not come in, '' where it does."""
        if note in self.tombs.touched:
            return _PURGED
        if note in self.waiting or self.reader.has_receipt(note):
            return _HERE
        if self.tombs.hold("", item.edits) or self.texts.says(item.text):
            return _PURGED
        late = self.statuses.get(item.edits) == "superseded"
        if (late or not (item.edits or item.replaces)) and self._says(item):
            return _HERE
        if late:
            return _REPLACED
        return _LONG if len(item.text.encode()) > MAX_BYTES else ""

    def _says(self, item: Item) -> bool:
        """Whether a memory says it already; what is a person's own, or on record, only where that one is, too."""
        text = _folded(item.text)
        found = {row for key in ((text, ""), (text, item.repository)) if (row := self.said.get(key))}
        return any(not _own(item) or trusted(row.source) for row in self.reader.rows(found).values())


def queued(data: str, store: str, name: str, items: Mapping[str, Item], stamp: Mapping[str, str]) -> int:
    """Queue items as notes, all or none, each said when it was said; return how many are new."""
    now = now_ms()
    rows = [_row(store, name, note, item, stamp, now) for note, item in items.items()]
    return sum(fresh for _, fresh in insert_all(data, rows))


def _row(
    store: str, name: str, note: str, item: Item, stamp: Mapping[str, str], now: int
) -> dict[str, str | int | None]:
    columns: dict[str, str | int | None] = {
        **stamp,
        "store": store,
        "text": item.text,
        "source": item.source,
        "category": item.category,
        "importance": item.importance,
        "entities": "\n".join(item.entities),
        "replaces": item.edits or (item.replaces and _named(name, item.replaces)),
        "agent": item.agent,
        "session": item.session,
        "repository": item.repository,
        "scope": item.scope,
        "revision": item.revision or stamp["revision"],
        "channel": item.channel,
        "reply": item.reply,
    }
    return entry(columns) | {"uid": note, "queued_at": min(item.at or now, now)}


def _named(name: str, key: str) -> str:
    return kept_uid(f"{name}\n{key}")


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
