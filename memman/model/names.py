"""Whether a text mentions a name, however that is cased, accented or joined."""

import re
from functools import lru_cache

from memman.model.terms import folded, match_all, name, query_terms, unspaced

# A name this long may stand in the plural, or in a genitive without an apostrophe.
_INFLECTED = 4


def mentions(text: str, called: str) -> bool:
    """Whether `text` has a name as a whole: Kestrel in Kestrel-Dienst and in Kestrel服务, but not in Kestrel-7."""
    shape = _shape(name(called))
    return shape is not None and shape.search(folded(text)) is not None


def expression(called: str) -> str:
    """Write the FTS5 expression for the memories that may mention a name, '' where nothing of it is indexed."""
    said = name(called)
    if any(map(unspaced, said)):
        return f"{{text terms}} : ({match_all(query_terms(called))})"
    return f'{{text terms}} : "{said}"' if said else ""


@lru_cache(256)
def _shape(said: str) -> re.Pattern[str] | None:
    if not said:
        return None
    words = r"[\W_]{1,3}".join(map(re.escape, said.split(" ")))
    if any(map(unspaced, said)):
        return re.compile(words)
    letter = "[a-z0-9]" if said.isascii() else r"[^\W_]"
    plural = "s?" if len(said) >= _INFLECTED and said[-1].isalpha() else ""
    return re.compile(rf"(?<!{letter}){words}{plural}(?!{letter}|[-_]\d)")
