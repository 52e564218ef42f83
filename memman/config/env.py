"""The env file: KEY=VALUE lines, read as data and never by a shell."""

import os
import stat

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
        raise BadConfig(f"there is no key {ascii(name[:60])}: `memman config show` lists them")
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

    def number(self, name: str) -> float | None:
        """Return a numeric setting, None when it is unset."""
        value = self[name]
        return float(value) if value else None


def change(data: str, name: str, value: str | None) -> None:
    """Set a key, or with None remove it; comments, order and unknown lines stay. Raises BadConfig."""
    key = known(name)
    if value is not None:
        _check(key, value)
    kept, line = [], None if value is None else f"{key.name}={value}"
    for old in read_file(env_path(data)).splitlines():
        if old.partition("=")[0].strip() != key.name:
            kept.append(old)
        elif line is not None:
            kept.append(line)
            line = None
    if line is not None:
        kept.append(line)
    write_file(env_path(data), "".join(text + "\n" for text in kept))


def _pairs(text: str) -> list[tuple[str, str]]:
    lines = (line.strip() for line in text.splitlines())
    parts = (line.partition("=") for line in lines if line and not line.startswith("#"))
    return [(name.strip(), value.strip()) for name, _, value in parts]


def _check(key: Key, value: str) -> None:
    if not value.isprintable():
        raise BadConfig(f"{key.name}: the value holds a newline or another control character")
    if wrong := key.check(value):
        raise BadConfig(f"{key.name} {wrong}")
