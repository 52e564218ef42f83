"""A message's own words: without what its structure shows that its author did not type."""

import re
from collections.abc import Iterator

from memman.config.places import split_lines
from memman.judge.judge import Judge
from memman.llm.builtin.split import extents
from memman.model.terms import STOPWORDS, folded, unspaced, words
from memman.pipeline.fidelity import parsed
from memman.pipeline.injection import planted

# Of a single passage there is nothing to tell whose it is by.
FEWEST = 2
# What the judge says of a passage: surely the author's own, possibly pasted, or probably.
OWN, MAYBE, PASTED = 0, 1, 2
# What a request shows behind a colon, after what is no adverb: "translate to German: …", "the linter prints: …".
_LED = re.compile(r"([^,;:\u2026\n]{2,80}):\s+\S.*", re.DOTALL)
_ADVERBIAL = STOPWORDS - frozenset("the this that these those what".split())
# The judge would keep what is worth this; what is only shown differs so surely from the sentence that ends in it.
WORTH, SHOWN = 0.3, 0.4


def passages(text: str) -> list[tuple[int, int]]:
    """Return where each sentence begins and ends; one never goes on behind a line's end."""
    found, at = [], 0
    for line in text.split("\n"):
        for start, end in extents(line):
            said = line[start:end]
            if any(map(str.isalnum, said)):
                first = at + start + len(said) - len(said.lstrip())
                found.append((first, first + len(said.strip())))
        at += len(line) + 1
    return found


def heard(judge: Judge | None, text: str) -> tuple[str, tuple[str, ...]]:
    """Return what the author of a message may have typed, and its passages that are not their word."""
    said = own(text)
    if judge is None:
        return said, ()
    found = passages(said)
    bands = judge.pasted(said, found) if len(found) >= FEWEST else [OWN] * len(found)
    told = [said[start:end] for start, end in found]
    steers = judge.steering(told)
    read = zip(told, bands, steers, strict=True)
    return said, tuple(one for one, band, order in read if band == PASTED or order or _led(judge, one))


def _led(judge: Judge, sentence: str) -> bool:
    """Whether a sentence only shows what stands behind its colon.

    The judge would keep a heading with it ("frontend: never use tabs"), and a label ("new rule:") changes no meaning.
    """
    led = _LED.fullmatch(sentence)
    first = next(iter(words(led[1])), "") if led else ""
    if not led or folded(first) in _ADVERBIAL or not any(one.order for one in parsed(led[1])):
        return False
    starts = [span.start for span in judge.spans(sentence) if span.worth >= WORTH]
    shown = sentence[led.end(1) + 1 :].strip()
    return min(starts, default=0) > led.end(1) and judge.relation(shown, sentence).apart >= SHOWN


# Characters of a message that are looked at: a long prompt is long by what was pasted into it.
LONGEST = 24_000
# Words in quotes that are somebody's sentence, where fewer are a name.
_WORDS = 4

# How the summary begins that a host puts before a model as if its user had written it, once a session is too long.
_CONTINUED = re.compile(
    r"^(?:This session is being continued from a previous conversation|Another language model started to solve this)",
    re.MULTILINE,
)
# What a host puts in place of what was attached.
_ATTACHED = re.compile(r"\[(?:Image|Pasted text) #\d+[^\]\n]{0,40}\]\s*")
_TAG = re.compile(r"<([A-Za-z][\w.:-]*)\b[^<>\n]{0,400}>")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_FENCE = re.compile(r"\s{0,8}(`{3,}(?=[^`]*$)|~{3,})")
_INDENTED = re.compile(r"(?: {4}|\t)\s*(?![-*+\u2022]\s|\d+[.)]\s)\S")
# Lines of a message that show somebody else's words: quotes, rows of tables, lines of recall.
_ECHOED = re.compile(r"\s*(?:>|\||(?:[-*]\s+)?[0-9a-f]{8}\s(?:\d+[ydhms]|now)\s[\w\s,()]{1,60}:\s)")
_QUOTED = re.compile(
    r"\"[^\"\n]{12,}\"|\u201c[^\u201d\n]{12,}\u201d|\u201e[^\u201c\u201d\n]{12,}[\u201c\u201d]|\u00ab[^\u00bb\n]{12,}\u00bb"
    r"|\u300c[^\u300d\n]{6,}\u300d|(?<![\w'])'(?:[^'\n]|(?<=\w)'(?=\w)){12,400}'(?!\w)"
)
# Sentences stand in a span of code where so many of its words are letters alone, and none is an option.
_CODE, _PLAIN, _SENTENCE_WORDS = re.compile(r"`[^`\n]{12,}`"), re.compile(r"[^\W\d_]+[,.;:!?]?"), 6


def continued(text: str) -> tuple[str, str]:
    """Split a prompt into what its author wrote and the agent's summary of the session before."""
    found = _CONTINUED.search(text)
    return (text[: found.start()], text[found.start() :]) if found else (text, "")


def own(text: str) -> str:
    """Return what the author of `text` may have typed: no fence, quote, comment, attachment or mark of a client."""
    kept = ("\n".join(map(_unquoted, lines)) for lines in _paragraphs(_ATTACHED.sub("", _unframed(text[:LONGEST]))))
    return "\n\n".join(said for said in kept if said and not planted(said))


def prose(text: str) -> str:
    """Return a message of an agent without code, quotes and what stands in frames."""
    return "\n\n".join(map("\n".join, _paragraphs(_unframed(text[:LONGEST]))))


def _unframed(text: str) -> str:
    """Cut out comments, and every `<tag>…</tag>`: injected by a program, or markup that was pasted."""
    text = _COMMENT.sub("", text)
    kept, at, open_ended = [], 0, set[str]()
    for tag in _TAG.finditer(text):
        name = tag[1]
        if tag.start() < at or name in open_ended:
            continue
        end = text.find(f"</{name}", tag.end())
        if end < 0:
            open_ended.add(name)
            continue
        kept.append(text[at : tag.start()])
        close = text.find(">", end)
        at = close + 1 if close >= 0 else len(text)
    return "".join((*kept, text[at:]))


def _paragraphs(text: str) -> Iterator[list[str]]:
    """Yield the lines of each paragraph; code is left out, and a quote with the lines that go on with it."""
    lines: list[str] = []
    fence, quoted = "", False
    for line in (*split_lines(text), ""):
        bare = line.strip()
        if fence:
            fence = "" if bare.startswith(fence) and not bare.strip(fence[0]) else fence
            continue
        opened = _FENCE.match(line)
        if opened or not bare:
            if lines:
                yield lines
            lines, fence, quoted = [], opened[1] if opened else "", False
        elif _ECHOED.match(line):
            quoted = bare.startswith(">")
        elif not quoted and (lines or not _INDENTED.match(line)):
            lines.append(line)


def _unquoted(line: str) -> str:
    """Leave out what stands in quotes, but for single words and names, and sentences in a span of code."""
    line = _CODE.sub(lambda said: "`\u2026`" if _sentence(said[0][1:-1]) else said[0], line)
    return _QUOTED.sub(lambda said: '"\u2026"' if _long(said[0]) else said[0], line)


def _long(quoted: str) -> bool:
    return len(quoted.split()) >= _WORDS or any(map(unspaced, quoted))


def _sentence(said: str) -> bool:
    words = said.split()
    options = any(word.startswith("-") for word in words)
    return not options and sum(bool(_PLAIN.fullmatch(word)) for word in words) >= _SENTENCE_WORDS
