"""Stores of each kind behind the box of a test: by itself, on a server, synced by a folder.

    @over("sqlite", "postgres", "folder")
    def test_something(box, kind):
        ...                     # the default store of `box` is of that kind
        kind.agree()            # another machine that joins has the same

On the server a person has a plain role of their own, whom row-level security binds. The folder is one that a program
would keep the same on all machines.
"""

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any

import pytest

from memman.config import synced
from memman.config.env import env_path
from memman.sync.folder import Folder, Key
from tests.support.box import Box
from tests.support.machines import differing, done, machine
from tests.support.postgres import Database

KINDS = ("sqlite", "postgres", "folder")
_COPYING = Lock()
_NUMBERS = count()


def over(*kinds: str) -> pytest.MarkDecorator:
    """Have a test that asks for `kind` run over stores of some kinds."""
    assert set(kinds) <= set(KINDS), kinds
    return pytest.mark.parametrize("kind", kinds, indirect=True)


class Alone:
    """A store by itself: what asks for other machines finds none."""

    name = "sqlite"

    def __init__(self, box: Box) -> None:
        self.box = box

    def __bool__(self) -> bool:
        """Whether other machines share the store."""
        return self.name != "sqlite"

    def join(self, box: Box) -> None:
        """Have the default store of a box be the shared one."""

    @contextmanager
    def parted(self, copy: Path) -> Iterator[None]:  # noqa: ARG002 - others need it
        """Have a copy of the data folder share with nobody but a copy of what this one shares with."""
        yield

    def meet(self) -> None:
        """Bring the other machine and this one up to date."""

    def agree(self) -> None:
        """Assert that another machine has the same."""

    def beyond(self) -> bytes:
        """Return every byte that is kept of the store elsewhere, without its locks."""
        return b""

    @cached_property
    def other(self) -> Box:
        """Another machine, which joins where it is first asked for."""
        joined = machine(self.box, "elsewhere")
        self.join(joined)
        return joined


class Server(Alone):
    """A store on a server."""

    name = "postgres"

    def __init__(self, box: Box, database: Database, dsn: str) -> None:
        super().__init__(box)
        self.database, self.dsn = database, dsn
        self.join(box)

    def join(self, box: Box) -> None:
        """Connect it; the first makes the store."""
        done(box, "team", "connect", "default", "--dsn", "-", "--create", input=f"{self.dsn}\n")

    @contextmanager
    def parted(self, copy: Path) -> Iterator[None]:
        """Give it a server of its own: a copy of the database, under another name."""
        cluster, name = self.database.cluster, f"{self.database.name}_copy{next(_NUMBERS)}"
        with _COPYING:  # nobody may be connected to what is copied
            cluster.execute(f"CREATE DATABASE {name} TEMPLATE {self.database.name}")
        own = Path(env_path(str(copy), "default"))
        if own.exists():
            own.write_text(re.sub(rf"dbname={self.database.name}\b", f"dbname={name}", own.read_text()))
        try:
            yield
        finally:
            cluster.execute(f"DROP DATABASE {name} WITH (FORCE)")

    def meet(self) -> None:
        """Have each tell the server what it did, and hear of the other."""
        for box in (self.box, self.other, self.box):
            done(box, "scheduler", "drain")

    def agree(self) -> None:
        """Have another machine fetch the store, and compare what both know."""
        self.meet()
        assert differing(self.box, self.other) == []

    def beyond(self) -> bytes:
        """Return what the tables of the server hold, and the other machine's files."""
        tables = self.database.sql(
            r"SELECT tablename FROM pg_tables WHERE schemaname = 'memman' AND tablename !~ '_\d+$' ORDER BY 1"
        )
        said = [line for table in tables for line in self.database.sql(f"SELECT t::text FROM memman.{table} t")]
        return "\n".join(map(str, said)).encode() + _files(self.other.data)


class Synced(Alone):
    """A store that is synced by a folder."""

    name = "folder"

    def __init__(self, box: Box, folder: Path) -> None:
        super().__init__(box)
        self.folder = folder
        folder.mkdir()
        self.join(box)

    def join(self, box: Box) -> None:
        """Sync it, with the key of the first."""
        key = self.box.data / "sync/key"
        given: dict[str, Any] = {"input": key.read_text()} if box is not self.box else {}
        done(box, "sync", "--folder", str(self.folder), *(("--key", "-") if given else ()), **given)

    @contextmanager
    def parted(self, copy: Path) -> Iterator[None]:
        """Give it a copy of the folder."""
        folder = copy.with_name(f"{copy.name}-folder")
        shutil.copytree(self.folder, folder)
        if synced.names(str(copy)):
            synced.choose(str(copy), "default", str(folder))
        try:
            yield
        finally:
            shutil.rmtree(folder)

    def meet(self) -> None:
        """Make a round on each, and one more here for what the other has settled."""
        for box in (self.box, self.other, self.box):
            done(box, "sync")

    def agree(self) -> None:
        """Compare what both export after a round."""
        self.meet()
        assert differing(self.box, self.other) == []

    def beyond(self) -> bytes:
        """Return what the segments hold, unlocked, and the other machine's files."""
        key, folder = Key.load(str(self.box.data)), Folder(str(self.folder))
        assert key
        sealed = (folder.read(host, name.file) for host, names in folder.segments.items() for name in names)
        return b"\n".join(key.open(one).encode() for one in sealed) + _files(self.other.data)


def _files(data: Path) -> bytes:
    return b"\0".join(
        path.read_bytes() for path in data.rglob("*") if path.is_file() and not path.name.startswith("env")
    )


def made(name: str, box: Box, asked: Callable[[str], Any]) -> Alone:
    """Have the default store of a box be of a kind; `asked` gives other fixtures."""
    match name:
        case "postgres":
            return Server(box, asked("database"), asked("dsn"))
        case "folder":
            return Synced(box, box.data.parent / "shared")
        case _:
            return Alone(box)
