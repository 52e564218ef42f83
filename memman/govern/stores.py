"""Named stores: which one a command means and why, and making, choosing, binding and removing them."""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from memman.config import scope, stores, synced
from memman.config.drain_by_write import ask
from memman.config.env import env_path
from memman.config.places import check_folder, data_dir, fsync_folder, make_folder, store_path, write_file
from memman.locks import steady
from memman.model.errors import CannotWrite, DamagedFile, StoreError, UnknownStore, UsageError
from memman.queue.notes import Queue
from memman.queue.view import WAITING, QueueView
from memman.recovery.swap import aside_path
from memman.store.sqlite.catalogue import Catalogue

if TYPE_CHECKING:
    from memman.config.scope import Here
    from memman.store.sqlite.store import SqliteStore

FLAG = "--store"
# Stores that an error names.
_TOLD = 12
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Chosen:
    """The store a command means and why (--store, MEMMAN_STORE, binding, active, default), its agent and session."""

    data: str
    name: str
    why: str
    agent: str = ""
    session: str = ""

    @property
    def path(self) -> str:
        """Where its database is."""
        return store_path(self.data, self.name)

    @property
    def exists(self) -> bool:
        """Whether it has a database."""
        return stores.exists(self.data, self.name)


def chosen(explicit: str | None = None, agent: str = "", session: str = "") -> Chosen:
    """Work out which store is meant. Raises UsageError for a bad name, CannotWrite for an unusable data folder."""
    data, here = data_dir(), stores.here()
    check_folder(data)
    name = stores.resolve(data, explicit, here)
    asked = (
        (FLAG, explicit),
        ("MEMMAN_STORE", os.environ.get("MEMMAN_STORE")),
        ("binding", stores.bindings(data).get(here.common) if here else None),
        ("active", _active(data)),
    )
    return Chosen(data, name, next((why for why, said in asked if said), "default"), agent, session)


def standing() -> "Here":
    """Return where the command is given: in which repository, and in which folder of it."""
    return scope.here(data_dir(), stores.here(), stores.cwd())


def expected(place: Chosen) -> Chosen:
    """Return the store; raise UnknownStore where it is not there and no note waits for it. The default one may come."""
    if place.name != stores.DEFAULT and not place.exists:
        with closing(QueueView(place.data)) as queue:
            if not queue.of(place.name):
                raise unknown(place.data, place.name)
    return place


@contextmanager
def reading(place: Chosen) -> Iterator[Catalogue]:
    """Open the store to read. Raises UnknownStore where `expected` does."""
    with Catalogue.open(expected(place).path) as catalogue:
        yield catalogue


@contextmanager
def looking(place: Chosen) -> Iterator[tuple[Catalogue, QueueView]]:
    """Open the store and the queue to read."""
    with closing(QueueView(place.data)) as queue:
        queue.hold()  # before the store is read: a note drained in between is seen twice, and never not at all
        with reading(place) as catalogue:
            yield catalogue, queue


