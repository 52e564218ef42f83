"""What we say in a file of rules that is the user's own, between two comments at its end."""

import re

from memman.integrations.edits import CannotEdit, newline

FORM = "rules"
_BEGIN = "<!-- memman: written by `memman install`, removed by `memman uninstall` -->"
_END = "<!-- /memman -->"
# The line break before it is ours.
_BLOCK = re.compile(
    rf"(?:\r?\n)?{re.escape(_BEGIN)}(?:(?!{re.escape(_BEGIN)}).)*?{re.escape(_END)}(?:\r?\n)?", re.DOTALL
)


def put(text: str, says: str) -> str:
    """Have exactly what is said as our block, at the end. Raises CannotEdit."""
    nl, bare = newline(text), take(text)
    lines = (_BEGIN, *says.splitlines(), _END, "")
    return f"{bare}{nl if bare else ''}{nl.join(lines)}"


def take(text: str) -> str:
    """Take our block out. Raises CannotEdit where its last line is gone: what follows may be the user's."""
    while block := _BLOCK.search(text):
        before, after = text[: block.start()], text[block.end() :]
        joined = before and after and not before.endswith("\n") and not after.startswith(("\n", "\r"))
        text = before + (newline(text) if joined else "") + after
    if _BEGIN in text:
        line = text[: text.index(_BEGIN)].count("\n") + 1
        raise CannotEdit(f"line {line} begins memman's block, which has lost its last line: put {_END} back after it")
    return text


def holds(text: str) -> bool:
    """Whether our block is in a text."""
    return bool(_BLOCK.search(text))
