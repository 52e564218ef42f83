"""The env file: KEY=VALUE lines, read as data and never by a shell."""

import os
import stat
from collections.abc import Mapping

from memman.config.keys import KEYS, Key
from memman.config.places import read_file, write_file
from memman.model.errors import BadConfig


def env_path(data: str) -> str:
    """Return the path of the env file."""
    return data + "/env"


def known(name: str) -> Key:
    """Return the key called `name`, in either case, with or without the prefix. Raises BadConfig."""
    full = name.upper().replace(".", "_").replace("-", "_")
    key = KEYS.get(full) or KEYS.get("MEMMAN_" + full)
    if key is None:
        from difflib import get_close_matches

        near = get_close_matches("MEMMAN_" + full.removeprefix("MEMMAN_"), KEYS, 1)
        hint = f"; did you mean {near[0]}?" if near else ": `memman config show` lists them"
        raise BadConfig(f"there is no key {name[:60]!a}{hint}")
    return key


class Settings:
    """The values in force: the env file's, and every other key's default."""

    def __init__(self, said: dict[str, str]) -> None:
        self.said = said

    @classmethod
    def load(cls, data: str) -> "Settings":
        """Read the env file. Raises BadConfig when others can read it or a value is not acceptable."""
        path = env_path(data)
        try:
            mode = stat.S_IMODE(os.stat(path).st_mode)
        except FileNotFoundError:
            return cls({})
        if mode & 0o077:
            raise BadConfig(f"{path} can be read by others (mode {mode:04o}): run chmod 600 on it")
        said = {name: value for name, value in _pairs(read_file(path)) if name in KEYS and value}
        for name, value in said.items():
            _check(KEYS[name], value)
        return cls(said)

    def __getitem__(self, name: str) -> str:
        return self.said.get(name) or KEYS[name].default

    def replaced(self, values: Mapping[str, str | None]) -> "Settings":
        """Return these settings with some others in their place, None for the default. Raises BadConfig."""
        said: dict[str, str | None] = {**self.said, **_checked(values)}
        return Settings({name: value for name, value in said.items() if value})

    def number(self, name: str) -> float | None:
        """Return a numeric setting, None when it is unset."""
        value = self[name]
        return float(value) if value else None


def change(data: str, name: str, value: str | None) -> None:
    """Set a key, or with None remove it; comments, order and unknown lines stay. Raises BadConfig."""
    change_all(data, {name: value})


def change_all(data: str, values: Mapping[str, str | None]) -> None:
    """Set or remove several keys in one write: all of them are changed, or none. Raises BadConfig."""
    said = _checked(values)
    left = {name: f"{name}={value}" for name, value in said.items() if value is not None}
    kept = []
    for old in read_file(env_path(data)).splitlines():
        name = old.partition("=")[0].strip()
        if name not in said:
            kept.append(old)
        elif name in left:
            kept.append(left.pop(name))
    write_file(env_path(data), "".join(text + "\n" for text in (*kept, *left.values())))


def _pairs(text: str) -> list[tuple[str, str]]:
    lines = (line.strip() for line in text.splitlines())
    parts = (line.partition("=") for line in lines if line and not line.startswith("#"))
    return [(name.strip(), value.strip()) for name, _, value in parts]


def _checked(values: Mapping[str, str | None]) -> dict[str, str | None]:
    """Return `values` by the keys' full names. Raises BadConfig."""
    said = {known(name).name: value for name, value in values.items()}
    for name, value in said.items():
        if value is not None:
            _check(KEYS[name], value)
    return said


def _check(key: Key, value: str) -> None:
    if not value.isprintable():
        raise BadConfig(f"{key.name}: the value holds a newline or another control character")
    if wrong := key.check(value):
        raise BadConfig(f"{key.name} {wrong}")
