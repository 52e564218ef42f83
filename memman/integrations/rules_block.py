"""What we say in a file of rules that is the user's own, between two comments at its end."""

import re

from memman.integrations.edits import newline

FORM = "rules"
_BEGIN = "<!-- memman: written by `memman install`, removed by `memman uninstall` -->"
_END = "<!-- /memman -->"
# The line break before it is ours.
_BLOCK = re.compile(rf"(?:\r?\n)?{re.escape(_BEGIN)}.*?{re.escape(_END)}(?:\r?\n)?", re.DOTALL)


def put(text: str, says: str) -> str:
    """Have exactly what is said as our block, at the end."""
    nl, bare = newline(text), take(text)
    lines = (_BEGIN, *says.splitlines(), _END, "")
    return f"{bare}{nl if bare else ''}{nl.join(lines)}"


def take(text: str) -> str:
    """Take our block out."""
    return _BLOCK.sub("", text)


def holds(text: str) -> bool:
    """Whether our block is in a text."""
    return bool(_BLOCK.search(text))
