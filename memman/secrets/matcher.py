"""Taking secrets out of a text: what the rules find becomes typed markers such as `[redacted:aws-access-key]`."""

import re

from memman.secrets import suspicious
from memman.secrets.rules import FRAGMENTS, PRIVATE, RULES, Rule

_TAG = re.compile(PRIVATE.row["pattern"])
_DROPPED = "[private]"
# Between visible ASCII nothing invisible has a purpose, but to split a token.
_SPLIT = f"(?<=[!-~])[{FRAGMENTS['hidden']}]+(?=[!-~])"
# What a bounded pattern took whole may go on.
_BOUND = 120
_REST = r"[^\s\"'`]*"
# What stands before a name that is part of a marker, and so names nothing.
_IN_MARKER = re.compile(r"\[redacted:[a-z0-9-]*\Z")
# What parts the cells of a row, the most characters of a header's cell, and what is in one above a column of secrets.
_PARTS = "|\t,;"
_WIDEST = 32
_HEADER = re.compile(
    r"(?i)pass|pwd|kennwort|contrase|senha|parola|wachtwoord|hasł|парол|密码|密碼|口令|パスワード|비밀번호|secret|token|key|code"
)


def redact(text: str) -> str:
    """Replace every secret by its typed marker, and drop `<private>…</private>`; what holds neither stays as it is."""
    whole = text if text.isascii() else re.sub(_SPLIT, "", text)
    clean = _without(whole)
    if "\n" in clean and suspicious(clean):
        clean = _tabled(clean)
    return text if clean == whole else clean


def _without(text: str) -> str:
    lowered = text.lower()
    if "private" in lowered:
        text = _public(text)
    for rule in RULES:
        if any(word in lowered for word in rule.words):
            text = _swept(rule, text)
    return text


def _tabled(text: str) -> str:
    """Take secrets out of tables of Markdown, CSV and TSV: a cell is judged as what its header says it is."""
    lines = text.split("\n")
    for part in _PARTS:
        header: list[str] = []
        for number, line in enumerate(lines):
            cells = line.split(part)
            if len(cells) > 1 and len(cells) == len(header):
                lines[number] = part.join(map(_cell, header, cells))
            else:
                header = cells if max(map(len, cells)) <= _WIDEST else []
    return "\n".join(lines)


def _cell(header: str, cell: str) -> str:
    value = cell.strip()
    if not value or "[redacted:" in value or not _HEADER.search(header):
        return cell
    name = header.strip(" *`") + ": "
    return cell.replace(value, _without(name + value).removeprefix(name))


def _public(text: str) -> str:
    """Drop private passages, each with those within it.

    One that is not closed goes on to the end; one that is closed and was not
    opened began in another field, and so with this text.
    """
    kept: list[str] = []
    depth = done = 0
    for tag in _TAG.finditer(text):
        if tag[1] and not depth:
            kept = [_DROPPED]
        elif not tag[1]:
            kept += () if depth else (text[done : tag.start()], _DROPPED)
        depth = max(0, depth - 1) if tag[1] else depth + 1
        done = tag.end()
    return "".join((*kept, "" if depth else text[done:]))


def _swept(rule: Rule, text: str) -> str:
    """Replace what one rule finds; within what turns out to be none the search goes on."""
    kept: list[str] = []
    done = at = 0
    while match := rule.pattern.search(text, at):
        start, end = match.span("secret")
        if not rule.likely(match) or _IN_MARKER.search(text, max(0, match.start() - _BOUND), match.start()):
            at = max(start, match.start() + 1)
            continue
        if end - start >= _BOUND and (rest := re.compile(_REST).match(text, end)):
            end = rest.end()
        kept += (text[done:start], f"[redacted:{rule.name}]")
        done = at = end
    return "".join((*kept, text[done:]))
