"""`memman store`: list, create, use, bind, remove."""

import os
import time
from collections import Counter
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Any

import click

from memman.commands.person import confirm
from memman.commands.place import Place
from memman.commands.printing import lines, short, size, table, text
from memman.commands.verb import Group, store_option
from memman.config import stores, synced
from memman.config.env import env_path
from memman.config.places import fsync_folder, make_folder, store_path, write_file
from memman.config.schedule import refuse_stopped
from memman.locks import drain_lock
from memman.model.errors import CannotWrite, DamagedFile, StoreError, UsageError
from memman.model.plural import counted
from memman.queue.notes import Queue
from memman.queue.view import WAITING, QueueView
from memman.store.sqlite.catalogue import Catalogue

name_argument = click.argument("name", metavar="NAME")


@click.group(cls=Group)
@store_option
def store() -> None:
    """List, create, select, bind and remove stores."""


def _row(row: dict[str, Any]) -> tuple[str, ...]:
    mark, waiting = "*" if row["chosen"] else " ", f"{row['waiting']} waiting"
    if row["trouble"]:
        return mark, row["name"], "?", waiting, "?", row["trouble"]
    held = counted(row["memories"], "memory")
    return mark, row["name"], held, waiting, size(row["bytes"]), "active" if row["active"] else ""


@store.verb("list", shows=lambda rows: table(map(_row, rows), 300), none="no stores yet: the first note creates one")
def listed(place: Place) -> list[dict[str, Any]]:
    """List the stores; * marks the one used here."""
    with closing(QueueView(place.data)) as queue:
        waiting = Counter(note["store"] for note in queue.listed(WAITING, -1))
    names = sorted({*waiting, *stores.names(place.data)})
    return [_looked_at(place, name) | {"waiting": waiting[name]} for name in names]


def _looked_at(place: Place, name: str) -> dict[str, Any]:
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


def _created(done: dict[str, Any]) -> None:
    text(f"created store {done['name']!r}" if done["created"] else f"store {done['name']!r} already exists")


@store.verb(shows=_created)
@click.argument("name")
def create(place: Place, name: str) -> dict[str, Any]:
    """Create a store."""
    there = stores.exists(place.data, stores.harmless(name))
    if not there:
        from memman.store.sqlite.store import open_store

        open_store(place.data, name).close()
    return {"name": name, "created": not there}


def _used(done: dict[str, Any]) -> None:
    text(f"store {done['name']!r} is now active")
    if done["but"]:
        text(f"but here {done['but']} takes precedence and selects {done['here']!r}")


@store.verb(shows=_used)
@name_argument
def use(place: Place, name: str) -> dict[str, Any]:
    """Use a store by default, unless --store, MEMMAN_STORE or a binding names another."""
    write_file(place.data + "/active", stores.known(place.data, name) + "\n")
    return {"name": name, "but": "" if place.why in {"active", "default"} else place.why, "here": place.name}


def _bound(done: dict[str, str]) -> None:
    if done["name"]:
        text(f"{done['repository']} is bound to {done['name']!r}")
    else:
        was = f" now; it was bound to {done['before']!r}" if done["before"] else ""
        text(f"{done['repository']} is not bound to a store{was}")


@store.verb(shows=_bound)
@click.argument("name", required=False)
@click.option("--unset", is_flag=True, help="Remove the repository's binding.")
def bind(place: Place, name: str | None = None, *, unset: bool = False) -> dict[str, str]:
    """Bind the current git repository, with all its work trees, to a store."""
    if unset == bool(name):
        raise UsageError("give the name of a store, or --unset")
    here = stores.here()
    if here is None:
        raise UsageError("this folder is not in a repository")
    before = stores.bindings(place.data).get(here.common, "")
    stores.bind(place.data, here.common, name and stores.known(place.data, name))
    return {"repository": here.common, "name": name or "", "before": before}


def _branched(done: dict[str, str]) -> None:
    text(f"created store {done['name']!r}, a branch of {done['parent']!r}")
    text(f"use it with --store {done['name']} or MEMMAN_STORE={done['name']}; then `memman store diff {done['name']}`")


@store.verb("branch", shows=_branched)
@click.argument("name")
def branched(place: Place, name: str) -> dict[str, str]:
    """Create a copy of the present store, for an experiment.

    The two learn separately until `store merge`; `store remove` ends the experiment.
    """
    from memman.sync.branch import branch

    refuse_stopped(place.data, "store branch")
    branch(place.data, place.name, name)
    return {"name": name, "parent": place.name}


