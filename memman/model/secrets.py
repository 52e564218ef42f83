"""Taking secrets out of a text: what the rules find becomes typed markers such as `[redacted:aws-access-key]`."""

import re

from memman.model.secret_rules import RULES, Rule
from memman.model.secret_words import HIDDEN

_PRIVATE = r"(?i)<private\b[^<>]*+>[\s\S]*?(?:</private\s*+>|\Z)"
# Between visible ASCII nothing invisible has a purpose, but to split a token.
_SPLIT = f"(?<=[!-~])[{HIDDEN}]++(?=[!-~])"
# What a bounded pattern took whole may go on.
_BOUND = 120
_REST = r"[^\s\"'`]*+"


def redact(text: str) -> str:
    """Replace every secret by its typed marker, and drop `<private>…</private>`; what holds neither stays as it is."""
    whole = text if text.isascii() else re.sub(_SPLIT, "", text)
    clean = _cleaned(whole)
    return text if clean == whole else clean


def _cleaned(text: str) -> str:
    lowered = text.lower()
    if "<private" in lowered:
        text = re.sub(_PRIVATE, "[private]", text)
    for rule in RULES:
        if any(word in lowered for word in rule.words):
            text = _swept(rule, text)
    return text


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
