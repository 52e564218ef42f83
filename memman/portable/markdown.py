"""A folder of Markdown that memman writes: what places in it are called, and what became of its files."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

from memman.config.scope import PERSONAL, label


@dataclass(frozen=True, slots=True)
class Refreshed:
    """The files of a folder that were written and removed, and those a person has edited, which were left."""

    written: tuple[str, ...]
    removed: tuple[str, ...]
    edited: tuple[str, ...]


def folders(repositories: Iterable[str]) -> dict[str, str]:
    """Name the folder of each repository; of two that are called alike the later has more to its name."""
    found = {"": PERSONAL}
    for whose in repositories:
        name = slug(label(whose, "")) or "repository"
        found.setdefault(whose, f"{name}-{digest(whose)}" if name in found.values() else name)
    return found


def slug(text: str, kept: str = "") -> str:
    """Write a text as a part of a path: letters, digits and hyphens."""
    parts = (re.sub(r"[^\w]+", "-", part).strip("-_") for part in (text.split(kept) if kept else [text]))
    return kept.join(filter(None, parts)).casefold()


def digest(text: str) -> str:
    """Return what tells a text from others."""
    return blake2b(text.encode(), digest_size=4).hexdigest()
