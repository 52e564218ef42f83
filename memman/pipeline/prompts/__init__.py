"""The prompts, one file per question, and how data is quoted in them."""

import re
from collections.abc import Iterable
from functools import cache
from hashlib import blake2b
from importlib.resources import files

# What text is fenced with, however it is spelled: with blanks, a slash on either side, wide brackets.
_TAGS = "note|facts|memories|place|turn|before|user|agent|summary|question"
_FENCE = re.compile(rf"[<\ufe64\uff1c](?=[\s/\\]*(?:{_TAGS})\b)", re.IGNORECASE)


@cache
def prompt(name: str) -> str:
    """Return the instructions for the question `name`."""
    return (files(__name__) / f"{name}.md").read_text(encoding="utf-8")


def quoted(tag: str, text: str) -> str:
    """Fence `text` as data: it can neither close the fence nor open another."""
    return f"<{tag}>\n{_FENCE.sub('(', text)}\n</{tag}>"


def itemized(tag: str, items: Iterable[str]) -> str:
    """Fence `items` as data, a line each: none can pass for two."""
    return quoted(tag, "\n".join(" ".join(item.split()) for item in items))


@cache
def digest(*parts: str) -> str:
    """Return a short version derived from what a stage's output depends on."""
    return blake2b("\0".join(parts).encode(), digest_size=6).hexdigest()
