"""Printing: JSON as it is, text on clean lines, so that nothing stored can steer a terminal."""

import json
import os
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from memman.belief import sourced
from memman.config.command import runnable
from memman.model.text import SHORT_ID, age, clean, escaped, outdated
from memman.secrets.leaks import cleaned

if TYPE_CHECKING:
    from memman.commands.place import Opened

T = TypeVar("T")
# Told how much is done and how much there is in all.
Progress = Callable[[int, int], None]
WIDE = 65_536
_GAP, _BELOW = "  ", "    "
# Columns of a terminal in which a text is still read easily, and of one that does not say how many it has.
_NARROW, _COLUMNS = 30, 80
# Rows that are counted beyond those of a list that is cut.
_COUNTED = 1000
_BOLD = "\x1b[1m{}\x1b[0m"


def as_data(record: Any) -> None:
    """Print JSON."""
    sys.stdout.write(data_text(record))


def data_text(record: Any) -> str:
    """Write a record as JSON without secrets, what a reader would not see of it as escapes."""
    return escaped(json.dumps(cleaned(_plain(record)), ensure_ascii=False, indent=2)) + "\n"


def _plain(record: Any) -> Any:
    """Make dicts of records that are classes, and lists of tuples, at any depth."""
    if is_dataclass(record) and not isinstance(record, type):
        record = asdict(record)
    elif hasattr(record, "_asdict"):
        record = record._asdict()
    if isinstance(record, Mapping):
        return {name: _plain(value) for name, value in record.items()}
    return [_plain(one) for one in record] if isinstance(record, (list, tuple)) else record


def printed(record: Any, *, as_json: bool) -> bool:
    """Print a record as JSON where that is asked for; whether it was."""
    if as_json:
        as_data(record)
    return as_json


def text(line: str) -> None:
    """Print one line, whole."""
    sys.stdout.write(clean(line, WIDE) + "\n")


def lines(said: Iterable[str]) -> None:
    """Print lines."""
    for line in said:
        text(line)


def bold(line: str) -> str:
    """Return a line in bold letters, where standard output is a terminal that has them."""
    plain = not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return line if plain else _BOLD.format(line)


def table(rows: Iterable[Sequence[object]], longest: int = 200, heads: Sequence[str] = ()) -> None:
    """Print rows in columns; only the last is cut, or at a terminal, where `heads` stand above, wrapped."""
    cells = [[clean("" if cell is None else str(cell), longest) for cell in row] for row in rows]
    wide = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    filled = [any(column) for column in zip(*cells, strict=True)]
    headed = bool(wide and heads and cells)
    if headed:
        cells = [[*heads], *cells]
    widths = [max(map(len, column)) * some for column, some in zip(zip(*cells, strict=True), filled, strict=True)]
    for number, row in enumerate(cells):
        padded = [cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=False) if width]
        for line in _wrapped(_GAP.join([*padded, ""]), row[-1], wide):
            sys.stdout.write((bold if headed and not number else str)(clean(line.rstrip(), WIDE)) + "\n")


def _wrapped(before: str, last: str, wide: int) -> list[str]:
    """Return the lines of a row, its last cell wrapped at a width, below the others where little room is left."""
    wrap = partial(textwrap.wrap, break_on_hyphens=False)
    room = wide - len(before)
    if not wide or len(last) <= room:
        return [before + last]
    if room < _NARROW:
        return [before, *wrap(last, wide, initial_indent=_BELOW, subsequent_indent=_BELOW)]
    first, *rest = wrap(last, room)
    return [before + first, *(" " * len(before) + line for line in rest)]


def listed(find: Callable[[int], T], limit: int, count: Callable[[T], int] = len) -> T:  # type: ignore[assignment]
    """Return what `find` gives for a limit, and say on standard error where that is not all."""
    found = find(limit + _COUNTED)
    there = count(found)
    if there <= limit:
        return found
    complain(f"{limit} of {there if there < limit + _COUNTED else f'more than {there}'}: --limit lists more")
    return find(limit)


def pairs(record: Mapping[str, object]) -> None:
    """Print names and values, those that have one."""
    rows = [(name, value) for name, value in record.items() if value not in {None, ""}]
    table(rows, WIDE)


def apart(records: Iterable[dict[str, Any]], write: Callable[[dict[str, Any]], None]) -> None:
    """Print records as `write` does each, with an empty line between them."""
    for number, record in enumerate(records):
        if number:
            text("")
        write(record)


def when(ms: int | None) -> str:
    """Write a moment in local time."""
    return "" if ms is None else time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(ms / 1000))


