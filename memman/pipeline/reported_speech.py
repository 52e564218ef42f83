"""Where in a line its author stops to speak for themselves: what they hand on, dictate, quote or point at."""

import re

from memman.pipeline.injection import reported
from memman.pipeline.pointing import TEXT, behind

# How a text goes on where its words are given.
_GIVEN = (
    r"(?::|\b(?:saying|stating|titled|(?:that|which) (?:says|reads|states|tells)|so (?:that )?it (?:says|reads)|to (?:say|read)"
    r"|with the (?:text|words?|title|content|line)|(?:begin|start|end)(?:s|ning|ing)? with)\b:?)"
).replace(" ", r"\ ")
_DICTATED = re.compile(
    rf"""(?:(?:please|pls|now|then|and|also|can\ you|could\ you|would\ you)\ )*
    (?:(?:translate|summari[sz]e|proof-?read|rephrase|reword|paraphrase|rewrite|fix\ the\ (?:grammar|wording|spelling|typos?)
     |spell-?check|polish|shorten|improve|explain|reformat|format)\b[^:\n]{{0,80}}:
    |(?:write|draft|compose|create|generate|make|add|put|insert|append|include|post|send|open|file|print|show|display|paste
     |change|set|prepend)\b[^:.\n]{{0,60}}\b{TEXT}\b[^:.\n]{{0,40}}?{_GIVEN}
    |(?:make|let|have)\ (?:the|an?|my|our|it|him|her|them)\b[^.:\n]{{0,60}}?\ (?:say|answer|respond|reply|claim)\b
    |what\ (?:do|does|is|are)\b[^:\n]{{0,60}}:
    |post\ (?:in|to|on)\b[^:\n]{{0,60}}:
    |(?:commit\ (?:it|this|that|them|all)?\ ?(?:as|with)|reply|answer|respond|say|print|echo|type)\b[^:.\n]{{0,20}}:)""",
    re.IGNORECASE | re.VERBOSE,
)
# A name of what follows on the line that makes it no statement.
_LABELLED = re.compile(
    r"(?:some |the |my |here(?:'s| is) (?:some |the |a |my )?)?(?:(?:test|sample|seed|dummy|mock|example|training) (?:data|input|text"
    r"|case|prompt|message|user|output|sentences?)|fixtures?|examples?|e\.g\.|lorem ipsum|placeholder|input|stdin|scenario"
    r"|(?:system )?prompt[^:\n]{0,40}|user story|acceptance criteria|quote|quoted|excerpt|transcript|subtitles?|lyrics|chatgpt|gpt[\w.\-]*|gemini|copilot|stack ?overflow|(?:expected|actual)(?: (?:output|result|text|message|value))?"
    r")(?: \d+)?\s?(?::|->|=>)|for (?:example|instance)\s?[:,]|e\.g\.\s|(?:https?://\S+|[\w.\-]+\.[a-z]{2,}/\S*) ?(?:\u2192|->|=>)\s",
    re.IGNORECASE,
)
# Somebody else and how they say it; what was told by the author themselves, or to the agent, is theirs.
_SAYS = re.compile(
    r"""\b(?:it|he|she|they|this|which|(?:(?:the|an?|this|that|my|our|your|their|his|her|some|one)\ (?:[\w'/.\-]{1,40}\ ){0,3})
      ?[\w'/.\-]{1,40})(?:\ (?:on|in|from|at)\ [\w.\-]{1,40})?
    (?<!\bi)(?<!\bwe)(?<!\byou)(?<!\bto)
    (?:\ (?:also|just|clearly|then|now|even|explicitly|simply))?
    \ (?:(?:says|said|suggests|suggested|recommends|recommended|insists|advises|advised|replied|answered|commented|wrote|argues|explains)(?=[\s:])
      (?!\s*(?:$|[.!?;]|so\b|nothing\b|\w+[.!]?\s*$))
    |(?<=they\ )(?:say|explain|recommend|suggest|write)(?=[\s:])
    |(?:states|stated|claims|claimed|mentions|mentioned|instructs|demands|goes|reads)(?=\s*(?:that\b|:|["'\u201c\u201e]))
    |(?:tells|told)\ (?:me|us|everyone|everybody|people|the\ (?:team|agent|reader|model)|agents?|readers?|developers?)\b)""",
    re.IGNORECASE | re.VERBOSE,
)
_SENTENCE = re.compile(r"[^.!?]*(?:[.!?](?!\s|$)[^.!?]*)*[.!?]*\s*")
# How an author sets their own word against somebody else's.
_WRONG = re.compile(
    r"\b(?:that|this|it|which|they)(?:(?:'s|'re| is| are| was| were) (?:\w+ )?(?:wrong|outdated|out of date|incorrect|not true"
    r"|obsolete|stale|no longer true|nonsense)|isn't true)\b|\bi disagree\b",
    re.IGNORECASE,
)
_INSTEAD = re.compile(r"\b(?:not|instead of|rather than|no longer) (\w+)", re.IGNORECASE)
# Quotes of a few words and more.
_QUOTED = re.compile(
    r"\"[^\"\n]{12,}\"|\u201c[^\u201d\n]{12,}\u201d|\u201e[^\u201c\u201d\n]{12,}[\u201c\u201d]|\u00ab[^\u00bb\n]{12,}\u00bb"
    r"|(?<![\w'])'(?:[^'\n]|(?<=\w)'(?=\w)){12,400}'(?!\w)"
)
_WORDS = 4
# Sentences stand in a span of code where so many of its words are letters alone, and none is an option.
_CODE, _PLAIN, _SENTENCE_WORDS = re.compile(r"`[^`\n]{12,}`"), re.compile(r"[^\W\d_]+[,.;:!?]?"), 6
# Characters of a sentence that are looked at.
_LONGEST = 1_000


def spoken(line: str) -> tuple[str, bool]:
    """Return what of a line its author says for themselves, and whether it ends there."""
    stripped = line.strip()
    dictated = _DICTATED.match(stripped)
    if dictated:
        return dictated[0], True
    if _LABELLED.match(stripped):
        return "", True
    pointed = behind(stripped)
    if pointed:
        return stripped[:pointed], True
    sentences = _SENTENCE.findall(line)
    told = next((n for n, one in enumerate(sentences) if _handed_on(one)), None)
    if told is None or _denied(sentences[told], "".join(sentences[told + 1 :])):
        return _unquoted(line), False
    return "".join(sentences[:told]).rstrip(), True


def _handed_on(sentence: str) -> bool:
    """Whether the sentence, no question, tells what somebody else says."""
    said = sentence[:_LONGEST]
    return not sentence.rstrip().endswith("?") and bool(_SAYS.search(said) or reported(said))


def _denied(said: str, after: str) -> bool:
    """Whether the author says that what was `said` is wrong, or that it is not one of its words."""
    words = set(said.lower().replace(".", " ").split())
    return bool(_WRONG.search(said + after)) or not words.isdisjoint(map(str.lower, _INSTEAD.findall(after)))


def _unquoted(line: str) -> str:
    """Leave out what stands in quotes, but for single words and names, and sentences in a span of code."""
    line = _CODE.sub(lambda said: "`\u2026`" if _prose(said[0][1:-1]) else said[0], line)
    return _QUOTED.sub(lambda said: '"\u2026"' if len(said[0].split()) >= _WORDS else said[0], line)


def _prose(said: str) -> bool:
    words = said.split()
    options = any(word.startswith("-") for word in words)
    return not options and sum(bool(_PLAIN.fullmatch(word)) for word in words) >= _SENTENCE_WORDS