def _print_diff(changes: list[Any]) -> None:
    table([(change.store, change.what, short(change.memory), change.text) for change in changes], 300)
    if not changes:
        text("both hold the same memories")


@store.verb("diff", shows=_print_diff)
@name_argument
def differing(place: Place, name: str) -> list[Any]:
    """Show the memories that only a branch or only its original has, without rules."""
    from memman.sync.branch import diff

    return diff(place.data, name)


def _print_merged(done: Any) -> None:
    text(f"{counted(done.records, 'record')} of {done.branch!r} added to {done.store!r}")
    if done.replaced:
        text(f"{counted(done.replaced, 'memory')} replaced by a newer one of the other store")
    if done.waiting:
        text(f"{counted(done.waiting, 'note')} of {done.branch!r} not read by a drain yet: merge again afterwards")


@store.verb("merge", shows=_print_merged)
@name_argument
def merged(place: Place, name: str) -> Any:
    """Add to a store what its branch learned, replaced and forgot.

    Rules are added too, purges are not. Of contradicting facts the newer supersedes the older. The branch stays and
    can be merged again.
    """
    import asyncio

    from memman.config.env import Settings
    from memman.drain.failpoint import reach
    from memman.drain.stores import Stores
    from memman.locks import quiet
    from memman.sync.branch import merge, parent_of

    refuse_stopped(place.data, "store merge")
    parent = parent_of(place.data, name)

    async def run() -> Any:
        opened = Stores.of(place.data, Settings.load(place.data, parent))
        try:
            store, tools = opened.equipped(parent)
            return await merge(store, place.data, name, tools, reach())
        finally:
            await opened.close()

    with quiet(place.data):
        return asyncio.run(run())


@dataclass(frozen=True, slots=True)
class Stakes:
    """What removing a store would take along."""

    name: str
    active: bool
    memories: int
    waiting: tuple[str, ...]
    bound: tuple[str, ...]

    @classmethod
    def of(cls, data: str, name: str) -> "Stakes":
        """Say what removing a store would take along. Raises UnknownStore."""
        stores.known(data, name)
        with closing(QueueView(data)) as queue:
            waiting = tuple(queue.of(name))
        try:
            memories = _held(data, name)[0]
        except DamagedFile:
            memories = 0  # it may be damaged beyond counting, and is moved aside whole
        bound = tuple(place for place, store in stores.bindings(data).items() if store == name)
        return cls(name, name == stores.active(data), memories, waiting, bound)

    def said(self) -> list[str]:
        """Say what a person should know before the store is removed."""
        said = [f"memories: {self.memories}", f"notes queued for it: {len(self.waiting)}"]
        return [*said, "it is the active store"] if self.active else said


def _print_removed(done: dict[str, Any]) -> None:
    text(f"moved store {done['name']!r} to {done['to']}")
    if done["waiting"]:
        text(f"took {counted(done['waiting'], 'note')} out of the queue; their text is in {done['to']}/notes.json")
    lines(f"{place} is no longer bound to a store" for place in done["bound"])
    text(f"to put it back: mv {done['to']} {done['from']}")


@store.verb(shows=_print_removed)
@name_argument
def remove(place: Place, name: str) -> dict[str, Any]:
    """Remove a store: it is moved aside and can be put back.

    Notes queued for it are taken out of the queue and kept with it.
    """
    data = place.data
    refuse_stopped(data, "store remove")
    with drain_lock(data):
        at_stake = Stakes.of(data, name)
        confirm(f"Move store {name!r} aside?", name, at_stake.said())
        target = removed(data, at_stake)
    left = {"waiting": len(at_stake.waiting), "bound": at_stake.bound}
    return {"name": name, "from": f"{data}/data/{name}", "to": target} | left


def removed(data: str, at_stake: Stakes) -> str:
    """Move a store's folder aside, its waiting notes beside it; return where to. The caller holds the drain lock."""
    from memman.upkeep.rules import publish

    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    number, target = 1, f"{data}/removed/{at_stake.name}-{stamp}"
    while os.path.exists(target):
        number += 1
        target = f"{data}/removed/{at_stake.name}-{stamp}.{number}"
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
    if at_stake.active and at_stake.name != stores.DEFAULT:
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
