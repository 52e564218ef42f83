"""Note text → self-contained statements. No word of the note is lost, except courtesies."""

import re
from collections.abc import Iterator

from memman.config.places import split_lines
from memman.llm.builtin.markdown import Block, blocks, stands_alone
from memman.model.terms import unspaced

MAX_CHARS = 400  # of a statement
# Letters of a paragraph that stays one statement, for what is said in one breath is understood together; an ideograph
# counts for four.
PARAGRAPH, _IDEOGRAPH = 240, 4
MAX_FACTS = 64  # of a note; beyond it statements are grouped, not dropped
_SHORT_WORDS, _SHORT_CHARS = 3, 24  # a fragment below both cannot stand alone

_FULL_WIDTH = "\u3002\uff01\uff1f\uff61"
# Inside these a full stop ends nothing. Bounded, so that unbalanced marks cost linear time.
_SPAN = re.compile(r'`[^`\n]{1,200}`|"[^"\n]{1,200}"|“[^”\n]{1,200}”|\([^()]{1,200}\)')
_STOP = re.compile(r"""[.!?…][.!?…]{0,8}["'”\u2019)\]*_`]{0,3}(?=\s)|[。\uff01\uff1f｡][」』”]?""")
_ABBREVIATIONS = frozenset(
    """e.g i.e etc vs cf mr mrs ms dr prof no fig approx al ca resp incl excl esp inc ltd dept vol sec ver
    st jr sr op p pp ed eq ref est min max jan feb mar apr jun jul aug sep sept oct nov dec""".split()
)
_ALWAYS_OPEN = frozenset("e.g i.e vs cf mr mrs ms dr prof fig approx resp incl excl esp".split())
_LEANING = re.compile(
    r"""(?:it|its|it's|this|that|these|those|they|they're|their|them|he|she|his|her|so|therefore|thus|hence
    |otherwise|then|but|however|and|or|instead|because|which|consequently|accordingly|both|neither|meanwhile
    |same|likewise|conversely|such|else|if\snot|if\sso|as\sa\sresult|for\sthis\sreason|that's|the\sreason
    |reason:|why:|for\sexample|for\sinstance|in\sthat\scase|e\.g\.|i\.e\.|after\sthat|after\sthis)(?![\w'-])""",
    re.IGNORECASE | re.VERBOSE,
)
_POINTING = re.compile(
    r"""(?:this|that|these)\s(?:repo|repository|project|codebase|week|month|quarter|year|sprint|morning|machine
    |package|team|company|user|workspace|monorepo|branch|app|library|service|file|module|function|class)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_PRONOUN = re.compile(
    r"\b(?:its?|itself|they|them|theirs?|he|him|his|she|hers?|this|that|these|those|there|here|ones?|others?|else"
    r"|elsewhere|same|too|also|only)\b",
    re.IGNORECASE,
)
_COURTESY = re.compile(
    r"(?:hi|hello|hey|thanks|thank you|thx|ok|okay|great|cool|sure|sounds good|got it|perfect|done|cheers"
    r"|fyi|noted|let me know|no problem)(?: all| team| everyone| there| a lot| so much)?[.,!:]*$",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[;:,—\u2013](?=\s)|\s(?=(?:and|but|which|because|so|while|whereas|then|or)\s)|\n")
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|does|do|did|uses?|runs?|needs?|must|should|can|cannot|will|would|may"
    r"|supports?|requires?|lives?|goes|go|means?|makes?|gets?|keeps?|owns?|returns?|takes?|fails?|works?"
    r"|depends?|contains?|expects?|prefers?|wants?|likes?|decided|moved|switched|chose|added|fixed|\w{3,20}n't)\b",
    re.IGNORECASE,
)
_TELLING = re.compile(r"[:=]\s?\w|\w[./_]\w")  # a pair or an identifier: says something however short
_SENTENCE_WORDS = 4


def _ends(text: str, start: int, stop: re.Match[str]) -> bool:
    """Whether the full stop found really ends the sentence that began at `start`."""
    if stop[0][0] in "。\uff01\uff1f｡":
        return True
    rest = text[stop.end() : stop.end() + 8].lstrip()
    before = text[max(start, stop.start() - 24) : stop.start()].rsplit(None, 1)
    word = before[-1].lstrip("(\"'[*_").lower() if before else ""
    small = rest[:1].islower()
    if stop[0].startswith(("..", "…")) or len(stop[0]) > 1:
        return not small
    if stop[0] != ".":
        return True
    lone = stop.start() > start and text[stop.start() - 1].isspace()  # `git add .`
    if (lone and small) or word in _ALWAYS_OPEN or (len(word) == 1 and word.isalpha() and word != "i"):
        return False
    if word in _ABBREVIATIONS:
        return rest[:1].isupper() and word in {"etc", "al", "inc", "ltd", "max", "min", "no"}
    # "12." begins an item, and "12. August" is a day; two sentences that stay together do no harm.
    return not (word.isdigit() and len(word) < 3)  # noqa: PLR2004


def sentences(text: str) -> list[str]:
    """Split a paragraph into sentences, whitespace normalised."""
    return [clean for clean in (" ".join(text[start:end].split()) for start, end in extents(text)) if clean]


def extents(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each sentence of a paragraph begins and ends."""
    held = [span.span() for span in _SPAN.finditer(text)]
    start, k = 0, 0
    for stop in _STOP.finditer(text):
        while k < len(held) and held[k][1] <= stop.start():
            k += 1
        inside = k < len(held) and held[k][0] < stop.start() and stop.end() < held[k][1]
        if not inside and _ends(text, start, stop):
            yield start, stop.end()
            start = stop.end()
    yield start, len(text)


def breaks(text: str) -> list[int]:
    """Return where a line of a text begins something new, though no full stop ends the one before."""
    found, before, start = [], "", 0
    for line in split_lines(text, ends=True):
        if before and line.strip() and stands_alone(before, line):
            found.append(start)
        before = line.strip()
        start += len(line)
    return found


def asks(text: str) -> bool:
    """Whether a text ends in a question."""
    return text.rstrip().endswith(("?", "\uff1f"))


def refers(sentence: str) -> bool:
    """Whether an English `sentence` seems to need the one before it: it has a pronoun, or a word that compares."""
    return leans(sentence) or bool(_PRONOUN.search(sentence))


def leans(sentence: str) -> bool:
    """Whether `sentence` can only be understood after the one before it."""
    return bool(_LEANING.match(sentence)) and not _POINTING.match(sentence)


def _fragment(text: str) -> bool:
    if any(map(unspaced, text)):
        return False
    return len(text) < _SHORT_CHARS and len(text.split()) < _SHORT_WORDS and not _TELLING.search(text)


def _whole(text: str) -> bool:
    """Whether an item says something by itself."""
    return len(text.split()) >= _SENTENCE_WORDS and bool(_VERB.search(text))


def _glue(left: str, right: str) -> str:
    goes_on = left[-1] in ".!?…。\uff01\uff1f:;," or right[:1].islower()
    return f"{left} {right}" if goes_on else f"{left}; {right}"


def _labelled(block: Block, text: str) -> str:
    """Put the labels of `block` before `text` where it needs them, or where nothing else carries them.

    An item always carries what introduces its list, for that may turn it round: "Never:".
    """
    kept = block.leads if block.kind == "item" else ()
    labels = block.labels if block.fresh or not _whole(text) else kept
    said = f"{text.casefold()} "
    told = [one for one in dict.fromkeys(labels) if not said.startswith((f"{one} ".casefold(), f"{one}:".casefold()))]
    return ": ".join([*told, text])


def extent(text: str) -> int:
    """Return how much a text says, in letters."""
    return len(text) + (_IDEOGRAPH - 1) * sum(map(unspaced, text))


def _joined(told: list[str]) -> str:
    return "".join(one if one[-1] in _FULL_WIDTH else f"{one} " for one in told).rstrip()


def statements(block: Block) -> list[str]:
    """Leave a short block whole; cut another into sentences, those that lean on their predecessor joined to it."""
    told = [sentence for sentence in sentences(block.text) if not _COURTESY.match(sentence)]
    if sum(map(extent, told)) <= PARAGRAPH:
        return [_labelled(block, _joined(told))] if told else []
    found: list[str] = []
    for sentence in told:
        joins = found and (leans(sentence) or _fragment(sentence) or _fragment(found[-1]))
        if joins and len(found[-1]) + len(sentence) < MAX_CHARS:
            found[-1] = _glue(found[-1], sentence)
        else:
            found.append(sentence)
    if block.kind == "item" and block.leads:
        room = max(MAX_CHARS - sum(map(len, block.leads)), MAX_CHARS // 2)
        return [_labelled(block, piece) for one in found for piece in cut(one, room)]
    return [_labelled(block, found[0]), *found[1:]] if found else []


def cut(text: str, limit: int = MAX_CHARS) -> Iterator[str]:
    """Cut over-long text at clause boundaries, never inside a word."""
    start = 0
    while len(text) - start > limit:
        end = start + limit
        marks = [mark.end() for mark in _CLAUSE.finditer(text, start + limit // 3, end)]
        at = marks[-1] if marks else text.rfind(" ", start + 1, end)
        if at <= start:
            at = text.find(" ", end)
            if at < 0:
                break
        yield text[start:at].strip()
        start = at
    yield text[start:].strip()


def _merged(note: str, *, bare: bool) -> list[str]:
    """Cut a note into statements, small fragments joined to their neighbours, with `bare` code or without."""
    found: list[str] = []
    prose = False  # whether the last statement came from prose, which later prose may lean on
    read = list(blocks(note))
    for n, block in enumerate(read):
        if block.kind == "code":
            leads = bool(found) and found[-1].endswith(":")
            if not (bare or leads or block.introduced):
                continue
            lead = found.pop() + "\n" if leads else ""
            label = ": ".join(block.labels) + ":\n" if block.labels and (block.fresh or not lead) else ""
            found.append(lead + label + block.text)
            continue
        made = statements(block)
        if made and found and not block.labels:
            # A word or two begin what follows them: a title, more often than not.
            last = n == len(read) - 1
            joins = (last and _fragment(made[0])) or _fragment(found[-1]) or (prose and leans(made[0]))
            if joins and len(found[-1]) + len(made[0]) < MAX_CHARS:
                made[0] = _glue(found.pop(), made[0])
        found.extend(made)
        prose = block.kind == "prose"
    return found


def split(note: str, *, bare: bool = True) -> list[str]:
    """Split `note` into at most MAX_FACTS statements; without `bare` code, only where a sentence introduces code."""
    merged = [text for text in dict.fromkeys(_merged(note, bare=bare)) if any(map(str.isalnum, text))]
    courtesies = [text for text in sentences(note) if _COURTESY.match(text)]
    found = [piece for text in merged or courtesies for piece in cut(text) if piece]
    if len(found) <= MAX_FACTS:
        return found
    size = -(-len(found) // MAX_FACTS)
    return [" ".join(found[i : i + size]) for i in range(0, len(found), size)]