def ago(ms: int) -> str:
    """Write how long ago a moment was."""
    return age(ms, time.time_ns() // 1_000_000)


def past(ms: int) -> str:
    """Write in a sentence when a moment was."""
    passed = ago(ms)
    return "just now" if passed == "now" else f"{passed} ago"


def freshness(record: Mapping[str, Any]) -> list[str]:
    """Say of a memory what makes it doubtful whether it still holds, as recall does; of a note nothing does."""
    return list(outdated(record.get("ends_at"), record.get("file_changed_at"), time.time_ns() // 1_000_000))


def labelled(record: Mapping[str, Any], *more: str) -> str:
    """Write whose word a memory is, what makes it doubtful, and what more there is to say of it."""
    marks = {name: bool(record.get(name)) for name in ("unconfirmed", "verified")}
    source = sourced(record["source"], **marks)
    return ", ".join(filter(None, (source, *freshness(record), *more)))


def holds(record: Mapping[str, Any]) -> str:
    """Write where a memory holds; of what is none, nothing."""
    return "" if "scope" not in record else f"in {record['scope']}" if record["scope"] else "everywhere"


def did(said: str, otherwise: str = "") -> Callable[[Iterable[Mapping[str, Any]]], None]:
    """Return what prints records of what was changed: `said` of those that were, of others `otherwise`, or already."""
    otherwise = otherwise or f"already {said}"
    return lambda records: table([acted(said if one["changed"] else otherwise, one) for one in records])


def named(record: Mapping[str, Any]) -> str:
    """Write a memory, or a note that waits, on the line of a question about it."""
    return "  ".join((short(record["uid"], note=record.get("kind") == "note"), labelled(record), record["text"]))


def cells(record: Mapping[str, Any], *more: object) -> tuple[object, ...]:
    """Return the row of a memory: id, age, category, whose word it is and where it holds, `more`, and its text."""
    shown = (short(record["uid"]), ago(record["valid_from"]), record["category"])
    return (*shown, labelled(record, holds(record)), *more, record["text"])


def memories(records: Iterable[Mapping[str, Any]], **more: Callable[[Any], object]) -> None:
    """Print a table of memories; `more` are further columns by name, with what makes each of a memory."""
    rows = [cells(record, *(make(record) for make in more.values())) for record in records]
    table(rows, heads=("id", "age", "category", "source", *more, "text"))


def acted(said: str, record: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the row that says what a verb did to a memory, or a note that waits."""
    return said, short(record["id"], note=record.get("kind") == "note"), ", ".join(freshness(record)), record["text"]


def tallied(counts: Mapping[str, object]) -> str:
    """Write a few counts on one line."""
    return ", ".join(f"{count} {name}" for name, count in counts.items()) or "none"


def size(count: int) -> str:
    """Write a number of bytes."""
    return f"{count / 1_048_576:.1f} MiB" if count >= 1_048_576 else f"{count / 1024:.1f} KiB"  # noqa: PLR2004 - 1 MiB


def short(uid: str, *, note: bool = False) -> str:
    """Return the id to show: a memory's beginning, a note's ending (where its chance is)."""
    return uid[-SHORT_ID:] if note else uid[:SHORT_ID]


def complain(line: str) -> None:
    """Print one line to standard error."""
    sys.stderr.write(f"memman: {clean(runnable(line), WIDE)}\n")


def aged(store: "Opened", records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the records of a store as they are, or with how old they are where its server cannot be asked."""
    from memman.config.places import reach_path
    from memman.sqlite import there
    from memman.store.reach import told

    said = told(store.path, time.time_ns() // 1_000_000) if there(reach_path(store.path)) else ""
    if not said:
        return list(records)
    complain(said)
    return [{**record, "replica": said} for record in records]


def unseen(done: int, total: int) -> None:
    """Nobody looks on."""


@contextmanager
def bar(label: str, kept: str) -> Iterator[Progress]:
    """Show a progress bar at a terminal; `kept` is what a person is told who breaks the work off by Ctrl-C."""
    try:
        with _shown(label) as progress:
            yield progress
    except KeyboardInterrupt:
        complain(f"{label} was interrupted: {kept}")
        raise


@contextmanager
def _shown(label: str) -> Iterator[Progress]:
    if not sys.stderr.isatty():
        yield unseen
        return
    from tqdm import tqdm

    columns = os.get_terminal_size(sys.stderr.fileno()).columns
    with tqdm(desc=label, leave=False, ncols=None if columns else _COLUMNS) as shown:

        def progress(done: int, total: int) -> None:
            shown.total = total
            shown.update(done - shown.n)

        yield progress
