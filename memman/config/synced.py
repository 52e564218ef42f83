"""Which stores are synced by a folder, and how the last round went. Safe on the hot path."""

import os

from memman.config.places import make_folder, read_file, text_at, write_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

SEGMENT = ".age"


def sync_path(data: str) -> str:
    """Return the folder of what syncs know."""
    return data + "/sync"


def folder(data: str, store: str) -> str:
    """Return the folder that a store is synced by, '' for none. Raises CannotWrite."""
    return read_file(_folder_path(data, store)).strip("\n")


def choose(data: str, store: str, path: str) -> None:
    """Sync a store by a folder from now on; '' ends that."""
    if path:
        make_folder(sync_path(data))
        write_file(_folder_path(data, store), path + "\n")
        return
    for gone in (_folder_path(data, store), round_path(data, store)):
        if os.path.exists(gone):
            os.remove(gone)


def names(data: str) -> list[str]:
    """Return the stores that are synced."""
    try:
        found = os.listdir(sync_path(data))
    except OSError:
        return []
    return sorted(name.removesuffix(".folder") for name in found if name.endswith(".folder"))


def round_path(data: str, store: str) -> str:
    """Return the path of what the last round found: JSON."""
    return f"{sync_path(data)}/{store}.round"


def last_round(data: str, store: str) -> "dict[str, Any]":
    """Return what the last round found: at, troubles, host, number, hosts; empty before the first."""
    from memman.model.objects import parsed

    return parsed(text_at(round_path(data, store))) or {}


def listing(path: str) -> list[str]:
    """Return what hosts have written into a folder, by its path below it."""
    found, links = [], linked(path)
    for host in _names(path):
        if host in links:
            continue
        found += [f"{host}/{name}" for name in _names(f"{path}/{host}") if name.endswith(SEGMENT)]
    return found


def linked(path: str) -> list[str]:
    """Return what in a folder is a link: the folder of no host is."""
    return [name for name in _names(path) if os.path.islink(f"{path}/{name}")]


def keep_round(data: str, store: str, record: "Mapping[str, Any]", saw: str = "") -> None:
    """Keep what a round found, and which state of the folder it `saw`, if it has seen all of it."""
    import json

    text = json.dumps({key: value for key, value in record.items() if key != "seen"}, ensure_ascii=False)
    write_file(round_path(data, store), (f"{text[:-1]}, {saw}}}" if saw else text) + "\n")


def came(data: str) -> bool:
    """Whether other files lie in a folder than after the last round."""
    return any(unseen(data, store) for store in names(data))


def unseen(data: str, store: str) -> bool:
    """Whether other files lie in the folder of a store than after its last round."""
    path = folder(data, store)
    return os.path.isdir(path) and seen(path) not in text_at(round_path(data, store))


def seen(path: str) -> str:
    """Return what tells one state of a folder from another."""
    from zlib import crc32

    listed = listing(path)
    return f'"seen": "{len(listed)}-{crc32(chr(10).join(listed).encode()):08x}"'


def _folder_path(data: str, store: str) -> str:
    return f"{sync_path(data)}/{store}.folder"


def _names(path: str) -> list[str]:
    try:
        return sorted(os.listdir(path))
    except OSError:
        return []
