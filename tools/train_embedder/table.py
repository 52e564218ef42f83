"""The table of token vectors: reading and writing it. `memman/embed/static.py` documents the format."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import apsw
import numpy as np
import student

from memman.embed.static import MAX_SCALE, pieces, words

# 4 KiB: 19 tokens a page, the quickest of 1 to 64 KiB for a cold query.
PAGE_SIZE = 4096


def row(text: str, tokens: Mapping[str, int]) -> list[int]:
    """Return the numbers of the tokens that `text` is the sum of."""
    return [token for word in words(text) for token in pieces(word, tokens.get)]


def read(path: Path) -> tuple[list[str], student.Array]:
    """Return the tokens of a table in key order, and their vectors (tokens, n) in the table's integer unit."""
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    rows = list(db.execute("SELECT tok, scale, v FROM token ORDER BY tok"))
    db.close()
    scales = np.array([scale for _, scale, _ in rows], np.float32)
    halves = np.frombuffer(b"".join(blob for _, _, blob in rows), np.uint8).reshape(len(rows), -1)
    nibbles = np.concatenate([halves & 15, halves >> 4], axis=1).astype(np.float32)
    return [token for token, _, _ in rows], scales[:, None] * (2 * nibbles - student.LEVELS)


def write(path: Path, meta: Mapping[str, str], tokens: Sequence[str], vectors: student.Array) -> None:
    """Round and write a table in key order, packed, so that equal input gives equal bytes."""
    path.unlink(missing_ok=True)
    scales, nibbles = student.quantise(vectors, MAX_SCALE)
    half = vectors.shape[1] // 2
    blobs = nibbles[:, :half] | nibbles[:, half:] << 4
    rows = sorted(zip(tokens, scales.tolist(), map(bytes, blobs), strict=True))
    db = apsw.Connection(str(path))
    for statement in (
        f"PRAGMA page_size = {PAGE_SIZE}",
        "PRAGMA journal_mode = DELETE",
        "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        "CREATE TABLE token (tok TEXT PRIMARY KEY, scale INTEGER NOT NULL, v BLOB NOT NULL) WITHOUT ROWID",
    ):
        list(db.execute(statement))
    with db:
        db.executemany("INSERT INTO meta VALUES (?, ?)", sorted(meta.items()))
        db.executemany("INSERT INTO token VALUES (?, ?, ?)", rows)
    db.execute("VACUUM")
    db.close()
