"""Whether the servers and folders by which stores are shared are within reach."""

import os
from collections.abc import Iterator
from contextlib import closing
from itertools import chain

from memman.clock import now_ms
from memman.config import synced
from memman.config.places import store_path
from memman.doctor.finding import Context, Finding, fail, ok, shell, sound, warn
from memman.model.errors import MemmanError, NotSetUp
from memman.model.plural import counted
from memman.model.text import duration
from memman.queue.view import QueueView
from memman.store.opening import address, connected
from memman.store.replica import reach
from memman.store.replica.detached import named, refuse_unaddressed
from memman.store.sqlite.catalogue import Catalogue

_MEANWHILE = "recall answers from the replica meanwhile, and notes wait"


def check(context: Context) -> Iterator[Finding]:
    """Ask each server what we may do, and look what the last round of each sync found.

    Fails where a server is out of reach, and since when, refuses us, has another schema or is another server,
    and where its address is missing or wrong; warns of a store that is not filled yet, where we may only read while
    notes wait, and of what stood in the way of a sync: a folder that is not there or not writable, a key that is gone
    or another one, a bundle that was damaged or is missing
    """
    names = [name for name in connected(context.data) if name in context.stores]
    asked = (found for name in names for found in _asked(context.data, name))
    yield from sound(chain(asked, _synced(context.data)), "no store is shared or synced")


def _synced(data: str) -> Iterator[Finding]:
    for name in synced.names(data):
        folder, last = synced.folder(data, name), synced.last_round(data, name)
        troubles = last.get("troubles", [])
        if not troubles and not os.path.isdir(folder):
            troubles = [f"the folder {folder} is not there"]
        for trouble in troubles:
            yield warn(f"store {name}: {trouble}", shell("memman", "sync", "--store", name))
        if not troubles:
            yield ok(f"store {name} is synced by {folder}" + ("" if last else "; no round was made yet"))


def _asked(data: str, name: str) -> Iterator[Finding]:
    path = store_path(data, name)
    at, how = reach.state(path)
    ago = f"{duration(max(0, now_ms() - at) / 1000)} ago" if at else "never yet"
    try:
        refuse_unaddressed(data, name)
        server, may = _told(data, name)
    except NotSetUp as error:
        yield fail(f"{named(name, error)}; last up to date {ago}", hint=_MEANWHILE)
        return
    except MemmanError as error:
        hint = f"{_MEANWHILE}; `memman store members {name}` asks again"
        yield fail(f"store {name!r}: {error}; last up to date {ago}", hint=hint)
        return
    with closing(QueueView(data)) as queue:
        waiting = len(queue.of(name))
    if how == reach.FILLING:
        yield warn(f"store {name!r} is not filled from its server yet", "memman scheduler drain")
    elif may == "read" and waiting:
        says = f"store {name!r}: you may only read it, and {counted(waiting, 'note')} of yours cannot be stored"
        yield warn(says, hint="its owner runs `memman store add-member`, or you delete them from the queue")
    else:
        yield ok(f"store {name!r}: {server} answers, and you may {may}; last up to date {ago}")


def _told(data: str, name: str) -> tuple[str, str]:
    """Return what a store's server is called, and what we may do there. Raises what keeps us from it."""
    from memman.store.postgres.members import members
    from memman.store.postgres.server import Server
    from memman.store.replica.position import same_store

    with Catalogue.open(store_path(data, name)) as catalogue, closing(Server(address(data, name))) as server:
        number = same_store(catalogue.reader.db, server, name)
        return str(server), next((one["may"] for one in members(server, number) if one["you"]), "own")
