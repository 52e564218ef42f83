"""What a person rejected, kept as a digest of its words: nobody but the user may propose it again."""

from collections.abc import Iterable
from hashlib import blake2b

import apsw

from memman.model.terms import wording

# How the log names rejected texts, and the part of its state that says since when one is.
PREFIX, PART = "rejected:", "rejected"


def digest(text: str) -> bytes:
    """Return the digest of what a text says, in whatever case and punctuation."""
    return blake2b(" ".join(wording(text.casefold())).encode("utf-8", "replace"), digest_size=16).digest()


def named(text: str) -> str:
    """Return what the log names a rejected text by."""
    return PREFIX + digest(text).hex()


def among(db: apsw.Connection, texts: Iterable[str]) -> set[str]:
    """Return those of `texts` that were rejected."""
    sql = "SELECT 1 FROM rejected WHERE digest = ?"
    return {text for text in texts if db.execute(sql, (digest(text),)).get}
