"""What a long prompt is about, as far as the store can tell: its questions, and where it names what is known."""

from memman.hot.threshold import GENERIC
from memman.model.terms import query_terms, stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.store.sqlite.reader import SqliteReader

# Words and characters of a prompt that is looked up as it is.
SHORT, LONGEST = 40, 400
# Words of a passage, at least and at most, and the characters at which a word is cut.
_LEAST, _MOST = 12, 24
_LONGEST_WORD = 80
# Passages that are looked up, and different words that they are chosen by.
MOST = 2
_WORDS = 64
_ENOUGH = 200
_ENDS = ("? ", "! ", "\n", "\uff1f", "\u3002")


def lookups(reader: "SqliteReader | None", prompt: str) -> list[str]:
    """Return what to look up: a short prompt itself, or else its most telling question and passage."""
    if len(prompt) <= LONGEST and len(prompt.split()) <= SHORT:
        return [prompt]
    split = passages(prompt)
    if reader is None:
        return [passage[:LONGEST] for passage in split[:MOST]]
    weighed = _weighed(reader, split)
    asked = [passage for passage in weighed if question(passage)][:1]
    return [*asked, *(passage for passage in weighed if passage not in asked)][:MOST]


def passages(text: str) -> list[str]:
    """Split `text` at sentences and lines into pieces of some size; a question ends its passage.

    A question in a script without spaces is one by itself.
    """
    for end in _ENDS:
        text = text.replace(end, end.strip() + ". ")
    found: list[str] = []
    words: list[str] = []
    for sentence in text.split(". "):
        if question(sentence) and not sentence.isascii() and len(sentence.split()) == 1:
            # Without spaces a sentence is a word: beside a dozen others it would ask for nothing in particular.
            found += [*filter(None, [" ".join(words)]), sentence]
            words = []
            continue
        for word in sentence.split():
            words += [word[at : at + _LONGEST_WORD] for at in range(0, len(word), _LONGEST_WORD)]
        while len(words) >= _LEAST or (words and question(words[-1])):
            found.append(" ".join(words[:_MOST]))
            words = words[_MOST:]
    return [*found, " ".join(words)]


def question(passage: str) -> bool:
    """Whether a passage ends as a question."""
    return passage.endswith(("?", "\uff1f"))


def _weighed(reader: "SqliteReader", split: list[str]) -> list[str]:
    """Return the passages that hold a word of the store, the rarest first, by the first words that can be counted."""
    last = len(split) - 1
    order = sorted(range(len(split)), key=lambda n: (not question(split[n]), min(n, last - n)))
    counts: dict[str, int] = {}
    weights: dict[str, float] = {}
    for passage in (split[n][:LONGEST] for n in order):
        weight = 0.0
        terms = query_terms(passage)
        fresh = [term for term in dict.fromkeys(terms) if term not in counts and _tells(term)]
        counts |= reader.frequencies(fresh[: _WORDS - len(counts)], _ENOUGH)
        for held in filter(None, map(counts.get, terms)):
            weight += 1 / held.bit_length()
        weights[passage] = weight
    return sorted(filter(weights.get, weights), key=lambda passage: -weights[passage])


def _tells(term: str) -> bool:
    return len(term) > 1 and not term.isdigit() and stem(term) not in GENERIC
