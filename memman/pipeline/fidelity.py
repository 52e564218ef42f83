"""Whether a fact says what the text says that it comes from, and the text's own sentence where it does not.

Names, numbers, denials and who does what to whom are compared by their grammar; what words mean is not judged. Doubt
costs little: the sentence that the fact was made of is kept in its place.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise, product

from memman.llm.builtin.split import leans
from memman.model.terms import folded, respelled
from memman.pipeline.grammar import AT_LEAST, AT_MOST, BY, RESTRICTIONS, TURNED, Clause, Sentence, Word, parsed, roots

# A fact shares this part of what it speaks of with the sentences it comes from, and nobody's with none so much.
SHARED, ANYBODYS = 0.34, 0.25
# A clause of so many words none of which was said was added.
ADDED = 3
# A denied clause of which this part stands in the fact is told there.
TOLD = 0.5
# A second sentence is told beside the likest where it has so many more of the words.
MORE = 2
# Who is acted on, and what is done, stand before who acts.
ACTED = 2
# Words of a sentence that is compared; a longer one is kept as it is.
LONGEST = 120
# Words before a number among which its bound stands: "at most 500", "longer than 5".
REACH = 2
_EDGES = ".,;:!?()\"'`"
_STOPS = " .!?\u3002\uff01\uff1f"

Sentences = Sequence[Sentence]
Words = Sequence[Word]
Parts = Sequence[tuple[Word, ...]]


def faithful(text: str, source: str) -> bool:
    """Whether `source` bears out what `text` says, in whatever words and order."""
    said, told = parsed(text), parsed(source)
    if set(map(_begun, said)) <= set(map(_begun, told)):
        return True
    near = _near(said, told)
    if any(len(one.words) > LONGEST for one in (*said, *near)):
        return False
    claimed = _spoken(said)
    if len(claimed & _spoken(near)) < max(1, SHARED * len(claimed)) or _unnamed(said, told):
        return False
    return not any(differs(said, near) for differs in _DIFFERENCES)


def original(text: str, source: str) -> str:
    """Return the sentences of `source` that `text` was made of, and those they lean on; '' where there are none."""
    told, claimed = parsed(source), _spoken(parsed(text))
    likeness = [_likeness(one, claimed) for one in told]
    best = max(likeness, default=(0, 0.0))
    if best[0] < max(1, ANYBODYS * len(claimed)):
        return ""
    rest, kept = claimed, set[int]()
    for n in sorted(range(len(told)), key=lambda n: likeness[n], reverse=True):
        if likeness[n] == best or len(told[n].roots & rest) >= MORE:
            kept.add(n)
            rest -= told[n].roots
    for n in range(len(told) - 1, 0, -1):
        if n in kept and leans(told[n].text):
            kept.add(n - 1)
    return " ".join(told[n].text for n in sorted(kept))


def _spoken(sentences: Sentences) -> frozenset[str]:
    return frozenset[str]().union(*(one.roots for one in sentences))


def _likeness(sentence: Sentence, claimed: frozenset[str]) -> tuple[int, float]:
    shared = len(sentence.roots & claimed)
    return shared, shared / (len(sentence.roots) or 1)


def _near(said: Sentences, told: Sentences) -> Sentences:
    """Return the sentences that what is `said` was made of: for each the likest, and more for what it lacks."""
    found: dict[int, None] = {}
    for one in said:
        rest = one.roots
        while rest and told:
            n = max(range(len(told)), key=lambda n: _likeness(told[n], rest))
            if not told[n].roots & rest:
                break
            found[n] = None
            rest -= told[n].roots
    return [told[n] for n in sorted(found)]


def _unnamed(said: Sentences, told: Sentences) -> bool:
    """Whether a name is nowhere in the text."""
    known = _spoken(told)
    return any(word.kind == "name" and word.root not in known for one in said for word in one.words)


def _spelled(said: Sentences, near: Sentences) -> bool:
    """Whether a name is written with other capitals or signs."""
    return respelled(" ".join(map(_begun, said)), " ".join(map(_begun, near)))


def _begun(sentence: Sentence) -> str:
    """Return a sentence without its last mark, and without the capital that it has only because it begins."""
    first, blank, rest = sentence.text.rstrip(_STOPS).partition(" ")
    return (first.lower() if first[1:] == first[1:].lower() else first) + blank + rest


def _added(said: Sentences, near: Sentences) -> bool:
    """Whether a clause says what nobody said."""
    known = _spoken(near)
    return any(len(clause.roots) >= ADDED and not clause.roots & known for clause in _clauses(said))


def _denied(said: Sentences, near: Sentences) -> bool:
    """Whether a denial was added, dropped or put elsewhere."""
    ours, theirs = _clauses(said), _clauses(near)
    denied = [one for one in theirs if one.denied]
    stated = [one for one in theirs if not one.denied]
    for clause in ours:
        likeness = max((_share(one.roots, clause.roots) for one in denied), default=0.0)
        if clause.denied and not 0 < likeness >= max((_share(one.roots, clause.roots) for one in stated), default=0.0):
            return True
    claimed = _spoken(said)
    elsewhere = frozenset[str]().union(*(one.roots for one in stated))
    return any(
        _share(one.roots - elsewhere or one.roots, claimed) >= TOLD
        and not any(clause.denied and clause.roots & one.roots for clause in ours)
        for one in denied
    )


def _clauses(sentences: Sentences) -> list[Clause]:
    return [clause for one in sentences for clause in one.clauses if clause.roots]


def _share(whole: frozenset[str], part: frozenset[str]) -> float:
    return len(whole & part) / len(whole)


def _counted(said: Sentences, near: Sentences) -> bool:
    """Whether a number is another one, counts or bounds something else."""
    known, claimed = _spoken(near), _spoken(said)
    counts: dict[str, set[str]] = {}
    units: dict[str, set[str]] = {}
    bounds: dict[str, set[str]] = {}
    for part in _parts(near):
        for word, number in _counting(part):
            counts.setdefault(word, set()).add(number)
        for number, _, unit, bound in _numbers(part):
            units.setdefault(number, set()).update(unit)
            bounds.setdefault(number, set()).add(bound)
    for part in _parts(said):
        for number, before, after, bound in _numbers(part):
            if number not in units:
                return True
            if bound and "" not in bounds[number] and bound not in bounds[number]:
                return True
            beside = next((one for one in (*after, *before) if one in counts), number)
            if number not in counts.get(beside, {number}):
                return True
            if any(one not in known for one in after) and _replaced(after[0], units[number] - claimed):
                return True
    return False


def _replaced(unit: str, units: set[str]) -> bool:
    """Whether a unit is none of those, written shorter or longer."""
    return bool(units) and not any(one.startswith(unit) or unit.startswith(one) for one in units)


def _parts(sentences: Sentences) -> Iterator[tuple[Word, ...]]:
    return (part for one in sentences for clause in one.clauses for part in clause.parts)


def _counting(part: Words) -> Iterator[tuple[str, str]]:
    """Yield each word of a part with the number, or numbers, next to it."""
    words = [word for word in part if word.kind != "link"]
    numbers = [n for n, word in enumerate(words) if word.kind == "number"]
    for n, word in enumerate(words):
        if numbers and word.kind != "number":
            least = min(abs(n - at) for at in numbers)
            yield from ((word.root, words[at].root) for at in numbers if abs(n - at) == least)


def _numbers(part: Words) -> Iterator[tuple[str, list[str], list[str], str]]:
    """Yield (number, the word before it, the word behind it, how it bounds) of a part; either word may be missing."""
    for n, word in enumerate(part):
        if word.kind != "number":
            continue
        before = [one.root for one in part[:n] if one.kind != "link"][-1:]
        after = [one.root for one in part[n + 1 : n + 2] if one.kind in ("word", "name")]
        reached = {one.root for one in part[max(0, n - REACH) : n]}
        yield word.root, before, after, "least" if reached & AT_LEAST else "most" if reached & AT_MOST else ""


def _mirrored(said: Sentences, near: Sentences) -> bool:
    """Whether two things have changed places around what stands between them: "B over A" for "A over B"."""
    return any(_turned_round(mine, theirs) for mine, theirs in _runs(said, near))


def _runs(said: Sentences, near: Sentences) -> Iterator[tuple[Parts, Parts]]:
    """Yield what is compared in its order: sentences, for of two clauses one may be told in each, and clauses."""
    for mine, theirs in product(said, near):
        yield from product(
            [mine.parts, *(clause.parts for clause in mine.clauses)],
            [theirs.parts, *(clause.parts for clause in theirs.clauses)],
        )


def _turned_round(mine: Parts, theirs: Parts) -> bool:
    words, others = [*chain(*mine)], [*chain(*theirs)]
    places = _places(others)
    order = [root for root in _places(words) if root in places]
    free = _free(words, others)
    for n, middle in enumerate(order):
        before = [one for one in order[:n] if one not in free and places[one] > places[middle]]
        behind = [one for one in order[n + 1 :] if one not in free and places[one] < places[middle]]
        if any(not _apart(one, two, middle, mine, theirs) for one in before for two in behind):
            return True
    return False


def _free(mine: Words, theirs: Words) -> set[str]:
    """Return the words that may stand anywhere.

    A preposition says what they do: one that stands in both texts once, or in one alone. Numbers are compared apart.
    """
    ours, other = _linked(mine), _linked(theirs)
    links = [Counter(word.root for word in words if word.kind == "link") for words in (mine, theirs)]
    behind = {two.root: one.root for one, two in pairwise(theirs)}
    found, held = set[str](), set[str]()
    for last, word in pairwise([None, *mine]):
        assert word is not None  # noqa: S101 - only what stands before the first is None
        root = word.root
        before = ours.get(root, frozenset()), other.get(root, frozenset())
        same = before[0] == before[1] and any(links[0][one] == links[1][one] == 1 for one in before[0])
        new = any(not links[1][one] for one in before[0]) or any(not links[0][one] for one in before[1])
        same = same or (last is not None and last.root in held and behind.get(root) == last.root)
        if same:
            held.add(root)
        if word.kind in ("link", "number") or same or new:
            found.add(root)
    return found


def _apart(one: str, two: str, middle: str, mine: Parts, theirs: Parts) -> bool:
    """Whether two words stand apart in both texts, each beside a word that it stands beside in the other, too."""
    found = [
        [next(roots(part) for part in parts if root in roots(part)) for parts in (mine, theirs)] for root in (one, two)
    ]
    if found[0][0] == found[1][0] or found[0][1] == found[1][1]:
        return False
    return all(first & second - {root, middle} for root, (first, second) in zip((one, two), found, strict=True))


def _places(words: Words) -> Mapping[str, int]:
    """Return where each word stands that stands there once."""
    forms = Counter(word.root for word in words)
    return {word.root: n for n, word in enumerate(words) if forms[word.root] == 1}


def _linked(words: Words) -> Mapping[str, frozenset[str]]:
    """Return the prepositions that each word stands directly behind."""
    found: dict[str, frozenset[str]] = {}
    links: list[str] = []
    for word in words:
        if word.kind == "link":
            links.append(word.root)
            continue
        if links:
            found[word.root] = found.get(word.root, frozenset()) | frozenset(links)
        # "over 500 euros" is about euros.
        links = links if word.kind == "number" else []
    return found


def _displaced(said: Sentences, near: Sentences) -> bool:
    """Whether a preposition stands before something else: "from B" for "from A", "before A" for "after A"."""
    for mine in said:
        for theirs in near:
            ours, other = _linked(mine.words), _linked(theirs.words)
            links = frozenset[str]().union(*other.values())
            for root, before in ours.items():
                for link in before:
                    turned = TURNED.get(link, "")
                    if turned in other.get(root, ()) and link not in links:
                        return True
                    if root not in theirs.roots or link not in links or link in other.get(root, ()):
                        continue
                    left = (one for one in mine.roots & other.keys() if link in other[one])
                    if root in other or any(link not in ours.get(one, ()) for one in left):
                        return True
    return False


def _acted(said: Sentences, near: Sentences) -> bool:
    """Whether somebody else acts: the order is the same, and only one of the texts is passive."""
    return any(
        bool(BY & _linked(mine.words).get(root, frozenset())) != bool(BY & _linked(theirs.words).get(root, frozenset()))
        and len(_before(root, mine) & _before(root, theirs)) >= ACTED
        for mine in _clauses(said)
        for theirs in _clauses(near)
        for root in mine.roots & theirs.roots
    )


def _before(root: str, clause: Clause) -> frozenset[str]:
    return roots(clause.words[: [word.root for word in clause.words].index(root)])


def _crossed(said: Sentences, near: Sentences) -> bool:
    """Whether a name or a number stands with the words of another: "Ben owns billing", where Anna does."""
    plain = {word.root for one in (*said, *near) for word in one.words if word.kind == "word" and not word.capital}
    theirs = [*_parts(near)]
    for part in _parts(said):
        mine = _telling(part, plain)
        likeness = {one: (len(roots(part) & roots(one)), len(roots(part) & roots(one) - mine)) for one in theirs}
        likest = max(likeness.values(), default=(0, 0))
        alike = [one for one, found in likeness.items() if found == likest]
        if likest[1] and all(mine - roots(one) and _telling(one, plain) - roots(part) for one in alike):
            return True
    return False


def _telling(part: Iterable[Word], plain: set[str]) -> frozenset[str]:
    """Return what names a thing: names, numbers, and what is nowhere written without a capital."""
    return frozenset(word.root for word in part if word.kind != "link" and word.root not in plain)


def _narrowed(said: Sentences, near: Sentences) -> bool:
    """Whether an "only", "except", "without" or "at least" of sentences that are told was lost, or one was added."""
    claimed = _spoken(said)
    told = [one for one in near if len(one.roots & claimed) >= TOLD * len(one.roots)]
    return bool(told) and _restrictions(said) != _restrictions(told)


def _restrictions(sentences: Sentences) -> frozenset[int]:
    words = {word.strip(_EDGES) for one in sentences for word in folded(one.text).split()}
    signs = {sign for one in sentences for sign in one.text}
    return frozenset(n for n, some in enumerate(RESTRICTIONS) if some & words or some & signs)


_DIFFERENCES = (_spelled, _added, _denied, _counted, _mirrored, _displaced, _acted, _crossed, _narrowed)
