"""What a long prompt is about, as far as the store can tell: the passages in which it names what is known.

A question that stands amid a long text is lost when the whole is looked up.
"""

from memman.config.places import store_path
from memman.hot.bearing import GENERIC
from memman.model.terms import query_terms, stem
from memman.store.sqlite.reader import SqliteReader

# Words of a prompt that is looked up as it is, and of a passage at most; of a passage at least.
SHORT = 40
_PASSAGE = 12
# Passages that are looked up.
MOST = 2
_ENOUGH = 200


def gist(data: str, store: str, prompt: str) -> list[str]:
    """Return what to look up: a short prompt itself, or else its most telling passages."""
    if len(prompt.split()) <= SHORT:
        return [prompt]
    reader = SqliteReader.open(store_path(data, store))
    if reader is None:
        return [prompt]
    weights = [(_weight(reader, passage), passage) for passage in passages(prompt)]
    reader.close()
    weights.sort(key=lambda pair: -pair[0])
    return [passage for weight, passage in weights[:MOST] if weight]


def passages(text: str) -> list[str]:
    """Split `text` at the ends of sentences and lines; what is short goes with what follows, what is long is cut."""
    for end in ("? ", "! ", "\n"):
        text = text.replace(end, end.rstrip(" ") + ". ")
    found, words = [], []
    for sentence in text.split(". "):
        words += sentence.split()
        while len(words) >= _PASSAGE:
            found.append(" ".join(words[:SHORT]))
            words = words[SHORT:]
    return [*found, " ".join(words)]


def _weight(reader: SqliteReader, passage: str) -> float:
    """Add up how rare in the store the words are that tell something; those it does not hold weigh nothing."""
    weight = 0.0
    for term in query_terms(passage):
        if not term.isdigit() and stem(term) not in GENERIC:
            held = reader.frequency(term, _ENOUGH)
            weight += 1 / held.bit_length() if held else 0.0
    return weight
