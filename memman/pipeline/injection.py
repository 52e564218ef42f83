"""Text that is written to steer an agent: hidden or encoded, by its structure, or as the judge reads it."""

import base64
import binascii
import html
import re
import unicodedata
from collections.abc import Iterator, Sequence

from memman.judge.judge import Judge
from memman.model.records import Fact
from memman.model.text import SELECTORS, UNSEEN, without_questions

# Characters looked at: more than a fact may have.
LONGEST = 8_000
HIDES, SPEAKS, STEERS = "hides text", "speaks as system or assistant", "reads as if written to steer agents"
# What the judge says of a text that is.
_PROBABLY = 2
_COMMENT = re.compile(r"<!--(.*?)(?:-->|\Z)", re.DOTALL)
# A mark that stands alone in a span of code is spoken about.
_NAMED = re.compile(r"`[^`\s]{1,40}`")
# How templates of chats, their JSON, transcripts, and calls of tools mark who speaks.
_ROLES = re.compile(
    r"""<\|/?(?:system|im_start|im_end|assistant|user|start_header_id|end_header_id|eot_id|endoftext)\|>
    |\[/?(?:INST|SYS)\]|<</?SYS>>|<(?:start|end)_of_turn>
    |<\s?/?\s?(?:memman-memory|system-reminder|hook_context|system|assistant|function_calls?|invoke|tool_calls?|tool_use
      |tool_result|function_results?|antml:\w+)\b[^<>\n]{0,100}>
    |["']role["']\s*:\s*["'](?:system|developer|assistant|user)["']\s*,\s*["'](?:content|text|parts)["']\s*:
    |["'](?:tool|function|name|recipient_name)["']\s*:\s*["'][\w.-]{1,60}["']\s*,\s*["'](?:arguments|input|parameters)["']\s*:
    |^\W{0,8}(?-i:SYSTEM|DEVELOPER)(?:[ ](?-i:MESSAGE|PROMPT))?\s*:\s
    |^\W{0,8}(?:human|user)\s*:[^\n]{0,400}\n{1,3}\W{0,8}assistant\s*:
    |^\W{0,8}assistant\s*:[^\n]{0,400}\n{1,3}\W{0,8}(?:human|user)\s*:""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
# How most published attacks begin: said to no person, and the judge is often not sure of it.
_OVERRULES = re.compile(
    r"\b(?:ignore|disregard|forget|override)\s+(?:\w+\s+){0,3}(?:previous|prior|above|earlier|preceding)\s+(?:\w+\s+){0,2}"
    r"(?:instructions?|prompts?|directions|commands|guidelines)\b",
    re.IGNORECASE,
)


def planted(text: str) -> str:
    """Say what in the structure of a text shows that it was put before an agent, '' where nothing does."""
    text = text[:LONGEST]
    if hidden(text):
        return HIDES
    reads = [*readings(text)]
    if any(_ROLES.search(_NAMED.sub("", read)) for read in reads):
        return SPEAKS
    return STEERS if any(map(_OVERRULES.search, reads)) else ""


def steering(judge: Judge, texts: Sequence[str]) -> list[str]:
    """Say of each text why it is taken for an order to agents, '' where it is not."""
    found = [planted(text) for text in texts]
    asked = {text: [*_read(text)] for text, why in zip(texts, found, strict=True) if not why}
    every = list(dict.fromkeys(read for reads in asked.values() for read in reads))
    bands = dict(zip(every, judge.steering(every), strict=True))
    told = {text for text, reads in asked.items() if any(bands[read] == _PROBABLY for read in reads)}
    return [why or (STEERS if text in told else "") for text, why in zip(texts, found, strict=True)]


def parts(fact: Fact) -> list[str]:
    """Return all of a fact that an agent may read; names and keywords also joined, for each may be part of an order."""
    names = (*fact.entities, *without_questions(fact.keywords))
    beside = (fact.summary, " ".join(names), *(name for name in names if " " in name))
    return [fact.text, *(one for one in dict.fromkeys(beside) if one and one not in fact.text)]


def _read(text: str) -> Iterator[str]:
    """Yield a text as the judge is to read it: as it looks, decoded, and what its comments say."""
    for read in readings(text[:LONGEST]):
        yield from filter(str.strip, (_COMMENT.sub("", read), *_COMMENT.findall(read)))


# Behind it tags are of a flag: England, Scotland and Wales are written so.
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
    found = [
        "".join(chr(ord(c) - 0xE0000) for c in run[0])
        for run in _TAGS.finditer(text)
        if not text[: run.start()].endswith(_FLAG)
    ]
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
