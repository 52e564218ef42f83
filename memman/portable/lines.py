"""memman's own format: a header, and below it a JSON object a line: a record of the store, as its log has it."""

import base64
import json
from collections.abc import Iterator
from typing import Any

from memman import __version__
from memman.clock import now_ms
from memman.embed.codes import unpacked
from memman.model.errors import UsageError
from memman.model.records import Fingerprint
from memman.model.vocabulary import BUILTIN, JUDGE
from memman.portable import files
from memman.portable.incoming import Export, Format, Found, Vector
from memman.secrets import masked
from memman.store.records import Record
from memman.store.shapes import harmless
from memman.store.shapes import wrong as misshapen
from memman.store.sqlite import record_log
from memman.store.sqlite.catalogue import Catalogue

VERSION = 2
NAME = "memman export"
_LACKS = ("notes that waited in the queue, settings and backups",)
# The only name in a line that is no record.
_VECTOR = "vector"
_ELSEWHERE = f"e.provider NOT IN ('{BUILTIN}', '{JUDGE}')"
_LEFT_OUT = f"SELECT provider || '/' || model FROM embedder e WHERE {_ELSEWHERE} ORDER BY id"
_VECTORS = (
    "SELECT m.uid, e.provider, e.model, e.dimension, v.planes, v.squares FROM vector v JOIN memory m ON m.id = v.memory"
    f" JOIN embedder e ON e.id = v.embedder WHERE {_ELSEWHERE} ORDER BY m.id, e.id"
)


def written(store: str, catalogue: Catalogue, *, vectors: bool = False) -> Iterator[str]:
    """Yield the header and every line of a store, without secrets."""
    db = catalogue.reader.db
    left_out = [] if vectors else [name for (name,) in db.execute(_LEFT_OUT)]
    count = db.execute("SELECT count(*) FROM record WHERE memory <> ''").get
    about = {"by": __version__, "at": now_ms(), "store": store, "left_out": left_out, "records": count}
    yield _line({"format": NAME, "version": VERSION, **about})
    for record in (one for one in record_log.every(db) if one.memory):  # of others there is only the number
        said = harmless(record, masked)
        yield _line({name: value for name, value in said._asdict().items() if value != ""} | {"body": said.said})
    for memory, provider, model, dimension, planes, squares in db.execute(_VECTORS) if vectors else ():
        yield _line({_VECTOR: [memory, provider, model, dimension, base64.b64encode(planes).decode(), squares]})


def ours(first: str) -> bool:
    """Whether a file that begins with this line is of this format, whatever its version."""
    try:
        said = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(said, dict) and said.get("format") == NAME


def read(path: str, text: str) -> Export:
    """Read a file's text, but for lines that are wrong. Raises UsageError for what is not of this format."""
    lines = text.split("\n")
    if not ours(lines[0]):
        raise UsageError(f"{path} is not an export of memman: its first line does not say so")
    about = json.loads(lines[0])
    if about.get("version") != VERSION:
        raise UsageError(
            f"{path} is of version {about.get('version')!r} of the format, and this memman reads version {VERSION}:"
            " export it anew, or upgrade memman; nothing was imported"
        )
    found = Export(about)
    for number, line in enumerate(lines[1:], 2):
        if line.strip() and (wrong := _taken(found, line)):
            found.wrong.append(f"line {number} of {path}: {wrong}")
    if found.wrong and not found.records:
        raise UsageError(f"{found.wrong[0]}; nothing was imported")
    if isinstance(count := about.get("records"), int) and len(found.records) + len(found.wrong) < count:
        raise UsageError(f"{path} is cut short: {len(found.records)} of {count} records; nothing was imported")
    return found


def _taken(found: Export, line: str) -> str:
    """Take in a line; return what is wrong with it, '' for nothing."""
    try:
        said = json.loads(line)
        if _VECTOR in said:
            memory, provider, model, dimension, planes, squares = said[_VECTOR]
            made = Fingerprint(masked(provider), masked(model), dimension)
            vector = Vector(str(memory), made, base64.b64decode(planes), squares + 0)
            unpacked(vector.planes, dimension)
            found.vectors.append(vector)
        else:
            body = said.pop("body")
            record = Record(**said, body=_line(body).rstrip("\n") if body else "")
            if wrong := misshapen(record, now_ms()):
                return wrong
            found.records.append(record)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError, MemoryError):
        return "it is not what memman writes"
    return ""


def _line(said: Any) -> str:
    return json.dumps(said, ensure_ascii=False, separators=(",", ":")) + "\n"


def _fits(path: str) -> bool:
    return ours(files.beginning(path).partition("\n")[0])


def _found(path: str) -> Found:
    export = read(path, files.text(path))
    left_out = ", ".join(map(str, export.header.get("left_out", ())))
    vectors = (f"vectors of {left_out}: `memman embed reembed` makes them again",) if left_out else ()
    return Found(lacks=(*export.wrong, *_LACKS, *vectors), export=export)


FORMAT = Format("memman", "an export of memman (JSON lines)", _fits, _found)
