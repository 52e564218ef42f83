"""What was said in a turn or a summary, by whom, and what of a message its author typed."""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from memman.config.places import split_lines
from memman.judge.judge import Judge
from memman.llm.builtin.split import asks, extents, sentences
from memman.model.noted import parted
from memman.model.records import Note, Request
from memman.model.terms import STOPWORDS, folded, stem, unspaced, words
from memman.pipeline.comparison import Sentence, parsed, roots
from memman.pipeline.injection import plain, planted

# Characters of either side that are read, about 2,000 tokens: own words are seldom more.
HEARD = 8_000
_MARKS = "-*>+#\u2022 "
# Words of an answer to a question: those that assent, signs that do, those that only go with them, and those that begin
# a question or a condition. What another language assents with is taken for something else: then the question counts
# for nothing.
SHORT = 8
_ASSENT = frozenset(
    map(
        stem,
        "yes yeah yep ok okay sure right correct exactly agreed absolutely definitely fine good great perfect works"
        " please go ja genau gerne oui si claro tak dobrze \u0434\u0430".split(),
    )
)
_ASSENTING = "\U0001f44d\U0001f44c\u2705\u2714"
_ALONG = frozenset(map(stem, "sounds ahead thanks thank".split()))
_ASKING = frozenset(
    "what why how when where who which whose if as is are was were am do does did has have can could would should will"
    " shall may might must".split()
)
# What may stand in a question before what it proposes: what the user is asked to want, and how often.
OFFERING = frozenset(map(stem, "want like prefer always".split())) | _ASSENT
_OR = re.compile(r",\s*(?:or\s+)?|\s+(?:or|oder|ou|o|lub|albo|\u0438\u043b\u0438)\s+")


@dataclass(frozen=True, slots=True)
class Said:
    """What stands before a line: what the user `typed` of their own, and the `question` that they last answered.

    `read` is both, sentence by sentence.
    """

    typed: tuple[str, ...] = ()
    question: str = ""

    @classmethod
    def of(cls, note: Note, judge: Judge) -> "Said":
        """Read what a note brings; nothing of what cannot be read."""
        try:
            said = [(str(who), plain(str(text))) for who, text in json.loads(note.reply)]
        except (ValueError, TypeError):
            return cls()
        last = max((n for n, (who, _) in enumerate(said) if who == "user"), default=-1)
        typed = tuple(own for who, text in said[: last + 1] if who == "user" and (own := _sure(*heard(judge, text))))
        newest = _sure(*heard(judge, said[last][1])) if last >= 0 else ""
        before = prose(parted(said[last - 1][1])[0]) if last > 0 and said[last - 1][0] == "agent" else ""
        return cls(typed, cls.after(before, newest).question)

    @classmethod
    def after(cls, before: str, typed: str) -> "Said":
        """Return what a user `typed` after what the agent had said."""
        answers = typed and len(typed.split()) <= SHORT and not asks(typed)
        told = sentences(before.rstrip().rpartition("\n\n")[2]) if answers else []
        if not told or not asks(told[-1]):
            return cls((typed,))
        # "Is that so?" asks what stands before it.
        return cls((typed,), " ".join(told[-1:] if roots(parsed(told[-1])) else told[-2:]))

    def taken_up(self, line: str) -> "Said":
        """Return what bears on a line: a question only if the user's answer makes the line theirs."""
        if not self.question:
            return self
        answer, spoken = parsed(self.typed[-1]), roots(parsed(line))
        chosen = roots(answer) - _ASSENT - _ALONG
        said = [folded(word) for word in words(self.typed[-1])]
        if any(one.denied for one in answer) or (said and said[0] in _ASKING):
            taken = False
        elif chosen:
            taken = chosen <= spoken and not _rivals(self.question, chosen) & spoken
        else:
            assents = not _ASSENT.isdisjoint(map(stem, said)) or not set(_ASSENTING).isdisjoint(self.typed[-1])
            taken = assents and _proposes(self.question, spoken)
        return self if taken else Said(self.typed)

    @property
    def read(self) -> tuple[Sentence, ...]:
        """Return the sentences of what was typed, but asked, and of what was answered."""
        stated = (one for text in self.typed for one in parsed(text) if not asks(one.text))
        return (*stated, *parsed(self.question))

    def told(self) -> list[str]:
        """Return what the user typed that may bear a line out: each message, and each sentence of it that states."""
        return list(dict.fromkeys(one for text in self.typed for one in _told(text)))

    def answered(self) -> list[str]:
        """Return what the user answered with a few words: the question with the answer, and each sentence of it."""
        whole = f"{self.question} {self.typed[-1]}" if self.question else ""
        return [whole, *(one.text for one in parsed(self.question))] if whole else []


