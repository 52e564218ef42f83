"""Whether texts say the same, by their words, numbers, names and negations; likeness decides nothing."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from memman.llm.builtin.split import leans, sentences
from memman.model import terms
from memman.model.terms import STOPWORDS, folded, respelled, stem, unspaced, words

# Texts kept: the candidates of a few hundred notes.
KEPT = 4_096
# A memory that holds this part of a fact's telling words says it already.
SAME = 0.6
# Several memories together say it from here on.
TOGETHER = 0.8
# Words that tell who said or wants a thing, not what.
_FRAME = frozenset(
    map(
        terms.stem,
        """user developer team prefer preference want like always never please use using used should must say said
        ask decide decided agreed note remember memory recall recalled noted mentioned earlier""".split(),
    )
)
_FIGURES = re.compile(r"\d+")

stems = lru_cache(KEPT)(terms.stems)
_wording = lru_cache(KEPT)(terms.wording)


def same(one: str, other: str) -> bool:
    """Whether two texts are one statement, of one wording: likeness decides nothing."""
    return _wording(one) == _wording(other)


def says(texts: Sequence[str], text: str, share: float) -> bool:
    """Whether `texts` hold `share` of a text's telling words, its numbers and names, and deny no less."""
    whole = " ".join(texts)
    if _covers(texts, text) < share or not numbers(text) <= numbers(whole) or terms.respelled(text, whole):
        return False
    return _denials(text) <= _denials(whole)


def _denials(text: str) -> int:
    return sum(len(one.denied) for one in parsed(text))


def twins(text: str, other: str) -> bool:
    """Whether two texts say the same in nearly the same words, neither much more than the other."""
    return says([text], other, TOGETHER) and says([other], text, TOGETHER)


def numbers(text: str) -> set[str]:
    """Return the figures of a text."""
    return set(_FIGURES.findall(text))


def _covers(texts: Sequence[str], text: str) -> float:
    """Return the share of the telling words of `text` that `texts` hold."""
    telling = stems(text) - _FRAME or stems(text)
    held = frozenset[str]().union(*map(stems, texts))
    return len(telling & held) / len(telling) if telling else 1.0


# A fact shares this part of what it speaks of with the sentences it comes from, and nobody's with none so much.
SHARED, ANYBODYS = 0.34, 0.25
# A second sentence is told beside the likest where it has so many more of the words.
MORE = 2
# The closed class of words that deny or narrow, in the languages that the judge reads, folded.
_DENIALS = frozenset(
    """not no never none nothing nobody nowhere neither nor cannot without stop avoid instead except unless only
    nicht kein keine keinen keinem keiner nie niemals nichts niemand weder noch ohne statt ausser nur
    ne pas jamais aucun aucune rien ni sans sauf seulement nunca jamas ningun ninguna nada tampoco sin salvo solo
    nao nem sem apenas \u4e0d \u6ca1 \u522b \u65e0 \u52ff \u672a \u975e \u53ea
    \u043d\u0435 \u043d\u0435\u0442 \u0431\u0435\u0437""".split()
)
# What bounds a number is compared as a name and as a denial: neither "20" nor "at most 20" is "at least 20".
BOUNDS = frozenset("least most mindestens hochstens menos mas moins plus".split())
_NUMERALS = {name: str(n) for n, name in enumerate("two three four five six seven eight nine ten".split(), 2)}
_ITEM = re.compile(r"\n\s*\n|(?:^|\n)\s*(?:[-*+\u2022#>]+|\d{1,3}[.)])\s+|(?<!.{45})\n")
# "don't", and how it is typed in a hurry.
_DENIED = re.compile(
    r"n['\u2019]t\b|(?<=\b(?:do|is|ca|wo)n)t\b|(?<=\b(?:did|are|was|has)n)t\b|(?<=\b(?:does|have)n)t\b"
)
# A number stands by itself; digits behind a letter are part of a name.
_NUMBER = re.compile(r"(?<![^\W\d])\d+(?:[.,:/]\d+)*")
# A host, a path, an identifier: its parts are names however they are spelled.
_SHAPED = re.compile(r"\w+(?:[./_:@]\w+)+")
# A word that stands before a sentence denies nothing in it: "No, use tabs".
_INTERJECTION = re.compile(r"\W*\w+[,;:!\u2014\uff0c]\s*(?=\w)")
_STOPS = " .!?\u3002\uff01\uff1f"
_AROUND = " ,;:!\"'\u2014\uff0c"


class Sentence(NamedTuple):
    """A sentence: its text, what it speaks of in order, its names, its numbers in their company, and what it denies."""

    text: str
    order: tuple[str, ...]
    names: frozenset[str]
    numbers: frozenset[tuple[str, str, str]]
    denied: tuple[str, ...]

    @property
    def roots(self) -> frozenset[str]:
        """Return what it speaks of."""
        return frozenset(self.order)


@lru_cache(512)
def parsed(text: str) -> tuple[Sentence, ...]:
    """Return the sentences of a text; items of a list are parted, wrapped lines are not."""
    return tuple(_sentence(one) for item in _ITEM.split(text) for one in sentences(item))


