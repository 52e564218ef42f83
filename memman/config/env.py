"""The env file: KEY=VALUE lines, read as data and never by a shell."""

import os
import stat
from collections.abc import Mapping

from memman.config.keys import KEYS, Key
from memman.config.places import entry, foreign, read_file, split_lines, write_file
from memman.model.errors import BadConfig

_PREFIX = "MEMMAN_"
PROVIDER = "MEMMAN_EMBED_PROVIDER"
# What a drain that a service manager starts does not know of the network: by setting, what shells call it.
NETWORK = {
    "MEMMAN_HTTPS_PROXY": ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"),
    "MEMMAN_NO_PROXY": ("NO_PROXY", "no_proxy"),
    "MEMMAN_SSL_CERT_FILE": ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"),
}


def env_path(data: str, store: str = "") -> str:
    """Return the path of the env file, or of what one store has of its own."""
    return f"{data}/env.{store}" if store else data + "/env"


def known(name: str) -> Key:
    """Return the key called `name`, in either case, with or without the prefix. Raises BadConfig."""
    full = name.upper().replace(".", "_").replace("-", "_")
    key = KEYS.get(full) or KEYS.get(_PREFIX + full)
    if key is None:
        from memman.model.spelling import similar

        nearest = similar(full.removeprefix(_PREFIX), (key.removeprefix(_PREFIX) for key in KEYS))
        hint = f"; did you mean {_PREFIX}{nearest}?" if nearest else ": `memman config show` lists them"
        raise BadConfig(f"there is no key {name[:60]!a}{hint}")
    return key


class Settings:
    """The values in force; `faults` says what the env file does wrong."""

    def __init__(self, said: dict[str, str], faults: tuple[str, ...] = ()) -> None:
        self.said, self.faults = said, faults

    @classmethod
    def load(cls, data: str, store: str = "", values: Mapping[str, str | None] | None = None) -> "Settings":
        """Read the env file; with a store what that has of its own, or would with some `values`, holds before it.

        Raises BadConfig where a value is wrong, and where others can read the file.
        """
        settings = cls._sound(env_path(data))
        return settings.with_own(cls._sound(env_path(data, store)).replaced(values or {}).said) if store else settings

    @classmethod
    def _sound(cls, path: str) -> "Settings":
        settings = cls._read(path)
        if settings.faults:
            raise BadConfig(f"{settings.faults[0]} (in {path})")
        return settings

    @classmethod
    def read(cls, data: str) -> "Settings":
        """Read the env file to show it: what is wrong is left out and named in `faults`."""
        return cls._read(env_path(data))

    @classmethod
    def _read(cls, path: str) -> "Settings":
        try:
            info = os.stat(path)
        except FileNotFoundError:
            return cls({})
        said = {name: value for name, value in _pairs(read_file(path)) if name in KEYS and value}
        wrong = {name: fault for name, value in said.items() if (fault := _fault(KEYS[name], value))}
        good = {name: value for name, value in said.items() if name not in wrong}
        return cls(good, tuple(filter(None, (_exposure(path, info), *wrong.values()))))

    def __getitem__(self, name: str) -> str:
        return self.said.get(name) or KEYS[name].default

    def replaced(self, values: Mapping[str, str | None]) -> "Settings":
        """Return these settings with some others in their place, None for the default. Raises BadConfig."""
        said: dict[str, str | None] = {**self.said, **_checked(values)}
        return Settings({name: value for name, value in said.items() if value})

    def with_own(self, said: Mapping[str, str]) -> "Settings":
        """Return these settings with what a store has of its own in their place.

        Of another provider's settings, its key among them, a store that names its own takes nothing.
        """
        own = {name: value for name, value in said.items() if KEYS[name].own}
        chosen = own.get(PROVIDER) or self[PROVIDER]
        common = {n: v for n, v in self.said.items() if chosen == self[PROVIDER] or not KEYS[n].own}
        return Settings(common | own)

    def reach_out(self) -> None:
        """Tell this process, and those it starts, of the proxy and the certificates of the settings."""
        for name, (variable, *_) in NETWORK.items():
            if self[name]:  # the small letters come first where both are there
                os.environ.update(dict.fromkeys((variable, variable.lower()), self[name]))

    def number(self, name: str) -> float | None:
        """Return a numeric setting, None when it is unset."""
        value = self[name]
        return float(value) if value else None


