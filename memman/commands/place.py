"""The store a command means, and why; opened to read, or to write."""

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from memman.config import scope, stores
from memman.config.drain_by_write import ask
from memman.config.places import check_folder, data_dir, store_path
from memman.locks import steady
from memman.model.errors import UsageError
from memman.model.records import Scope
from memman.queue.view import QueueView
from memman.store.sqlite.catalogue import Catalogue

if TYPE_CHECKING:
    from memman.config.scope import Here
    from memman.store.sqlite.store import SqliteStore

FLAG = "--store"
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Place:
    """The store a command means and why (--store, MEMMAN_STORE, binding, active, default), its agent and session."""

    data: str
    name: str
    why: str
    agent: str = ""
    session: str = ""

    @property
    def named(self) -> bool:
        """Whether --store named it."""
        return self.why == FLAG

    @property
    def path(self) -> str:
        """Where its database is."""
        return store_path(self.data, self.name)

    @property
    def exists(self) -> bool:
        """Whether it has a database."""
        return stores.exists(self.data, self.name)


def chosen(explicit: str | None = None, agent: str = "", session: str = "") -> Place:
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
    return Place(data, name, next((why for why, said in asked if said), "default"), agent, session)


def standing() -> "Here":
    """Return where the command is given: in which repository, and in which folder of it."""
    return scope.here(data_dir(), stores.here(), stores.cwd())


def meant(catalogue: Catalogue, to: str) -> Scope:
    """Return the scope that is meant by `personal`, `repository`, `path:FOLDER` or the label of one that there is."""
    if to == scope.PERSONAL:
        return Scope()
    if to == scope.REPOSITORY or to.startswith(scope.PATH):
        said, here = scope.asked(to), standing()
        if not here.repository:
            raise UsageError("what is said at home holds everywhere: go to the folder that memories are to be moved to")
        return Scope(here.repository, said.removeprefix(scope.PATH) if said.startswith(scope.PATH) else "")
    known = [one for one, _ in catalogue.scopes() if to in {scope.label(*one), one.repository}]
    if len(known) != 1:
        why = "several scopes are called" if known else "there is no scope"
        raise UsageError(f"{why} {to!r}: give personal, repository, path:FOLDER, or one of `memman scope list`")
    return known[0]


def scopes_meant(catalogue: Catalogue, said: str | None) -> frozenset[int] | None:
    """Return the scopes of a store that `said` names, None for all: a repository with its folders, or one folder.

    `here` are those whose memories recall finds where the command is given.
    """
    if said is None:
        return None
    if said == "here":
        return catalogue.reader.scopes(standing())
    scope = meant(catalogue, said)
    return catalogue.reader.holding(scope.repository, scope.path)


def expected(place: Place) -> Place:
    """Return the store; raise UnknownStore where it is not there and no note waits for it. The default one may come."""
    if place.name != stores.DEFAULT and not place.exists:
        with closing(QueueView(place.data)) as queue:
            if not queue.of(place.name):
                raise stores.unknown(place.data, place.name)
    return place


@contextmanager
def reading(place: Place) -> Iterator[Catalogue]:
    """Open the store to read. Raises UnknownStore where `expected` does."""
    with Catalogue.open(expected(place).path) as catalogue:
        yield catalogue


@contextmanager
def looking(place: Place) -> Iterator[tuple[Catalogue, QueueView]]:
    """Open the store and the queue to read."""
    with closing(QueueView(place.data)) as queue:
        queue.hold()  # before the store is read: a note drained in between is seen twice, and never not at all
        with reading(place) as catalogue:
            yield catalogue, queue


def steadily(work: Callable[Concatenate[Place, P], T]) -> Callable[Concatenate[Place, P], T]:
    """Have a function that changes a store find what it is about in the very store that it changes."""

    @wraps(work)
    def alone(place: Place, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with steady(place.data):
            return work(place, *args, **kwargs)

    return alone


@contextmanager
def writing(place: Place) -> Iterator["SqliteStore"]:
    """Open the store to write, made on first use, and ask for a drain where vectors are outdated. Loads numpy."""
    from memman.store.opening import open_store, refuse_reading
    from memman.store.sqlite.vectors import outdated

    refuse_reading(place.data, place.name)
    with closing(open_store(place.data, place.name)) as store:
        store.by = {"agent": place.agent, "session": place.session}
        yield store
        if outdated(store.db, 1):
            ask(place.data)


def _active(data: str) -> str:
    name = stores.active(data)
    return "" if name == stores.DEFAULT else name
