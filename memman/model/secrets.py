"""Taking secrets out of a text: what the rules find becomes typed markers such as `[redacted:aws-access-key]`."""

import re
from collections import Counter
from typing import Any, NamedTuple

from memman.model.secret_rule import Rule
from memman.model.secret_rules import RULES
from memman.model.secret_words import HIDDEN, masked, suspicious

_PRIVATE = r"(?i)(?:<|&lt;)\s?(/?)\s?private\b[^<>&]*(?:>|&gt;)"
_DROPPED = "[private]"
# Between visible ASCII nothing invisible has a purpose, but to split a token.
_SPLIT = f"(?<=[!-~])[{HIDDEN}]+(?=[!-~])"
_MARKER = r"\[(?:redacted:([a-z0-9-]+)|private)\]"
# Characters shown on either side of a marker.
_AROUND = 24
# What a bounded pattern took whole may go on.
_BOUND = 120
_REST = r"[^\s\"'`]*"


def redact(text: str) -> str:
    """Replace every secret by its typed marker, and drop `<private>…</private>`; what holds neither stays as it is."""
    whole = text if text.isascii() else re.sub(_SPLIT, "", text)
    clean = _without(whole)
    return text if clean == whole else clean


class Leak(NamedTuple):
    """A secret in a text: the rule that finds it, and what stands around its marker."""

    rule: str
    excerpt: str


def leaks(text: str) -> list[Leak]:
    """Return the secrets in a text, none of them itself."""
    if not suspicious(text):
        return []
    left, found = redact(text), []
    known = Counter(marker[0] for marker in re.finditer(_MARKER, text))
    for marker in re.finditer(_MARKER, left):
        if known[marker[0]]:
            known[marker[0]] -= 1
            continue
        excerpt = left[max(0, marker.start() - _AROUND) : marker.end() + _AROUND]
        found.append(Leak(marker[1] or "private", " ".join(excerpt.split())))
    return found


def cleaned(value: Any) -> Any:
    """Return JSON with the secrets taken out of every string in it."""
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, dict):
        return {name: cleaned(one) for name, one in value.items()}
    return [cleaned(one) for one in value] if isinstance(value, list | tuple) else value


def _without(text: str) -> str:
    lowered = text.lower()
    if "private" in lowered:
        text = _public(text)
    for rule in RULES:
        if any(word in lowered for word in rule.words):
            text = _swept(rule, text)
    return text


def _public(text: str) -> str:
    """Drop private passages, each with those within it.

    One that is not closed goes on to the end; one that is closed and was not
    opened began in another field, and so with this text.
    """
    kept: list[str] = []
    depth = done = 0
    for tag in re.finditer(_PRIVATE, text):
        if tag[1] and not depth:
            kept = [_DROPPED]
        elif not tag[1]:
            kept += () if depth else (text[done : tag.start()], _DROPPED)
        depth = max(0, depth - 1) if tag[1] else depth + 1
        done = tag.end()
    return "".join((*kept, "" if depth else text[done:]))


def _swept(rule: Rule, text: str) -> str:
    """Replace what one rule finds; within what turns out to be none the search goes on."""
    pattern = re.compile(rule.pattern, re.ASCII)
    kept: list[str] = []
    done = at = 0
    while match := pattern.search(text, at):
        start, end = match.span("secret")
        if not rule.likely(match):
            at = max(start, match.start() + 1)
            continue
        if end - start >= _BOUND and (rest := re.compile(_REST).match(text, end)):
            end = rest.end()
        kept += (text[done:start], f"[redacted:{rule.name}]")
        done = at = end
    return "".join((*kept, text[done:]))
