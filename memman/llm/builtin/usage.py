"""Whether a memory's main claim is that we use one thing, and what would take that thing's place."""

from memman.llm.builtin.claims import verbal
from memman.llm.builtin.grammar import ADVERBS, LINKS, PREPOSITIONS, ROLE_VERBS, VACUOUS
from memman.llm.builtin.lexicon import PRODUCTS, UNITS, class_of
from memman.llm.builtin.patterns import wordset
from memman.llm.builtin.roles import GENERIC, PARTS
from memman.llm.builtin.statement import Sentence, content_of
from memman.llm.builtin.values import NUMBER, Span, kinds, meaning

Topic = frozenset[str]  # the stems of what a sentence speaks of

_NEUTRAL = GENERIC | PARTS.keys() | PREPOSITIONS
_OURS = wordset("our we us the all")
_NAMING = wordset("called named")
_LABEL = 5  # words before a colon, at most
_PLAIN = 2  # words beside a mere number and its topic: the subject and verb of a sentence about nothing else


def _position(words: Span, part: Span) -> int:
    """Find where `part` begins in `words`, or -1."""
    wanted = [word.stem for word in meaning(part)]
    stems = [word.stem for word in words]
    size = len(wanted)
    return next((i for i in range(len(stems) - size + 1) if size and stems[i : i + size] == wanted), -1)


def _parts(stems: Topic) -> Topic:
    return frozenset(PARTS[stem] for stem in stems if stem in PARTS)


def _head(words: Span, end: int) -> bool:
    """Whether the name ending at `end` stands for itself and does not qualify the next word."""
    if words[end - 1].owner:
        return False
    if end == len(words) or words[end - 1].closed:
        return True
    after = words[end].form
    return after in PREPOSITIONS | LINKS | ADVERBS | VACUOUS or kinds(after) == NUMBER


def _governed(words: Span, start: int, topic: Topic) -> bool:
    """Whether "we use", "X is", "X:" or the like leads up to the name at `start`."""
    verbs = [i for i in range(start) if verbal(words, i) or (words[i].closed and i < _LABEL)]
    if not verbs:
        return start == 0 and len(words) == 1
    if words[start - 1].form in _NAMING:
        return True
    first, last = verbs[0], verbs[-1]
    subject = content_of(words[: first + words[first].closed])
    return set(subject) | set(content_of(words[last + 1 : start])) <= topic | _NEUTRAL


def _performs(words: Span, start: int, end: int) -> bool:
    """Whether the name is the subject of a sentence about the part it plays for us."""
    if meaning(words[:start]) or end >= len(words):
        return False
    return words[end].form in ROLE_VERBS and any(word.form in _OURS for word in words[end + 1 : end + 3])


def _concerns(stems: Topic, topic: Topic, kind: str) -> bool:
    """Whether a memory speaks of what a change is about.

    A part it does not name must be the one that the product, of class `kind`, plays.
    """
    ours, theirs = _parts(topic), _parts(stems)
    if ours and theirs and not ours & theirs:
        return False
    return topic - _NEUTRAL <= stems and all(part in kind for part in ours - theirs)


def _second_product(words: Span, old: Span, topic: Topic) -> bool:
    """Whether the memory names a product beside the old one, which must not go with it."""
    known = {word.stem for word in old} | topic
    return any(word.form in PRODUCTS and word.stem not in known for word in words)


def holds(memory: Sentence, old: Span, topic: Topic) -> bool:
    """Whether the main claim of `memory` is that `old` is what is used, set or in force, within `topic`."""
    words = memory.words
    start = _position(words, old)
    if start < 0:  # "the staging branch preview" where the memory has "the staging branch is preview"
        return len(old) > 1 and holds(memory, old[-1:], topic | {word.stem for word in old[:-1]})
    end = start + len(meaning(old))
    stems = frozenset(content_of(words)) - {word.stem for word in old}
    if not _concerns(stems, topic, class_of(old[-1].form)) or _second_product(words, old, topic):
        return False
    if all(kinds(word.form) == NUMBER or word.form in UNITS for word in old):
        said = bool(topic - _NEUTRAL) or bool(_parts(topic) & _parts(stems))
        return said and len(stems - topic - GENERIC - PREPOSITIONS - UNITS.keys()) <= _PLAIN
    return _performs(words, start, end) or (_head(words, end) and _governed(words, start, topic))


def features(memory: Sentence, thing: Span) -> bool:
    """Whether `memory` has a thing of our own, not a product, as its subject."""
    words = memory.words
    start = _position(words, thing)
    end = start + len(meaning(thing))
    if start < 0 or end == len(words) or meaning(words[:start]) or len(meaning(thing)) == 1:
        return False
    return not any(word.form in PRODUCTS for word in thing) and not words[end - 1].owner and verbal(words, end)


def rival(memory: Sentence, new: Span, topic: Topic) -> Span:
    """Find the name or version in `memory` that `new` takes the place of, or ()."""
    words, mine, kind = memory.words, {word.stem for word in new}, class_of(new[-1].form)
    for i, word in enumerate(words):
        if word.stem in mine:
            continue
        if kind and class_of(word.form) == kind and holds(memory, (word,), topic):
            return (word,)
        if i and kinds(word.form) == NUMBER and _versioned(words[i - 1].stem, new, topic):
            named = words[i - 1 : i]
            if holds(memory, named, topic - mine - {named[0].stem}):
                return words[i - 1 : i + 1]
    return ()


def _versioned(name: str, new: Span, topic: Topic) -> bool:
    """Whether the change gives another version of what is called `name`."""
    return name in {word.stem for word in new} or (name in topic and kinds(new[-1].form) == NUMBER)
