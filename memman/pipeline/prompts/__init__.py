"""The prompts, one file a question, and how data is quoted in them."""

from functools import cache
from hashlib import blake2b
from importlib.resources import files


@cache
def prompt(name: str) -> str:
    """Return the instructions for the question `name`."""
    return (files(__name__) / f"{name}.md").read_text(encoding="utf-8")


def quoted(tag: str, text: str) -> str:
    """Fence `text` as data: it can neither close the fence nor open another."""
    inner = text.replace("<", "(").replace(">", ")") if f"{tag}>" in text.lower() else text
    return f"<{tag}>\n{inner}\n</{tag}>"


@cache
def digest(*parts: str) -> str:
    """Return a short version derived from what a stage's output depends on."""
    return blake2b("\0".join(parts).encode(), digest_size=6).hexdigest()
