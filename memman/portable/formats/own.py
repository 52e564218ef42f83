"""memman's own export."""

from memman.portable import files, lines
from memman.portable.incoming import Format, Found

_LACKS = ("notes that waited in the queue, settings and backups",)


def _fits(path: str) -> bool:
    return lines.ours(files.beginning(path).partition("\n")[0])


def _read(path: str) -> Found:
    export = lines.read(path, files.text(path))
    left_out = ", ".join(map(str, export.header.get("left_out", ())))
    vectors = (f"vectors of {left_out}: `memman embed reembed` makes them again",) if left_out else ()
    return Found(lacks=(*export.wrong, *_LACKS, *vectors), export=export)


FORMAT = Format("memman", "an export of memman (JSON lines)", _fits, _read)
