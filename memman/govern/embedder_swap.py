"""The embedder that an unfinished swap leads to, kept in a small file so that the swap survives its process."""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass

from memman.config.env import Settings
from memman.config.keys import KEYS
from memman.config.places import read_file, write_file
from memman.model.errors import DamagedFile
from memman.model.objects import record

_KEYED = ("provider", "model", "endpoint", "dimension")
_PARTS = (*_KEYED, "store")


@dataclass(frozen=True, slots=True)
class EmbedderSwap:
    """What the MEMMAN_EMBED_ keys will say, of one store or of all; empty means the key's default."""

    provider: str
    model: str = ""
    endpoint: str = ""
    dimension: str = ""
    store: str = ""

    @classmethod
    def of(cls, said: Mapping[str, object]) -> "EmbedderSwap":
        """Read a target from what a caller said, missing parts empty."""
        return cls(**{name: str(said.get(name) or "") for name in _PARTS})

    @classmethod
    def load(cls, data: str) -> "EmbedderSwap | None":
        """Return the target of the unfinished swap, None where there is none. Raises DamagedFile."""
        text = read_file(_path(data))
        if not text:
            return None
        found = record(cls, text)
        if found is None:
            raise DamagedFile(f"{_path(data)} is not readable: delete it and start the swap again")
        return found

    def save(self, data: str) -> None:
        """Keep the target until the swap is over."""
        write_file(_path(data), json.dumps(asdict(self)) + "\n")

    @property
    def keys(self) -> dict[str, str | None]:
        """The settings that put the target in force."""
        said = asdict(self)
        return {f"MEMMAN_EMBED_{name.upper()}": said[name] or None for name in _KEYED}

    def in_force(self, settings: Settings) -> bool:
        """Whether `settings` say the same."""
        return all(settings[name] == (value or KEYS[name].default) for name, value in self.keys.items())

    def __str__(self) -> str:
        return "/".join(part for part in (self.provider, self.model, self.dimension) if part)


def forget(data: str) -> None:
    """Drop the target: the swap is over."""
    with suppress(FileNotFoundError):
        os.remove(_path(data))


def _path(data: str) -> str:
    return data + "/swap.json"
