"""A message's own words: without what its author pasted, quoted or never wrote."""

import re
from collections.abc import Iterable, Iterator

from memman.pipeline.injection import attack
from memman.pipeline.pasted import announces, command, foreign, machine, told, voices
from memman.pipeline.pointing import back
from memman.pipeline.reported_speech import spoken

# Characters of a message that are looked at: a long prompt is long by what was pasted into it.
LONGEST = 24_000
# Characters; a longer last paragraph after something pasted belongs to it.
_CLOSING = 400

# How the summary begins that a host puts before a model as if its user had written it, once a session is too long.
_CONTINUED = re.compile(
    r"^(?:This session is being continued from a previous conversation|Another language model started to solve this)",
    re.MULTILINE,
)
# What a host puts in place of what was attached.
_ATTACHED = re.compile(r"\[(?:Image|Pasted text) #\d+[^\]\n]{0,40}\]\s*")
_TAG = re.compile(r"<([A-Za-z][\w.:-]*)\b[^<>\n]{0,400}>")
_FENCE = re.compile(r"\s{0,8}(`{3,}|~{3,})")
# Lines of an agent's message that are not its own.
_ECHOED = re.compile(r"\s*(?:>|\||(?:[-*]\s+)?[0-9a-f]{8}\s(?:\d+[ydhms]|now)\s[\w\s,()]{1,60}:\s)")
# How somebody turns back to the agent after something pasted; a document's own rules begin otherwise.
_ADDRESS = re.compile(
    r"""(?:please|pls|plz|can|could|would|what|why|how|where|which|any|fix|help|does|did|is|are|tell|also|btw
    |by\ the\ way|anyway|ok|okay|thanks|thank|make\ (?:this|these|it|that)|open\ a|review|let'?s|shorten|translate
    |summari[sz]e|explain|convert|implement|refactor|i\ (?:want|need|think|guess)|i'?d|and|but|so|now|no|nope|hm+
    |that(?:'?s|\ is))\b""",
    re.IGNORECASE | re.VERBOSE,
)


def continued(text: str) -> tuple[str, str]:
    """Split a prompt into what its author wrote and the agent's summary of the session before."""
    found = _CONTINUED.search(text)
    return (text[: found.start()], text[found.start() :]) if found else (text, "")


def own(text: str) -> str:
    """Return what the author of `text` said in their own words, paragraph by paragraph: nobody attacks their agent."""
    return _paragraphed(said for said, _ in _said(text))


def announced(text: str) -> str:
    """Return what nothing but an announcement before it takes from the author of `text`, paragraph by paragraph."""
    return _paragraphed(after for _, after in _said(text))


def _paragraphed(said: Iterable[str]) -> str:
    return "\n\n".join(paragraph for paragraph in said if paragraph and not attack(paragraph))


def prose(text: str) -> str:
    """Return a message of an agent without code, quotes and what stands in frames."""
    kept = ([line for line in lines if not _ECHOED.match(line)] for lines, _ in _paragraphs(_unframed(text[:LONGEST])))
    return "\n\n".join("\n".join(lines) for lines in kept if lines)


def _unframed(text: str) -> str:
    """Cut out every `<tag>…</tag>`: injected by a program, or markup that was pasted."""
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


def _said(text: str) -> Iterator[tuple[str, str]]:
    """Yield of each paragraph what the author wrote, and what follows an announcement."""
    paragraphs = list(_paragraphs(_ATTACHED.sub("", _unframed(text[:LONGEST]))))
    others = voices([line for lines, _ in paragraphs for line in lines])
    paragraphs = _from_author(paragraphs)
    pasted = False
    for n, (lines, fenced) in enumerate(paragraphs):
        if fenced:
            pasted = False  # what was announced was fenced
            continue
        last = n == len(paragraphs) - 1
        if pasted and not (last and _addressed(lines)):
            yield "", _unmarked(lines, others)
            continue
        kept, after, pasted = _typed(lines, others)
        yield "\n".join(kept), _unmarked(after, others)


def _unmarked(lines: list[str], others: frozenset[str]) -> str:
    """Return the lines that nothing in themselves shows to be a machine's or somebody else's."""
    marked = (line in others or foreign(line) or machine(line) or told(line) or _ECHOED.match(line) for line in lines)
    return "\n".join(line for line, theirs in zip(lines, marked, strict=True) if not theirs)


def _paragraphs(text: str) -> Iterator[tuple[list[str], bool]]:
    """Yield (lines, whether they were fenced); a fence that is never closed reaches to the end."""
    lines: list[str] = []
    fence = ""
    for line in text.splitlines():
        opened = _FENCE.match(line)
        if fence:
            if line.strip().startswith(fence):
                fence = ""
        elif opened or not line.strip():
            if lines:
                yield lines, False
            lines = []
            if opened:
                fence = opened[1]
                yield [], True
        else:
            lines.append(line)
    if lines:
        yield lines, False


def _from_author(paragraphs: list[tuple[list[str], bool]]) -> list[tuple[list[str], bool]]:
    """Leave out all that stands before a line which says of it that somebody else wrote it."""
    backs = [
        (n, at, start)
        for n, (lines, _) in enumerate(paragraphs)
        for at, line in enumerate(lines)
        if (start := back(line)) is not None
    ]
    if not backs or backs[-1] == (0, 0, 0):
        return paragraphs
    n, at, start = backs[-1]
    lines = paragraphs[n][0][at:]
    return [([lines[0][start:].lstrip(), *lines[1:]], False), *paragraphs[n + 1 :]]


def _addressed(lines: list[str]) -> bool:
    return bool(_ADDRESS.match(lines[0].strip())) and sum(map(len, lines)) <= _CLOSING


def _typed(lines: list[str], others: frozenset[str]) -> tuple[list[str], list[str], bool]:
    """Return a paragraph's own lines, those that are announced, and whether the next paragraphs are pasted."""
    kept: list[str] = []
    for n, line in enumerate(lines):
        theirs = line in others or foreign(line)
        if theirs or machine(line):
            return kept, [], theirs  # what follows it in one paragraph is of its kind
        teller = told(line)
        if teller:
            return [*kept, teller], [], False
        said, ended = spoken(line)
        kept += [said] if said else []
        if ended:
            return kept, [], said == line.strip() or not line.rstrip().endswith((".", "!"))
        if announces(line, "".join(lines[1:2]) if line is lines[0] else ""):
            return kept, lines[n + 1 :], True
        if command(line):
            return kept, [], line is lines[-1]
    return kept, [], False
