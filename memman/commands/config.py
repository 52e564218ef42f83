"""`memman config`: set, get, show, unset."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from memman.commands.person import confirm
from memman.commands.place import Place, expected
from memman.commands.printing import complain, table, text
from memman.commands.verb import Group, store_option
from memman.config.env import Settings, change_all, drop, known, own, unknown
from memman.config.keys import KEYS, Key
from memman.model.errors import UsageError

_LAST = 4
_SHARED = "MEMMAN_STORE_DSN"
_LONGEST = 65_536


named = click.argument("key")


@click.group(cls=Group)
@store_option
def config() -> None:
    """Read and change the configuration."""


def _print_change(done: dict[str, Any]) -> None:
    for name in done["keys"]:
        text(f"{done['did']} {name}" + (f" for store {done['store']!r}" if done["store"] else ""))
    for name in done.get("unset", ()):
        text(f"unset {name}, which belonged to the previous provider")


@config.verb("set", shows=_print_change)
@click.argument("pairs", nargs=-1, required=True, metavar="KEY VALUE [KEY VALUE]...")
def set_verb(place: Place, pairs: Sequence[str]) -> dict[str, Any]:
    """Set keys, all or none; with - a value is read from standard input, which keeps it out of the shell history.

    The prefix MEMMAN_ may be left out. With --store, MEMMAN_EMBED_ keys are set for one store alone.
    """
    store, said = _store(place), _said(pairs)
    Settings({}).replaced(said)
    if _SHARED in said:
        from memman.store.postgres.server import parsed

        parsed(said[_SHARED])
    outward = {name: value for name, value in said.items() if KEYS[name].outward(value)}
    if outward:
        to = [f"{name} to {abbreviated(value) if KEYS[name].secret else value}" for name, value in outward.items()]
        confirm(f"Set {', '.join(to)}?")
    return {"did": "set", "keys": list(said), "store": store} | _changed(place.data, said, store)


@config.verb(shows=text)
@named
def get(place: Place, key: str) -> str:
    """Print the current value, even if it is a secret."""
    return Settings.load(place.data, _store(place))[known(key).name]


@config.verb(shows=_print_change)
@named
def unset(place: Place, key: str) -> dict[str, Any]:
    """Restore a key's default, or remove an unknown key."""
    if key in unknown(place.data):
        drop(place.data, key)
        return {"did": "removed", "keys": [key], "store": ""}
    store = _store(place)
    _refuse_detaching(place.data, known(key), store)
    name = known(key).name
    return {"did": "unset", "keys": [name], "store": store} | _changed(place.data, {name: None}, store)


def _changed(data: str, said: Mapping[str, str | None], store: str) -> dict[str, Any]:
    """Change settings, and remove those that were for the provider before; return these, if any, as `unset`."""
    from memman.providers.chosen import outdated, unpriced

    before = Settings(own(data, store)) if store else Settings.read(data)
    gone = outdated(before, said)
    change_all(data, {**dict.fromkeys(gone), **said}, store)
    for trouble in unpriced(Settings.load(data, store) if store else Settings.read(data)).values():
        complain(trouble)
    return {"unset": gone} if gone else {}


def _print(keys: dict[str, dict[str, Any]]) -> None:
    table(("*" if one["set"] else " ", name, one["value"] or "-", KEYS[name].help) for name, one in keys.items())


@config.verb(shows=_print)
@click.argument("key", required=False)
def show(place: Place, key: str | None = None) -> dict[str, dict[str, Any]]:
    """Show all keys and values, or one; * marks those that are set."""
    settings = Settings.read(place.data)
    for fault in settings.faults:
        complain(fault)
    keys = {known(key).name: known(key)} if key else KEYS
    values = {name: abbreviated(settings[name]) if one.secret else settings[name] for name, one in keys.items()}
    return {name: {"value": value, "set": name in settings.said} for name, value in values.items()}


def _said(pairs: Sequence[str]) -> dict[str, str]:
    """Return values by the full names of their keys. Raises UsageError and BadConfig."""
    if len(pairs) % 2:
        raise UsageError(f"{pairs[-1]} has no value: give KEY VALUE, or several such pairs")
    said: dict[str, str] = {}
    for key, value in zip(pairs[::2], pairs[1::2], strict=True):
        name = known(key).name
        if name in said:
            raise UsageError(f"{name} is given twice")
        if not value:
            raise UsageError(f"the value is empty; `memman config unset {name}` restores the default")
        said[name] = _read() if value == "-" else value
    return said


def _refuse_detaching(data: str, key: Key, store: str) -> None:
    """Raise UsageError where a shared store would lose the address of its server, and nobody hear of it any more."""
    from memman.store.reach import address

    if key.shared and store and address(data, store):
        raise UsageError(
            f"store {store!r} is on that server: `memman migrate --to sqlite --store {store}` makes it this"
            " machine's own; `memman config set` changes the address"
        )


def _store(place: Place) -> str:
    """Return the store whose own setting is meant, '' for what holds for all. Raises UnknownStore."""
    return expected(place).name if place.named else ""


def abbreviated(secret: str) -> str:
    """Hide a secret except for its last few characters."""
    shown = secret[-_LAST:] if len(secret) > 3 * _LAST else ""
    return f"…{shown}" if secret else ""


def _read() -> str:
    value = sys.stdin.buffer.read(_LONGEST).decode("utf-8", "replace").strip()
    if not value:
        raise UsageError("standard input is empty: the value is read from there")
    return value
