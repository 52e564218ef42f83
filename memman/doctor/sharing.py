"""Whether the servers of shared stores let us in.

Looks at: the server of each [shared](sharing.md) store, what we may do there, and when the store was last up to date
Finds: out of reach, and since when; refuses us, has another schema, is another server; an address that is missing or \
wrong; warns of a store that is not filled yet, and where we may only read while notes wait
"""

from collections.abc import Iterator
from contextlib import closing

from memman.clock import now_ms
from memman.config.places import store_path
from memman.doctor.finding import Context, Finding, fail, ok, sound, warn
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
    """Ask each server what we may do."""
    names = [name for name in connected(context.data) if name in context.stores]
    yield from sound((found for name in names for found in _asked(context.data, name)), "no store is shared")


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
