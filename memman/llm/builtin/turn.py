"""The turn task: what a user's own words, or a summary of a session, state for good → facts."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import Any

from memman.judge.judge import Judge, Span
from memman.llm.builtin.extract import STANDS, described
from memman.llm.builtin.markdown import bare, blocks
from memman.llm.builtin.split import MAX_CHARS, asks, breaks, extent, extents, refers, sentences
from memman.model.text import answering

MAX_FACTS = 8  # of one turn; who says more at once is writing a document
# A span is kept from this worth on, and one of what an agent tells of a session from the other (docs/adr/0036).
WORTH, TOLD = 0.76, 0.88
# A message of so few words that orders something for good is read among orders, and kept if it is worth this there.
FEW, AMONG, AMONG_WORTH = 7, ("Never push to main.", "All code is in English."), 0.35
_ORDERS = re.compile(
    r"\b(?:always|never|must|mandatory|requires?|required|needs? to be|no more|from now on|i told you"
    r"|we (?:decided|agreed))\b",
    re.IGNORECASE,
)
# So many sentences are read together; of more, each by itself, for among many hardly one seems worth keeping.
TOGETHER = 4
# Characters that are kept together, and what a sentence of a longer message is worth that is kept beside others.
BREATH, BESIDE = 300, 0.5
# A text of so many letters is kept with what it answers: a question, or what is so near to it in what it speaks of.
SHORT, ABOUT = 60, 0.3
# What parts the items of a list, and paragraphs.
_MARK = r"(?:[-*+>\u2022\u2023\u25e6\u2013]|#{1,6}|\(?\d{1,3}[.)])\s"
_ITEM = re.compile(rf"\n\s*\n|\n(?=\s*{_MARK})")
# What an item of a list begins with; a message may begin with a number that answers something.
_ITEM_MARK, _BULLET = re.compile(rf"^{_MARK}\s*"), re.compile(r"^(?:[-*+>\u2022\u2023\u25e6\u2013]|#{1,6})\s+")
# Letters; anything shorter says nothing by itself.
_SHORTEST = 6
# What only turns to whom is spoken to, or assents, before what is said.
_ADDRESS = re.compile(
    r"^(?:(?:(?:no|nope|nah|yes|yeah|yep|ok|okay|right|good|great|thanks|thx|hm+|ah+|oh|hey|hi|morning|actually|listen"
    r"|i (?:already )?told you)\s*(?:[,.!:;\u2014\uff0c]|-(?!\w))+|btw,?|fyi,?|by the way,?|one more(?: thing)?:"
    r"|noted:|please note(?: that|:)|(?:please )?remember(?: that|:))\s*)*",
    re.IGNORECASE,
)
_EDGES = " \t\n,;\uff0c\uff1b"


def turn(payload: Mapping[str, Any], judge: Judge) -> dict[str, Any]:
    """Answer {"facts": [...], "statements": [...]}.

    Facts are what the user corrected, preferred or decided, as said; mostly nothing. Statements are all that the user
    says but questions.
    """
    before = payload.get("before", "")
    own = [_fact(_answering(text, before, judge), kind, "user") for text, kind in _worth(payload["user"], judge, WORTH)]
    told = [_fact(text, kind, "agent") for text, kind in _worth(payload["summary"], judge, TOLD, 0) if kind != "fact"]
    # What both say is the user's.
    facts = list({fact["text"]: fact for fact in (*own, *told, *own)}.values())[:MAX_FACTS]
    return {"facts": facts, "statements": [_fact(text, "fact", "user") for text in _statements(payload["user"])]}


def texts(payload: Mapping[str, Any]) -> list[str]:
    """Return what the judge reads."""
    return [said[start:end] for said in (payload["user"], payload["summary"]) for start, end in _read(said)]


def worth(said: str, judge: Judge) -> float:
    """Return how likely anything in a text is worth keeping."""
    return max((span.worth for span in _spans(said, judge)), default=0.0)


def whole(said: str, statement: str, before: str, judge: Judge) -> str:
    """Return a statement of a message with what stands around it, and with what it answers, where it needs that."""
    parts = _pieces(said)
    texts = [_flat(said[start:end]) for start, end in parts]
    leads = _leads(said, parts)
    told = {n for n, text in enumerate(texts) if text in statement or statement in text}
    if not any(leads[n] for n in told) and _stands(judge, [statement])[0]:
        return unaddressed(statement)
    if not told:
        return statement
    first, last = _breaths(parts, texts, told, set())[0]
    return _answering(_introduced(texts, leads, first, last), before, judge)


def _worth(said: str, judge: Judge, least: float, most: int = BREATH) -> Iterator[tuple[str, str]]:
    """Yield (text, kind) of what is worth keeping, each so that it can be understood by itself.

    A short message is kept as a whole once anything in it is worth keeping, of a longer one what stands around that,
    up to `most` characters.
    """
    if not said:
        return
    worthy = [span for span in _spans(said, judge) if span.worth >= least and _says(said[span.start : span.end])]
    parts = _pieces(said)
    texts = [_flat(said[start:end]) for start, end in parts]
    leads = _leads(said, parts)
    if not worthy:
        yield from (*_listed(texts, leads, judge, least), *_ordered(said, judge))
        return
    kinds = dict[int, tuple[float, str]]()
    for n, (start, end) in enumerate(parts):
        read = [(span.worth, span.kind) for span in worthy if span.start < end and start < span.end]
        kinds |= {n: max(read)} if read else {}
    if len(said) > most > 0:
        rest = [n for n, text in enumerate(texts) if n not in kinds and _says(text)]
        kinds |= {
            n: one for n, one in zip(rest, judge.lines([texts[n] for n in rest]), strict=True) if one[0] >= BESIDE
        }
    stand = zip(kinds, _stands(judge, [texts[n] for n in kinds]), strict=True)
    alone = {n for n, stands in stand if stands and not leads[n]}
    alone = alone if len(said) > most else set()
    for first, last in _breaths(parts, texts, kinds, alone, most):
        read = [kinds.get(n, (0.0, "")) for n in range(first, last + 1)]
        if min(read)[0] and not any(map(refers, texts[first + 1 : last + 1])) and not any(leads[first : last + 1]):
            # Each stands by itself, and may end by itself.
            yield from ((unaddressed(texts[n]), kinds[n][1]) for n in range(first, last + 1))
        else:
            yield _introduced(texts, leads, first, last), max(read)[1]


def _stands(judge: Judge, texts: Sequence[str]) -> list[bool]:
    """Say of each sentence whether it can be understood and is worth keeping by itself."""
    return [
        worth >= STANDS and not (refers(text) or _ITEM_MARK.match(text))
        for text in texts
        for worth, _ in judge.lines([text])
    ]


def _leads(said: str, parts: Sequence[tuple[int, int]]) -> list[tuple[str, ...]]:
    """Return of each part of a message what introduces the list that it is an item of."""
    listed = {
        line: block.leads
        for block in blocks(said)
        if block.kind == "item"
        for line in range(block.line, block.line + block.text.count("\n") + 1)
    }
    return [listed.get(said.count("\n", 0, start) + 1, ()) for start, _ in parts]


def _introduced(texts: Sequence[str], leads: Sequence[tuple[str, ...]], first: int, last: int) -> str:
    """Join sentences, the items of a list behind the lines that introduce it."""
    labels = {label for some in leads for label in some}
    joined, within = "", tuple[str, ...]()
    for text, lead in zip(texts[first : last + 1], leads[first : last + 1], strict=True):
        said = _ITEM_MARK.sub("", text)
        if not lead and bare(said) in labels:
            continue
        if joined and lead != within:
            joined += " " if joined[-1] in ";,.!?" else ". "
        elif joined:
            joined += " " if joined[-1] in ":;,.!?" or not _ITEM_MARK.match(text) else "; "
        joined += ": ".join((*lead, said)) if lead != within else said
        within = lead
    return joined.strip(_EDGES) if leads[first] else unaddressed(joined)


def _listed(
    texts: Sequence[str], leads: Sequence[tuple[str, ...]], judge: Judge, least: float
) -> Iterator[tuple[str, str]]:
    """Yield (text, kind) of lists that are worth keeping behind what introduces them, and are orders of now without."""
    for lead, items in groupby(range(len(texts)), key=leads.__getitem__):
        first, *others = items
        text = _introduced(texts, leads, first, [first, *others][-1]) if lead else ""
        for worth, kind in judge.lines([text]) if text and len(text) <= BREATH else ():
            if worth >= least:
                yield text, kind


def _ordered(said: str, judge: Judge) -> Iterator[tuple[str, str]]:
    """Yield (text, kind) of a few words that order something for good: by themselves the judge makes little of them."""
    if len(said.split()) <= FEW and _ORDERS.search(said) and not asks(said):
        *_, (worth, kind) = judge.lines([*AMONG, _flat(said)])
        if worth >= AMONG_WORTH:
            yield unaddressed(_flat(said)), kind


def unaddressed(text: str) -> str:
    """Return a statement without what only turns to whom is spoken to, or assents."""
    text = _BULLET.sub("", text)
    return (_ADDRESS.sub("", text) or text).strip(_EDGES)


def _flat(text: str) -> str:
    return " ".join(text.split())


def _answering(text: str, before: str, judge: Judge) -> str:
    """Return a short text with what of the agent's words `before` it answers: what it asked last, else the nearest."""
    if extent(text) > SHORT:
        return text
    told = [one for one in sentences(before.rpartition("\n\n")[2] or before) if extent(one) >= _SHORTEST]
    asked = [one for one in told if asks(one)]
    if not told:
        return text
    near = judge.about([text, *(asked or told)])
    likeness, answered = max(zip(near[1:] @ near[0], asked or told, strict=True), key=lambda one: one[0])
    # The user's memory quotes no order to agents.
    fits = (asked or likeness >= ABOUT) and not any(judge.steering([answered]))
    return answering(text, answered) if fits else text


