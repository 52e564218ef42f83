"""Two sentences that claim the same of the same thing, but for the value."""

from functools import lru_cache

from memman.llm.builtin.grammar import ARTICLES, BE, IRREGULAR_PAST, LINKS, PREPOSITIONS, VERBS
from memman.llm.builtin.lexicon import EXCLUSIVE, class_of
from memman.llm.builtin.patterns import wordset
from memman.llm.builtin.roles import ATTRIBUTES, FUNCTIONAL, GENERIC, MANIFOLD, OWNING, PARTS
from memman.llm.builtin.statement import Sentence, content_of
from memman.llm.builtin.values import NUMBER, Span, apart, exchangeable, kinds, meaning, nameable, narrow

_BEFORE_VERB = wordset("we i they you not never always to")
_PASSIVE = wordset("is are be been not")
_SUCCEEDING = wordset("new current")  # "Priya is the new maintainer"
_GROUPS = wordset("team squad group")
_LABEL = 6  # words before a colon, at most
_VALUE = 4  # words; a longer difference is another statement
_UNLIKE = 2  # that many classes of product, or words in a name, are not one thing


def verbal(words: Span, i: int) -> bool:
    """Whether word `i` reads as a verb."""
    form = words[i].form
    before = words[i - 1].form if i else ""
    if form in VERBS:
        return not words[i].owner and before not in ARTICLES
    if not form.isalpha():
        return False
    plural = bool(before) and form.endswith("s") and not form.endswith("ss") and not class_of(form)
    return plural or before in _BEFORE_VERB or form.endswith("ed")


def _border(sentence: Sentence) -> tuple[int, int] | None:
    """Find where a label or a subject ends and where its value begins."""
    words = sentence.words
    for i, word in enumerate(words[:_LABEL]):
        if word.closed and f"{word.raw}:" in sentence.text:
            return None if any(verbal(words, k) for k in range(i + 1, len(words))) else (i + 1, i + 1)
    be = next((i for i, word in enumerate(words) if word.form in BE), 0)
    return (be, be + 1) if 0 < be < len(words) - 1 else None


@lru_cache(maxsize=1024)
def attribute(sentence: Sentence) -> tuple[frozenset[str], Span] | None:
    """Read "the X is Y", "X: Y" and "Y is the X" as (words of X, Y)."""
    border = _border(sentence)
    if not border:
        return None
    subject, value = sentence.words[: border[0]], sentence.words[border[1] :]
    if value and value[0].form in ARTICLES - {"a", "an"} and set(content_of(value)) & ATTRIBUTES:
        subject, value = tuple(word for word in value if word.form not in _SUCCEEDING), subject
    value, scope = _headed(meaning(value))
    name = frozenset(content_of(subject + scope)) - PREPOSITIONS
    return (name, value) if name and value else None


def _headed(value: Span) -> tuple[Span, Span]:
    """Part "on Monday at noon" into what the value is and what narrows it."""
    while value and value[0].form in PREPOSITIONS:
        value = value[1:]
    end = next((i for i, word in enumerate(value) if word.form in PREPOSITIONS | LINKS), len(value))
    return value[:end], value[end:]


def same_attribute(new: Sentence, old: Sentence) -> bool:
    """Whether both sentences give one attribute, each its own value."""
    ours, theirs = attribute(new), attribute(old)
    if not ours or not theirs or ours[0] != theirs[0]:
        return False
    was, now = apart(theirs[1], ours[1])
    if not was or not now or max(len(was), len(now)) > _VALUE:
        return False
    named = {ours[1][0].form, theirs[1][0].form} <= {"named", "called"}
    if named or exchangeable(was, now):
        return True
    labelled = ":" in new.text and ":" in old.text
    return bool(ours[0] & ATTRIBUTES) and (labelled or (nameable(was) and nameable(now)))


def _shared(new: Span, old: Span) -> tuple[int, int]:
    """Count the words two spans share at their beginning and at their end."""
    shortest = min(len(new), len(old))
    first = next((i for i in range(shortest) if new[i].stem != old[i].stem), shortest)
    rest = shortest - first
    last = next((i for i in range(rest) if new[-1 - i].stem != old[-1 - i].stem), rest)
    return first, last


def _numbered(words: Span, at: int) -> bool:
    """Whether the number at `at` tells things of one sort apart, as in "table 3", rather than being a value."""
    noun = words[at - 1].form
    ordinary = noun.isalpha() and noun not in PREPOSITIONS | LINKS | BE | ATTRIBUTES and not class_of(noun)
    return ordinary and not verbal(words, at - 1)


def _past(words: Span, verb: int) -> bool:
    """Whether the verb tells an event rather than a state."""
    form = words[verb].form
    passive = verb > 0 and words[verb - 1].form in _PASSIVE
    return not passive and (form in IRREGULAR_PAST or (form.endswith("ed") and form != "need"))


def changed_value(new: Sentence, old: Sentence, *, told: bool) -> bool:
    """Whether the sentences agree but for the value: "listens on 8080", "listens on 9090".

    `told` means that the new one says itself that something changed.
    """
    ours, theirs = meaning(new.words), meaning(old.words)
    first, last = _shared(ours, theirs)
    was, now = theirs[first : len(theirs) - last], ours[first : len(ours) - last]
    if not was or not now or max(len(was), len(now)) > _VALUE:
        return False
    if first == 0:
        return _other_owner(ours, was, now)
    if _numbered(ours, first) and all(kinds(word.form) == NUMBER for word in (*was, *now)):
        return False
    verbs = [i for i in range(new.words.index(now[0])) if verbal(new.words, i)]
    if not verbs or narrow(was) or narrow(now) or _past(new.words, verbs[-1]):
        return False
    return _replaces(new.words[: verbs[-1] + 1], was, now, told=told)


def _replaces(claim: Span, was: Span, now: Span, *, told: bool) -> bool:
    """Whether what `claim` (subject and verb) says can hold for only one of two values."""
    verb, before = claim[-1], claim[-2:-1]
    passive = bool(before) and before[0].form in BE
    functional = verb.stem in FUNCTIONAL and (passive or verb.stem not in OWNING)
    classes = {class_of(word.form) for word in (*was, *now)} - {""}
    if exchangeable(was, now):
        return told or functional or (classes <= EXCLUSIVE and verb.stem not in MANIFOLD)
    subject = set(content_of(claim[:-1])) - GENERIC
    names = nameable(was), nameable(now)
    if functional:
        return all(names) and bool(subject)
    alike = all(names) or (verb.form not in BE and not any(names))
    short = len(classes) < _UNLIKE and max(len(was), len(now)) < _UNLIKE
    return told and alike and short and bool(subject - PARTS.keys())


def _other_owner(words: Span, was: Span, now: Span) -> bool:
    """Whether two sentences differ only in who holds what one party holds."""
    verb = words[len(now)] if len(words) > len(now) else None
    parties = all(word.raw[:1].isupper() or word.form in _GROUPS for word in (*was[-1:], *now[-1:]))
    return bool(verb and verb.stem in OWNING and parties) and not any(class_of(w.form) for w in (*was, *now))