def _options(question: str) -> list[Sentence]:
    """Return the options that a question offers; [] where it offers no choice."""
    asked = parsed(question)[-1].text.rpartition(": ")[2]
    found = [one for option in _OR.split(asked) for one in parsed(option) if one.order]
    return found if len(found) > 1 and any(one.strip(", ") for one in _OR.findall(asked)) else []


def _rivals(question: str, chosen: frozenset[str]) -> frozenset[str]:
    """Return words of the options that were not chosen; what was chosen, where it may be one of several."""
    options = _options(question)
    taken = [one for one in options if chosen <= one.roots]
    if len(taken) > 1:
        return chosen
    # What all have in common stands in the first before what tells it from the others, in the last behind that.
    own = [one.order for one in options]
    own[:1], own[-1:] = [one[-1:] for one in own[:1]], [one[:1] for one in own[-1:]]
    return frozenset(root for some in own for root in some) - roots(taken) - chosen


def _proposes(question: str, spoken: frozenset[str]) -> bool:
    """Whether a line speaks of what a question offers: what comes first in it, not what a later clause mentions."""
    if _options(question):
        return False
    head, colon, asked = question.rpartition(": ")
    order = parsed(asked if colon and "i" in map(folded, words(head)) else question)[0].order
    return next((root in spoken for root in order if root not in OFFERING), False)


def _told(text: str) -> list[str]:
    """Return the sentences of a message that ask nothing, and all of these together."""
    stated = [one.text for one in parsed(text) if not asks(one.text)]
    return [" ".join(stated), *stated] if stated else []


def _sure(text: str, unclear: Iterable[str]) -> str:
    """Return a message without its `unclear` passages."""
    for passage in unclear:
        text = text.replace(passage, " ")
    return text.strip()


@dataclass(frozen=True, slots=True)
class Heard:
    """What was said in a turn, pasted and injected text left out. Of a compaction there is only the summary.

    `before` is the end of what the agent had said until then. Of the `unclear` passages of what the user typed the
    judge is not sure that they wrote them. `quoting` is what they typed with what stands in quotes there.
    """

    user: str = ""
    agent: str = ""
    summary: str = ""
    before: str = ""
    unclear: tuple[str, ...] = ()
    quoting: str = ""

    @classmethod
    def of(cls, note: Note, judge: Judge) -> "Heard":
        """Listen to a turn or a summary."""
        text = plain(note.text)
        if note.channel == "compact":
            return cls(summary=prose(text)[:HEARD])
        typed, summary = continued(text)
        user, unclear = heard(judge, typed)
        before, answer = answered(note.reply)
        agent = prose(plain(parted(answer)[0]))
        summary, before = prose(summary)[:HEARD], prose(plain(parted(before)[0]))
        return cls(user[:HEARD], agent[:HEARD], summary, before, unclear, prose(typed)[:HEARD])

    @property
    def spoken(self) -> Said:
        """What the user surely typed, after what the agent had said."""
        return Said.after(self.before, _sure(self.user, self.unclear))

    @property
    def stated(self) -> str:
        """What the user surely said themselves, but asked, a sentence a paragraph."""
        return "\n\n".join(one.text for one in parsed(self.user) if not (asks(one.text) or self.doubts(one.text)))

    def doubts(self, text: str) -> bool:
        """Whether a text holds, or is part of, what the user may not have written."""
        # What is kept of a list lacks the marks of its items.
        return any(passage.lstrip(_MARKS) in text or text in passage for passage in self.unclear)

    @property
    def everything(self) -> str:
        """What anybody said."""
        return f"{self.before}\n\n{self.user}\n\n{self.agent}\n\n{self.summary}"

    def request(self, note: Note) -> Request:
        """Put the question to the built-in model, which reads a turn by itself."""
        payload = {"before": self.before, "user": self.user, "summary": self.summary}
        return Request(task="turn", role="fast", system="", user="", schema={}, payload=payload, note=note)


def answered(reply: str) -> tuple[str, str]:
    """Return what the agent had said before a turn, and its answer (memman.hot.capture)."""
    if reply[:1] == "[":
        with suppress(ValueError, TypeError):
            (_, before), (_, answer) = json.loads(reply)
            return str(before), str(answer)
    return "", reply


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


def heard(judge: Judge, text: str) -> tuple[str, tuple[str, ...]]:
    """Return what the author of a message may have typed, and its passages that are not their word."""
    said = own(text)
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