def shell_only(settings: Settings) -> dict[str, str]:
    """Return what the shell says of the network and the settings do not: the variable, by setting."""
    said = {name: next(filter(os.environ.get, variables), "") for name, variables in NETWORK.items()}
    if not (said["MEMMAN_HTTPS_PROXY"] or settings["MEMMAN_HTTPS_PROXY"]):
        del said["MEMMAN_NO_PROXY"]
    return {name: variable for name, variable in said.items() if variable and not settings[name]}


def own(data: str, store: str) -> dict[str, str]:
    """Return what one store has of its own, as its file says it."""
    return {name: value for name, value in _pairs(read_file(env_path(data, store))) if name in KEYS and value}


def change(data: str, name: str, value: str | None, store: str = "") -> None:
    """Set a key, or with None remove it; comments, order and unknown lines stay. Raises BadConfig."""
    change_all(data, {name: value}, store)


def change_all(data: str, values: Mapping[str, str | None], store: str = "") -> None:
    """Set or remove several keys in one write, for all stores or for one: all of them or none. Raises BadConfig."""
    said = _checked(values)
    path = env_path(data, store)
    for name in said:
        if store and not KEYS[name].own:
            raise BadConfig(f"{name} applies to all stores: only MEMMAN_EMBED_ keys can be set for a single one")
    left = {name: line_of(name, value) for name, value in said.items() if value is not None}
    kept = []
    for old in split_lines(read_file(path)):
        name, _ = entry(old)
        if name not in said:
            kept.append(old)
        elif name in left:
            kept.append(left.pop(name))
    write_file(path, "".join(text + "\n" for text in (*kept, *left.values())))


def unknown(data: str) -> list[str]:
    """Return the names in the env file that are no keys."""
    return list(dict.fromkeys(name for name, _ in _pairs(read_file(env_path(data))) if name not in KEYS))


def drop(data: str, name: str) -> None:
    """Remove the lines of a name that is no key."""
    there = split_lines(read_file(env_path(data)))
    write_file(env_path(data), "".join(text + "\n" for text in there if entry(text)[0] != name.upper()))


def _exposure(path: str, info: os.stat_result) -> str:
    """Return who else has the file in hand, '' for nobody."""
    mode = stat.S_IMODE(info.st_mode)
    if foreign(info.st_uid):
        return f"{path} belongs to another user: change its owner to yourself"
    return f"{path} can be read by others (mode {mode:04o}): run chmod 600 on it" if mode & 0o077 else ""


def _pairs(text: str) -> list[tuple[str, str]]:
    return [pair for pair in map(entry, split_lines(text)) if pair[0]]


def line_of(name: str, value: str) -> str:
    """Write a setting so that it is read as it is, in quotes where it must be. Raises BadConfig where none will do."""
    for line in (f"{name}={value}", f'{name}="{value}"', f"{name}='{value}'"):
        if entry(line) == (name, value):
            return line
    raise BadConfig(f"{name}: the value cannot be written with both kinds of quotes")


def stale_ages(settings: Settings) -> dict[str, str]:
    """Return after how many days a memory of a category is old."""
    return dict(part.split("=") for part in settings["MEMMAN_STALE_DAYS"].split(","))


def _checked(values: Mapping[str, str | None]) -> dict[str, str | None]:
    """Return `values` by the keys' full names. Raises BadConfig."""
    said = {known(name).name: value for name, value in values.items()}
    for name, value in said.items():
        if value is not None and (wrong := _fault(KEYS[name], value)):
            raise BadConfig(wrong)
    return said


def _fault(key: Key, value: str) -> str:
    """Return what is wrong with a value, '' for nothing."""
    if not value.isprintable():
        return f"{key.name}: the value contains a newline or another control character"
    if value != value.strip():
        return f"{key.name}: the value starts or ends with a space"
    wrong = key.check(value)
    return f"{key.name} {wrong}" if wrong else ""