def _says(text: str) -> bool:
    """Whether a piece of a message says something."""
    return extent(text.strip(_EDGES)) >= _SHORTEST and not asks(text)


def _breaths(
    parts: Sequence[tuple[int, int]],
    texts: Sequence[str],
    told: Collection[int],
    alone: Collection[int],
    most: int = BREATH,
) -> list[tuple[int, int]]:
    """Return the first and the last of the sentences that are kept together: each of those `told`, and those around it.

    Of a short message these are all. One takes the sentence before it along, then the one behind it, as far as `most`
    characters go, but no question; one that stands `alone` takes none.
    """
    silent = {n for n, text in enumerate(texts) if n not in told and asks(text)}
    found: list[tuple[int, int]] = []
    free = 0  # the first part that is not kept yet
    for n in sorted(told):
        if n < free:
            continue
        first = last = n
        while n not in alone:
            if first > free and first - 1 not in silent and parts[last][1] - parts[first - 1][0] <= most:
                first -= 1
            elif last + 1 < len(parts) and last + 1 not in silent and parts[last + 1][1] - parts[first][0] <= most:
                last += 1
            else:
                break
        found.append((first, last))
        free = last + 1
    return found


def _pieces(said: str) -> list[tuple[int, int]]:
    """Return where each sentence begins and ends, items of a list, paragraphs and new lines that begin anew parted."""
    found: list[tuple[int, int]] = []
    start = 0
    for item in (*_ITEM.finditer(said), None):
        end = item.start() if item else len(said)
        for first, last in extents(said[start:end]):
            cuts = [first, *(first + at for at in breaks(said[start + first : start + last])), last]
            found += [(start + one, start + other) for one, other in pairwise(cuts)]
        start = item.end() if item else end
    return [(first, last) for first, last in found if said[first:last].strip()]


