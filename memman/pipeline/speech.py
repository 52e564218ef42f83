"""A message's own words: without what its author pasted, quoted or never wrote."""

import re
from collections.abc import Iterator

# Characters of a message that are looked at: a long prompt is long by what was pasted into it.
LONGEST = 24_000
# Characters; a longer last paragraph after something pasted belongs to it.
_CLOSING = 400

_TAG = re.compile(r"<([A-Za-z][\w.:-]*)\b[^<>\n]{0,400}>")
_FENCE = re.compile(r"\s{0,8}(`{3,}|~{3,})")
# How a line begins that a machine or an editor wrote: quotes, prompts, hits of recall, diffs, logs, traces, code.
_MACHINE = re.compile(
    r"""\s*(?:
      >|\$\s|%\s|>>>|\u276f|\#|//|/\*|<!--|\||\^+\s*$|-->|[{}\[\]]|"[\w.\-]+"\s*:
    | [0-9a-f]{8}\s(?:\d+[ydhms]|now)\s[\w\s,()]{1,60}:\s
    | diff\s--git|index\s[0-9a-f]{6,}|@@\s|[+\-]{3}\s|[+\-](?![\-+*\s])\S
    | \d{4}-\d\d-\d\d[T\s]\d\d:|\[?\d\d:\d\d:\d\d|\[\d
    | \[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL|FAIL|FAILED|PASS|PASSED)\b[:\s\]]
    | (?:[Ee]rror(?:\[\w+\])?|[Ww]arning|help|hint|fatal|panic|Caused\sby|E)\b(?::\s|!|\s{2,})
    | npm\s(?:ERR!|WARN|error|warn)\b|Traceback\s\(|File\s"|(?:\w+\.)*\w*(?:Error|Exception)\b:
    | \d+\s*\|
    | (?:[\w.@~\-]*/)+[\w.@\-]*(?::\d+)*\s*$
    | (?:import|from|package|using|\#include)\s[\w."'<>{},*\s]+;?\s*$
    | (?:export\s|async\s|public\s|private\s|static\s)*(?:def|class|function|func|fn|const|var|interface|struct)\s\w
    | [\w.\[\]"']+\s*(?::\s*\w+\s*)?[+\-|]?=\s?\S
    )
    | \s+at\s\S+\s?[(\w]
    | (?:\s{4}|\t)\s*(?![-*+•]\s|\d+[.)]\s)\S""",
    re.VERBOSE,
)
# Lines of an agent's message that are not its own.
_ECHOED = re.compile(r"\s*(?:>|\||(?:[-*]\s+)?[0-9a-f]{8}\s(?:\d+[ydhms]|now)\s[\w\s,()]{1,60}:\s)")
_PASTED = re.compile(
    r"""\b(?:logs?|outputs?|errors?|trace|traceback|stack|readme|docs?|documentation|files?|diff|patch|comments?
    |messages?|issue|ticket|specs?|config|response|code|snippet|function|class|page|article|e-?mail|mail|review|reviewer
    |description|changelog|contents?|text|says|said|wrote|writes|got|getting|gives|see|sees|prints?|this|that|below
    |following|query|json|ya?ml|xml|html|script|prompt|guidelines?|guide|contributing|\w+\.md|examples?|transcript
    |customer|colleague|boss|client|user|team|deploy|ci)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_OWN_LIST = re.compile(
    r"\b(?:rules?|preferences?|conventions?|remember|from now on|notes?|reminders?|things?|please follow)\b",
    re.IGNORECASE,
)
_PAYLOAD = re.compile(
    r"(?:please |can you |could you )?(?:translate|summari[sz]e|proof-?read|rephrase|reword|paraphrase|rewrite"
    r"|fix the (?:grammar|wording|spelling|typos?)|spell-?check|polish|shorten)\b[^:\n]{0,80}:",
    re.IGNORECASE,
)
# How somebody turns back to the agent after something pasted; a document's own rules begin otherwise.
_ADDRESS = re.compile(
    r"""(?:please|pls|plz|can|could|would|what|why|how|where|which|any|fix|help|does|did|is|are|tell|also|btw
    |by\ the\ way|anyway|ok|okay|thanks|thank|make\ (?:this|these|it|that)|open\ a|review|let'?s|shorten|translate
    |summari[sz]e|explain|convert|implement|refactor|i\ (?:want|need|think|guess)|i'?d)\b""",
    re.IGNORECASE | re.VERBOSE,
)


def own(text: str) -> str:
    """Return what the author of `text` said in their own words, paragraph by paragraph."""
    return "\n\n".join(_said(_unframed(text[:LONGEST])))


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


def _said(text: str) -> Iterator[str]:
    """Yield the paragraphs that the author wrote."""
    paragraphs = list(_paragraphs(text))
    pasted = False
    for n, (lines, fenced) in enumerate(paragraphs):
        if fenced:
            pasted = False  # what was announced was fenced
            continue
        last = n == len(paragraphs) - 1
        if pasted and not (last and _addressed(lines)):
            continue
        kept, pasted = _typed(lines)
        if kept:
            yield "\n".join(kept)


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


def _addressed(lines: list[str]) -> bool:
    return bool(_ADDRESS.match(lines[0].strip())) and sum(map(len, lines)) <= _CLOSING


def _typed(lines: list[str]) -> tuple[list[str], bool]:
    """Return a paragraph's own lines, and whether what follows is pasted."""
    kept: list[str] = []
    for line in lines:
        if line.lstrip().startswith(("# ", "##")):
            return kept, True  # a document begins
        if _machine(line):
            return kept, False  # what follows it in one paragraph is of its kind
        payload = _PAYLOAD.match(line.strip())
        if payload:
            return [*kept, payload[0]], True
        kept.append(line)
        if line.rstrip().endswith(":") and _PASTED.search(line) and not _OWN_LIST.search(line):
            return kept, True
    return kept, False


def _machine(line: str) -> bool:
    ended = line.rstrip()
    code = ended.endswith((";", "{", "}", "=>")) and any(mark in ended for mark in "(){}=")
    return code or bool(_MACHINE.match(line))
