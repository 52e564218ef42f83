"""Text that is written to steer an agent: its structure gives it away, or the judge takes it for an order to agents."""

import re
from collections.abc import Iterator, Sequence

from memman.judge.judge import Judge
from memman.model.records import Fact
from memman.model.text import without_questions
from memman.pipeline.deobfuscate import hidden, readings

# Characters looked at: more than a fact may have.
LONGEST = 8_000
HIDES, SPEAKS, STEERS = "hides text", "speaks as system or assistant", "reads as if written to steer agents"
# What the judge says of a text that is.
_PROBABLY = 2
_COMMENT = re.compile(r"<!--(.*?)(?:-->|\Z)", re.DOTALL)
# A mark that stands alone in a span of code is spoken about.
_NAMED = re.compile(r"`[^`\s]{1,40}`")
# How templates of chats, their JSON, transcripts, and calls of tools mark who speaks.
_ROLES = re.compile(
    r"""<\|/?(?:system|im_start|im_end|assistant|user|start_header_id|end_header_id|eot_id|endoftext)\|>
    |\[/?(?:INST|SYS)\]|<</?SYS>>|<(?:start|end)_of_turn>
    |<\s?/?\s?(?:memman-memory|system-reminder|hook_context|system|assistant|function_calls?|invoke|tool_calls?|tool_use
      |tool_result|function_results?|antml:\w+)\b[^<>\n]{0,100}>
    |["']role["']\s*:\s*["'](?:system|developer|assistant|user)["']\s*,\s*["'](?:content|text|parts)["']\s*:
    |["'](?:tool|function|name|recipient_name)["']\s*:\s*["'][\w.-]{1,60}["']\s*,\s*["'](?:arguments|input|parameters)["']\s*:
    |^\W{0,8}(?-i:SYSTEM|DEVELOPER)(?:[ ](?-i:MESSAGE|PROMPT))?\s*:\s
    |^\W{0,8}(?:human|user)\s*:[^\n]{0,400}\n{1,3}\W{0,8}assistant\s*:
    |^\W{0,8}assistant\s*:[^\n]{0,400}\n{1,3}\W{0,8}(?:human|user)\s*:""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)


def planted(text: str) -> str:
    """Say what in the structure of a text shows that it was put before an agent, '' where nothing does."""
    text = text[:LONGEST]
    if hidden(text):
        return HIDES
    return SPEAKS if any(_ROLES.search(_NAMED.sub("", read)) for read in readings(text)) else ""


def steering(judge: Judge | None, texts: Sequence[str]) -> list[str]:
    """Say of each text why it is taken for an order to agents, '' where it is not; without the judge by structure."""
    found = [planted(text) for text in texts]
    asked = {text: [*_read(text)] for text, why in zip(texts, found, strict=True) if judge and not why}
    every = list(dict.fromkeys(read for reads in asked.values() for read in reads))
    bands = dict(zip(every, judge.steering(every), strict=True)) if judge and every else {}
    told = {text for text, reads in asked.items() if any(bands[read] == _PROBABLY for read in reads)}
    return [why or (STEERS if text in told else "") for text, why in zip(texts, found, strict=True)]


def parts(fact: Fact) -> list[str]:
    """Return all of a fact that an agent may read; names and keywords also joined, for each may be part of an order."""
    names = (*fact.entities, *without_questions(fact.keywords))
    beside = (fact.summary, " ".join(names), *(name for name in names if " " in name))
    return [fact.text, *(one for one in dict.fromkeys(beside) if one and one not in fact.text)]


def _read(text: str) -> Iterator[str]:
    """Yield a text as the judge is to read it: as it looks, decoded, and what its comments say."""
    for read in readings(text[:LONGEST]):
        yield from filter(str.strip, (_COMMENT.sub("", read), *_COMMENT.findall(read)))