def faithful(text: str, source: str) -> bool:
    """Whether `source` bears out the numbers, names and denials of what `text` says, in whatever words and order."""
    said, told = parsed(text), parsed(source)
    if {_begun(one.text) for one in said} <= {_begun(one.text) for one in told}:
        return True
    near = near_sentences(said, told)
    claimed, known = roots(said), roots(near)
    if len(claimed & known) < max(1, SHARED * len(claimed)) or any(one.names - known for one in said):
        return False
    if not all(any(_counts(one, other) for other in _numbers(near)) for one in _numbers(said)):
        return False
    ours, theirs = ([word for one in some for word in one.denied] for some in (said, near))
    if len(ours) != len(theirs) or set(ours) & known != set(theirs) & claimed:
        return False
    return not respelled(*(" ".join(_begun(one.text) for one in some) for some in (said, near)))


def in_order(text: str, source: str) -> bool:
    """Whether what both say once stands in the same order: "npm over pnpm" is not "pnpm over npm"."""
    mine, theirs = ([root for one in parsed(said) for root in one.order] for said in (text, source))
    once = [root for root in mine if mine.count(root) == theirs.count(root) == 1]
    return once == [root for root in theirs if root in once]


def _counts(one: tuple[str, str, str], other: tuple[str, str, str]) -> bool:
    """Whether two numbers are the same, of the same thing or beside the same word: 30 seconds are not 30 minutes."""
    return one[1] == other[1] and (one[2] == other[2] or (one[0] == other[0] and "" in (one[2], other[2])))


def original(text: str, source: str) -> str:
    """Return the sentences of `source` that `text` was made of, and those they lean on; '' where there are none."""
    told, rest = parsed(source), roots(parsed(text))
    likeness = [_likeness(one, rest) for one in told]
    best = max(likeness, default=(0, 0.0))
    if best[0] < max(1, ANYBODYS * len(rest)):
        return ""
    kept = set[int]()
    for n in sorted(range(len(told)), key=lambda n: likeness[n], reverse=True):
        if likeness[n] == best or len(told[n].roots & rest) >= MORE:
            kept.add(n)
            rest -= told[n].roots
    kept |= {n - 1 for n in range(len(told) - 1, 0, -1) if n in kept and leans(told[n].text)}
    return " ".join(told[n].text for n in sorted(kept))


def near_sentences(said: Sequence[Sentence], told: Sequence[Sentence]) -> list[Sentence]:
    """Return the sentences that what is `said` was made of: for each the likest, and more for what it lacks."""
    found = set[int]()
    for one in said:
        rest = one.roots
        while rest and told:
            n = max(range(len(told)), key=lambda n: _likeness(told[n], rest))
            if not told[n].roots & rest:
                break
            found.add(n)
            rest -= told[n].roots
    return [told[n] for n in sorted(found)]


def roots(some: Iterable[Sentence]) -> frozenset[str]:
    """Return what sentences speak of."""
    return frozenset[str]().union(*(one.roots for one in some))


def _numbers(some: Sequence[Sentence]) -> frozenset[tuple[str, str, str]]:
    return frozenset[tuple[str, str, str]]().union(*(one.numbers for one in some))


def _likeness(one: Sentence, claimed: frozenset[str]) -> tuple[int, float]:
    shared = len(one.roots & claimed)
    return shared, shared / (len(one.roots) or 1)


def _begun(text: str) -> str:
    """Return a sentence without its last mark, and without the capital that it has only because it begins."""
    first, blank, rest = text.rstrip(_STOPS).partition(" ")
    return (first.lower() if first[1:] == first[1:].lower() else first) + blank + rest


def _sentence(text: str) -> Sentence:
    order, names, denied = list[str](), set[str](), list[str]()
    said = _INTERJECTION.match(text)
    found = _words(text[said.end() :] if said and folded(said[0].strip(_AROUND)) in _DENIALS else text)
    forms = [_NUMERALS.get(word.lower()) or folded(word) for word in found]
    bases = [stem(form) for form in forms]
    shaped = {stem(folded(word)) for one in _SHAPED.findall(text) for word in words(one)}
    open_denials = 0
    for n, (word, form, root) in enumerate(zip(found, forms, bases, strict=True)):
        if form in _DENIALS:
            open_denials += 1
        elif form in BOUNDS or form not in STOPWORDS:
            order.append(root)
            denied += [root] * (open_denials + (form in BOUNDS))
            open_denials = 0
            capital = word[1:] != word[1:].lower() or (n and word[0].isupper())
            if not form[0].isdigit() and (capital or root in shaped or form in BOUNDS):
                names.add(root)
    numbers = {
        (
            bases[n - 1] if n else "",
            bases[n],
            "" if n + 1 == len(forms) or forms[n + 1] in STOPWORDS else bases[n + 1],
        )
        for n, form in enumerate(forms)
        if form[0].isdigit()
    }
    denied += bases[-1:] * open_denials
    return Sentence(text, tuple(order), frozenset(names), frozenset(numbers), tuple(denied))


def _words(text: str) -> list[str]:
    """Return the words of a sentence, numbers whole, "n't" as a denial, each character of a script without spaces."""
    numbers = _NUMBER.findall(text)
    plain = words(_NUMBER.sub(" \u2400 ", _DENIED.sub(" not", text)).replace("\u2400", "0number"))
    found = [part for word in plain for part in (word if any(map(unspaced, word)) else [word])]
    rest = iter(numbers)
    return [next(rest, word) if word == "0number" else word for word in found]
