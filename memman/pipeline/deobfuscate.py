"""A text as a model may read it: what is hidden, spelled with other letters or encoded, brought to light."""

import base64
import binascii
import html
import re
import unicodedata
from collections.abc import Iterator

from memman.model.text import SELECTORS, UNSEEN

_FLAG = "\U0001f3f4"
_TAGS = re.compile("[\U000e0020-\U000e007e]{3,}")
_SELECTED = re.compile(f"[{''.join(map(chr, SELECTORS))}]{{4,}}")
_BITS = re.compile("[\u200b-\u200f\u2060-\u2064\ufeff]{8,}")
_OVERRIDES = re.compile("[\u202d\u202e]")
# Latin letters as Cyrillic and Greek write those that look like them.
_ALIKE = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0445\u0443\u0456\u0458\u0455\u0501\u04bb\u0410\u0412\u0415\u041a\u041c\u041d"
    "\u041e\u0420\u0421\u0422\u0425\u0406\u03b1\u03b5\u03b9\u03bf\u03c1\u03c5\u03bd\u0391\u0392\u0395\u0397\u0399"
    "\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a7",
    "aeopcxyijsdhABEKMHOPCTXIaeiopuvABEHIKMNOPTX",
)
_SPACED = re.compile(r"\b(?:\w[ ._*-]){4,}\w\b")
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/]{24,4096}={0,2}(?![A-Za-z0-9+/])")
_HEX = re.compile(r"(?<![0-9A-Fa-f])(?:[0-9A-Fa-f]{2}[ :]?){12,2048}(?![0-9A-Fa-f])")
_CODES = re.compile(r"(?:\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2}){6,}")
_CODE = re.compile(r"(?:\\x|%|\\u)([0-9A-Fa-f]{2,4})")
_LEAST_READABLE = 0.95


def plain(text: str) -> str:
    """Return what a reader sees of `text`: nothing that could carry a message past them."""
    if text.isascii():
        return text
    return "".join([c for c in text.translate(UNSEEN) if c.isspace() or unicodedata.category(c) not in {"Cf", "Co"}])


def hidden(text: str) -> list[str]:
    """Return the messages that stand in `text` in characters nobody sees, '' for one that cannot be read."""
    if text.isascii():
        return []
    found = ["".join(chr(ord(c) - 0xE0000) for c in run[0]) for run in _TAGS.finditer(text) if not _flagged(run)]
    found += [_selected(run) for run in _SELECTED.findall(text)]
    return found + [""] * bool(_BITS.search(text) or _OVERRIDES.search(text))


def readings(text: str) -> Iterator[str]:
    """Yield `text` as it looks, and what is encoded in it."""
    looks = unicodedata.normalize("NFKC", html.unescape(plain(text)))
    yield looks
    if not looks.isascii() and (latin := looks.translate(_ALIKE)) != looks:
        yield latin
    if _SPACED.search(looks):
        yield _SPACED.sub(lambda run: re.sub(r"[ ._*-]", "", run[0]), looks)
    yield from _decoded(looks)


def _flagged(run: re.Match[str]) -> bool:
    """Whether the tags are a flag's: England, Scotland and Wales are written so."""
    return run.string[: run.start()].endswith(_FLAG)


def _selected(run: str) -> str:
    """Read a run of variation selectors as the bytes it stands for."""
    codes = (ord(c) - 0xFE00 if ord(c) < 0xE0100 else ord(c) - 0xE0100 + 16 for c in run)  # noqa: PLR2004 - two blocks
    return _readable(bytes(codes))


def _decoded(text: str) -> Iterator[str]:
    for run in _BASE64.findall(text):
        try:
            yield _readable(base64.b64decode(run + "=" * (-len(run) % 4)))
        except binascii.Error:
            continue
    for run in _HEX.findall(text):
        yield _readable(bytes.fromhex(re.sub(r"[ :]", "", run)))
    for run in _CODES.findall(text):
        yield "".join(chr(int(code, 16)) for code in _CODE.findall(run))


def _readable(raw: bytes) -> str:
    """Return bytes as text, '' for what is not text."""
    text = raw.decode("utf-8", "replace")
    told = sum(c.isalnum() or c.isspace() or c in ".,:;!?'\"/-_()" for c in text)
    return text if told >= _LEAST_READABLE * len(text) else ""