def steadily(work: Callable[Concatenate[Chosen, P], T]) -> Callable[Concatenate[Chosen, P], T]:
    """Have a function that changes a store find what it is about in the very store that it changes."""

    @wraps(work)
    def alone(place: Chosen, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with steady(place.data):
            return work(place, *args, **kwargs)

    return alone


@contextmanager
def writing(place: Chosen) -> Iterator["SqliteStore"]:
    """Open the store to write, made on first use, and ask for a drain where vectors are outdated. Loads numpy."""
    from memman.store.opening import open_store, refuse_reading
    from memman.store.sqlite.vectors import outdated

    refuse_reading(place.data, place.name)
    with closing(open_store(place.data, place.name)) as store:
        store.by = {"agent": place.agent, "session": place.session}
        yield store
        if outdated(store.db, 1):
            ask(place.data)


def listed(place: Chosen) -> list[dict[str, Any]]:
    """Return every store that is there or has notes waiting, by name; `chosen` marks the one in force."""
    with closing(QueueView(place.data)) as queue:
        waiting = Counter(note["store"] for note in queue.listed(WAITING, -1))
    names = sorted({*waiting, *_on_disk(place.data)})
    return [_row(place, name) | {"waiting": waiting[name]} for name in names]


def create(data: str, name: str) -> bool:
    """Make a store; False when it is there already."""
    if stores.exists(data, stores.harmless(name)):
        return False
    from memman.store.opening import open_store

    open_store(data, name).close()
    return True


def use(data: str, name: str) -> None:
    """Make `name` the active store. Raises UnknownStore."""
    _known(data, name)
    write_file(data + "/active", name + "\n")


def bind(data: str, name: str | None) -> tuple[str, str]:
    """Bind the current repository to a store, None unbinds it; return (its shared git folder, what it was bound to)."""
    here = stores.here()
    if here is None:
        raise UsageError("this folder is not in a repository")
    before = stores.bindings(data).get(here.common, "")
    if name is not None:
        _known(data, name)
    stores.bind(data, here.common, name)
    return here.common, before


@dataclass(frozen=True, slots=True)
class Stakes:
    """What removing a store would take along."""

    name: str
    chosen: bool
    memories: int
    waiting: tuple[str, ...]
    bound: tuple[str, ...]


def stakes(data: str, name: str) -> Stakes:
    """Say what removing a store would take along. Raises UnknownStore."""
    _known(data, name)
    with closing(QueueView(data)) as queue:
        waiting = tuple(queue.of(name))
    try:
        memories = _held(data, name)[0]
    except DamagedFile:
        memories = 0  # it may be damaged beyond counting, and is moved aside whole
    bound = tuple(place for place, store in stores.bindings(data).items() if store == name)
    return Stakes(name, name == stores.active(data), memories, waiting, bound)


def described(at_stake: Stakes) -> list[str]:
    """Say what a person should know before the store is removed."""
    said = [f"memories: {at_stake.memories}", f"notes queued for it: {len(at_stake.waiting)}"]
    return [*said, "it is the active store"] if at_stake.chosen else said


def remove(data: str, at_stake: Stakes) -> str:
    """Move a store's folder aside, its waiting notes beside it; return where to. The caller holds the drain lock."""
    from memman.upkeep.rules import publish

    target = aside_path(data, at_stake.name)
    try:
        make_folder(f"{data}/removed")
        os.rename(os.path.dirname(store_path(data, at_stake.name)), target)
        fsync_folder(f"{data}/removed")
    except OSError as error:
        raise CannotWrite(f"{target} could not be created ({error.strerror}); the store was left in place") from error
    with suppress(FileNotFoundError):
        os.rename(env_path(data, at_stake.name), f"{target}/env")
    _drop_waiting(data, at_stake, target)
    synced.choose(data, at_stake.name, "")
    for place in at_stake.bound:
        stores.bind(data, place, None)
    if _active(data) == at_stake.name:
        write_file(data + "/active", "")
    publish(data)
    return target


def _drop_waiting(data: str, at_stake: Stakes, target: str) -> None:
    """Keep the notes that waited in a file before they leave the queue."""
    if not at_stake.waiting:
        return
    import json

    with closing(Queue(data)) as queue:
        notes = [queue.show(uid) for uid in at_stake.waiting]
        write_file(target + "/notes.json", json.dumps(notes, ensure_ascii=False, indent=2) + "\n")
        for uid in at_stake.waiting:
            queue.drop(uid)


def _row(place: Chosen, name: str) -> dict[str, Any]:
    marks = {"name": name, "chosen": name == place.name, "active": name == stores.active(place.data)}
    try:
        memories, size = _held(place.data, name)
    except StoreError as error:
        return marks | {"memories": None, "bytes": None, "trouble": str(error)}
    return marks | {"memories": memories, "bytes": size, "trouble": ""}


def _held(data: str, name: str) -> tuple[int, int]:
    """Return how many current memories a store has, and its bytes on disk."""
    with Catalogue.open(store_path(data, name)) as catalogue:
        return catalogue.tally("status").get("current", 0), catalogue.size()


def _active(data: str) -> str:
    name = stores.active(data)
    return "" if name == stores.DEFAULT else name


def _on_disk(data: str) -> list[str]:
    try:
        names = os.listdir(data + "/data")
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [name for name in names if stores.valid_name(name) and stores.exists(data, name)]


def _known(data: str, name: str) -> None:
    if not stores.exists(data, stores.checked(name)):
        raise unknown(data, name)


def unknown(data: str, name: str) -> UnknownStore:
    """Return an error that says which stores there are, and how to make this one."""
    from memman.model.spelling import similar

    others = sorted({stores.DEFAULT, *_on_disk(data)})
    told = ", ".join(others[:_TOLD]) + (", …" if len(others) > _TOLD else "")
    known = f"the stores are {told};" if others[1:] else f"there is only {told!r};"
    nearest = similar(name, others)
    hint = f"did you mean {nearest!r}?" if nearest else known
    return UnknownStore(f"there is no store named {name!r}: {hint} `memman store create {name}` makes it")
