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
from memman.model.vocabulary import CONNECTED
from memman.queue.view import QueueView
from memman.store import reach
from memman.store.reach import address, connected
from memman.store.sqlite.catalogue import Catalogue
from memman.store.sqlite.store import open_store

_MEANWHILE = "remember and recall work meanwhile; drains try again"


def sharing(context: Context) -> Iterator[Finding]:
    """Check that each server can be reached, is the same one and lets us write, and show errors of the last sync."""
    data = context.data
    ours = {name: name in connected(data) for name in context.stores}
    asked = (_asked(data, name) if has else _unaddressed(data, name) for name, has in ours.items())
    return sound(
        chain(filter(None, asked), *(_synced(data, name) for name in synced.names(data))),
        "no store is shared or synced",
    )


def _synced(data: str, name: str) -> Iterator[Finding]:
    folder, last = synced.folder(data, name), synced.last_round(data, name)
    gone = [] if os.path.isdir(folder) else [f"the folder {folder} is not there"]
    again = shell("memman", "sync", "--store", name)
    amiss = [warn(f"store {name}: {trouble}", again) for trouble in last.get("troubles") or gone]
    for host in last.get("lagging", ()):
        says = f"store {name}: host {host} still has purged text in the folder, until its next round"
        amiss.append(warn(says, hint="run `memman sync` on that machine"))
    return sound(amiss, f"store {name} is synced by {folder}" + ("" if last else "; no round was made yet"))


def _unaddressed(data: str, name: str) -> Finding | None:
    with Catalogue.open(store_path(data, name)) as catalogue:
        if not catalogue.reader.meta(CONNECTED):
            return None
    return fail(
        f"store {name!r} is shared, but the address of its server is missing: nothing is exchanged with it",
        f"memman team connect {name}",
        hint=f"`memman migrate --to sqlite --store {name}` makes it this machine's own",
    )


def _asked(data: str, name: str) -> Finding:
    at, _ = reach.state(store_path(data, name))
    ago = f"last up to date {duration(max(0, now_ms() - at) / 1000)} ago" if at else "never up to date yet"
    try:
        from memman.store.postgres.exchange import checked
        from memman.store.postgres.server import Server, members

        with closing(open_store(data, name)) as store, closing(Server(address(data, name))) as server:
            may = next(one["may"] for one in members(server, checked(store, server).number) if one["you"])
    except NotSetUp as error:
        return fail(f"{error} (store {name!r}); {ago}", hint=_MEANWHILE)
    except MemmanError as error:
        hint = f"{_MEANWHILE}; `memman team members {name}` asks again"
        return fail(f"store {name!r}: {error}; {ago}", hint=hint)
    with closing(QueueView(data)) as queue:
        waiting = len(queue.of(name))
    if may == "read" and waiting:
        says = f"store {name!r}: you may only read it, and {counted(waiting, 'note')} of yours cannot be stored"
        return warn(says, hint="its owner runs `memman team add`, or you delete them from the queue")
    return ok(f"store {name!r}: {server} answers, and you may {may}; {ago}")
