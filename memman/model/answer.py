"""What a short statement answered, told behind it: `At seven. (to: "When is it to run?")`."""

import re

from memman.model.text import plain

# Characters that are told of what was answered.
LONGEST = 120
_ANSWERING = re.compile(r' \(to: "[^"]*"\)$')


def answering(statement: str, question: str) -> str:
    """Return a statement with what it answers."""
    return f'{statement} (to: "{plain(question.replace(chr(34), chr(39)), LONGEST)}")'


def said(text: str) -> str:
    """Return a statement without what it answers: that is context, and nobody's word."""
    return _ANSWERING.sub("", text)