def _spans(said: str, judge: Judge) -> Iterator[Span]:
    pieces = _read(said)
    found = judge.spans_of([said[start:end] for start, end in pieces])
    for (at, _), spans in zip(pieces, found, strict=True):
        for span in spans:
            yield from _parted(said, replace(span, start=at + span.start, end=at + span.end), judge)


def _parted(said: str, span: Span, judge: Judge) -> list[Span]:
    """Part a span at line breaks where each of the lines stands by itself."""
    cuts = [span.start + at for at in breaks(said[span.start : span.end])]
    if not cuts:
        return [span]
    parts = list(pairwise((span.start, *cuts, span.end)))
    read = judge.lines([said[start:end].strip() for start, end in parts])
    if min(worth for worth, _ in read) < STANDS:
        return [span]
    return [replace(span, start=start, end=end, kind=kind) for (start, end), (_, kind) in zip(parts, read, strict=True)]


def _read(said: str) -> list[tuple[int, int]]:
    """Return where what is read by itself begins and ends: a short text as a whole, each sentence of a longer one."""
    found = _pieces(said)
    return found if len(found) > TOGETHER else [(0, len(said))] if said else []


def _statements(said: str) -> Iterator[str]:
    parts = _pieces(said)
    if any(leads := _leads(said, parts)):
        texts = [_flat(said[start:end]) for start, end in parts]
        told = (_introduced(texts, leads, n, n) for n in range(len(parts)))
        yield from (one for one in told if one and len(one) <= MAX_CHARS and not asks(one))
        return
    for paragraph in said.split("\n\n"):
        for sentence in sentences(paragraph):
            if len(sentence) <= MAX_CHARS and not asks(sentence):
                yield sentence


def _fact(text: str, kind: str, speaker: str) -> dict[str, Any]:
    return described(text, kind) | {"speaker": speaker}
