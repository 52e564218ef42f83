"""The rules in `rules.toml`, which says what they are made of."""

import os
import re
from collections.abc import Iterator
from functools import cached_property

from memman.secrets.checks import Check, check

FILE = os.path.join(os.path.dirname(__file__), "rules.toml")
# Where the words of a rule are looked for that decide whether any rule is loaded at all.
PLACES = ("anywhere", "within", "beside", "command")
_FRAGMENT = r"\(\?&(\w+)(?: ([@\d]+))?\)"
_ENTROPY = "entropy 2.5"


class Rule:
    """One class of secret: the words without which it is not tried, what it looks for, an example of each kind."""

    def __init__(self, name: str, row: dict[str, str]) -> None:
        self.name, self.row = name, row
        self.words = [word for place in PLACES if place in row for word in row[place].lower().split("|")]

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Return what it looks for."""
        token = self.row.get("token")
        start = f"(?:(?&start)|(?={self.row['glued']}))" if "glued" in self.row else "(?&start)"
        written = self.row["pattern"] if token is None else f"{start}(?P<secret>{token})(?&end)"
        return re.compile(_whole(written), re.ASCII)

    @cached_property
    def likely(self) -> Check:
        """Return what decides whether a match is a secret."""
        return check(self.row.get("check", _ENTROPY if "token" in self.row else ""))

    @property
    def caught(self) -> str:
        """Return an example that it must catch."""
        return _example(self.row["caught"])

    @property
    def spared(self) -> str:
        """Return an example that it must not catch."""
        return _example(self.row["spared"])


def _whole(written: str) -> str:
    """Put fragments in the place of their names."""
    return re.sub(_FRAGMENT, lambda found: _whole(FRAGMENTS[found[1]].replace("@", found[2] or "@")), written)


def _example(written: str) -> str:
    return written.replace("¦", "").replace("¶", "\n")


def tables() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the tables of the file by name. It is plain TOML; `tomllib` would take six times as long."""
    with open(FILE, encoding="utf-8") as source:
        for table in source.read().split("\n[")[1:]:
            name, *lines = table.split("\n")
            pairs = (line.partition(" = ") for line in lines if line and line[0] != "#")
            yield name.strip("[]"), {key: _literal(value) for key, _, value in pairs}


def _literal(value: str) -> str:
    return value[3:-3] if value.startswith("'''") else value[1:-1]


_TABLES = tables()
FRAGMENTS = next(_TABLES)[1]
# What somebody calls private is no class of secrets, and dropped before any is looked for.
PRIVATE, *RULES = (Rule(name, row) for name, row in _TABLES)
