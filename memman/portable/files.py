"""Reading what is to be imported: text, the front matter of Markdown, and databases of others, leaving no trace there.

Front matter is YAML as far as such files use it, written so that JSON reads each value.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import apsw

from memman.config.places import open_file
from memman.model.errors import CannotWrite, UsageError

_MAGIC = "SQLite format 3\0"
FENCE = "---"
# Bytes of a text file that is read whole.
_MOST = 1 << 30


def text(path: str) -> str:
    """Return a file's text. Raises UsageError for what is no UTF-8, and CannotWrite where it cannot be read."""
    raw = _bytes(path, _MOST)
    try:
        said = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text (byte {error.start}): convert it, then import it again") from None
    if "\0" in said:
        raise UsageError(f"{path} is not a text file")
    return said.replace("\r\n", "\n")


def beginning(path: str) -> str:
    """Return how a file begins, as far as it is text."""
    try:
        return _bytes(path, 1 << 20).decode("utf-8-sig", "replace")
    except CannotWrite:
        return ""


def is_database(path: str) -> bool:
    """Whether a file is an SQLite database."""
    return beginning(path).startswith(_MAGIC)


def tables(path: str) -> dict[str, set[str]]:
    """Return the tables of a database with their columns, none where it is no database."""
    if not os.path.isfile(path) or not is_database(path):
        return {}
    sql = "SELECT t.name, c.name FROM sqlite_master t, pragma_table_info(t.name) c WHERE t.type = 'table'"
    found: dict[str, set[str]] = {}
    with database(path) as db:
        for table, column in db.execute(sql):
            found.setdefault(table, set()).add(column)
    return found


@contextmanager
def database(path: str) -> Iterator[apsw.Connection]:
    """Open another program's database to read, with its log if there is one. Raises UsageError."""
    quoted = os.path.abspath(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    logged = os.path.exists(path + "-wal") and os.path.getsize(path + "-wal")
    how = "mode=ro" if logged else "immutable=1"
    try:
        db = apsw.Connection(f"file:{quoted}?{how}", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
        db.set_busy_timeout(5_000)
    except apsw.Error as error:
        raise UsageError(f"{path} cannot be read as a database ({error})") from error
    try:
        yield db
    except apsw.Error as error:
        raise UsageError(f"{path} cannot be read as a database ({error})") from error
    finally:
        db.close()


def _bytes(path: str, most: int) -> bytes:
    try:
        with open(path, "rb", opener=open_file) as file:
            return file.read(most)
    except OSError as error:
        raise CannotWrite(f"{path} could not be read ({error.strerror})") from error


def parted(text: str) -> tuple[dict[str, Any], str]:
    """Return the front matter of a file, none where it has none, and what follows it."""
    head, *rest = text.split("\n")
    if head.rstrip() != FENCE or FENCE not in (ends := [line.rstrip() for line in rest]):
        return {}, text
    end = ends.index(FENCE)
    return _mapping(rest[:end]), "\n".join(rest[end + 1 :])


def _mapping(lines: list[str]) -> dict[str, Any]:
    """Read names with a value, a list of items below them, or names of their own, as deep as one level."""
    found: dict[str, Any] = {}
    name = ""
    for line in lines:
        inside = line[:1] in {" ", "\t", "-"}
        text = line.strip()
        if inside and name and text.startswith("- "):
            found[name] = [*(found[name] if isinstance(found[name], list) else []), _value(text[2:])]
        elif inside and name and ":" in text:
            below, _, said = text.partition(":")
            found[name] = {**(found[name] if isinstance(found[name], dict) else {}), below: _value(said)}
        elif ":" in text and not text.startswith("#"):
            name, _, said = text.partition(":")
            found[name] = _value(said)
    return found


def _value(said: str) -> Any:
    said = said.strip()
    try:
        return json.loads(said)
    except ValueError:
        return said.strip("'\"")
