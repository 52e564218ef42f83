"""`memman config`: set, get, show, unset."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from memman.commands.person import confirm
from memman.commands.place import Place, expected
from memman.commands.printing import complain, table, text
from memman.commands.verb import Group, starting, store_option
from memman.config.env import Settings, change, change_all, drop, known, unknown
from memman.config.keys import KEYS, Key
from memman.config.providers import AGENTS, AUTO
from memman.model.errors import UsageError

_LAST = 4
_SHARED = "MEMMAN_STORE_DSN"
_LONGEST = 65_536
_PROVIDER = "MEMMAN_LLM_PROVIDER"
_OF_PROVIDER = (
    "MEMMAN_LLM_ENDPOINT",
    "MEMMAN_LLM_MODEL_FAST",
    "MEMMAN_LLM_MODEL_SLOW",
    "MEMMAN_LLM_PRICE",
)

named = click.argument("key", shell_complete=lambda ctx, param, begun: starting(KEYS, begun.upper()))  # noqa: ARG005


@click.group(cls=Group)
@store_option
def config() -> None:
    """Read and change the configuration."""


def _outdated(before: Mapping[str, str], said: Mapping[str, str]) -> list[str]:
    """Return which settings were for the model provider before the one that is now set; builtin leaves all as it is."""
    old, new = before.get(_PROVIDER, ""), said.get(_PROVIDER, "")
    to_agent = new in {*AGENTS, AUTO} and "MEMMAN_LLM_ENDPOINT" in before
    if new in {"", "builtin", old} or (old in {"", "builtin"} and not to_agent):
        return []
    known = _OF_PROVIDER + (("MEMMAN_LLM_COMMAND",) if old in AGENTS else ())
    return [name for name in known if name in before and name not in said]


def _outward(name: str, value: str) -> str:
    return f"{name} to {abbreviated(value) if KEYS[name].secret else value}"


def _print_change(done: dict[str, Any]) -> None:
    for name in done["keys"]:
        text(f"{done['did']} {name}" + (f" for store {done['store']!r}" if done["store"] else ""))
    for name in done.get("unset", ()):
        text(f"unset {name}, which was for the provider before")


@config.verb("set", shows=_print_change)
@click.argument(
    "pairs",
    nargs=-1,
    required=True,
    metavar="KEY VALUE [KEY VALUE]...",
    shell_complete=lambda ctx, param, begun: starting(KEYS, begun.upper()),  # noqa: ARG005
)
def set_verb(place: Place, pairs: Sequence[str]) -> dict[str, Any]:
    """Set keys, all or none; with - a value is read from standard input, which keeps it out of the shell history.

    The prefix MEMMAN_ may be left out. With --store MEMMAN_EMBED_ keys are set for one store alone.
    """
    store, said = _store(place), _said(pairs)
    Settings({}).replaced(said)
    if _SHARED in said:
        from memman.store.postgres.address import parsed

        parsed(said[_SHARED])
    if outward := [_outward(name, value) for name, value in said.items() if KEYS[name].outward(value)]:
        confirm(f"Set {', '.join(outward)}?")
    outdated = _outdated(Settings.read(place.data).said, said)
    change_all(place.data, said | dict.fromkeys(outdated), store)
    _say_unpriced(place.data, store)
    return {"did": "set", "keys": list(said), "store": store} | ({"unset": outdated} if outdated else {})


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
    change(place.data, key, None, store)
    _say_unpriced(place.data, store)
    return {"did": "unset", "keys": [known(key).name], "store": store}


def _print(keys: dict[str, dict[str, Any]]) -> None:
    table(("*" if one["set"] else " ", name, one["value"] or "-", KEYS[name].help) for name, one in keys.items())


@config.verb(shows=_print)
def show(place: Place) -> dict[str, dict[str, Any]]:
    """Show all keys and values; * marks those that are set."""
    settings = Settings.read(place.data)
    for fault in settings.faults:
        complain(fault)
    values = {name: abbreviated(settings[name]) if key.secret else settings[name] for name, key in KEYS.items()}
    return {name: {"value": value, "set": name in settings.said} for name, value in values.items()}


def _say_unpriced(data: str, store: str) -> None:
    from memman.providers import unpriced

    for trouble in unpriced(Settings.load(data, store) if store else Settings.read(data)).values():
        complain(trouble)


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
    from memman.store.opening import is_shared

    if key.shared and store and is_shared(data, store):
        raise UsageError(
            f"store {store!r} is on that server: `memman team leave {store}` leaves it, `memman migrate --to sqlite"
            f" --store {store}` makes all of it this machine's own; `memman config set` changes the address"
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
