"""The frame that memories stand in when a hook puts them before a model, and its removal from what comes back."""

from memman.model.text import UNSEEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

TAG = "memman-memory"
RULES_TAG = "memman-rules"
HANDOVER_TAG = "memman-handover"
# What agents and hooks put around text that the user did not write.
INJECTED = (
    TAG,
    RULES_TAG,
    HANDOVER_TAG,
    *("hook_context", "system-reminder", "user-prompt-submit-hook", "task-notification"),
    *("local-command-caveat", "local-command-stdout", "local-command-stderr"),
    *("command-name", "command-message", "command-args", "bash-input", "bash-stdout", "bash-stderr"),
    *("ide_opened_file", "ide_selection", "environment_context", "user_instructions"),
)
# How Claude Code 2.1.329 opens a paste of four lines or more, or some 800 characters (750 were not marked, 850 were).
# It closes with the same words; the number is the session's, and nobody who wrote what is pasted knows it.
_PASTE = '<pasted_content id="'
# What is not seen would hide a tag's name; wide and small angle brackets are taken for plain ones.
_PLAIN = UNSEEN | dict.fromkeys((0xFE64, 0xFF1C), "<") | dict.fromkeys((0xFE65, 0xFF1E), ">")
# What makes a tag of a `<` before it.
_TAG_SIGNS = frozenset("/!?|")


def framed(head: str, lines: "Iterable[str]", tag: str = TAG) -> str:
    """Put `lines` into the frame, below a line that says what they are."""
    return "\n".join((f"<{tag}>", head, *lines, f"</{tag}>"))


def harmless(text: str) -> str:
    """Return a line in which no tag is opened or closed, nor one hidden; `a < b` stays."""
    if not text.isascii():
        text = text.translate(_PLAIN)
    if "<" not in text:
        return text
    if any(name in text.lower() for name in INJECTED):
        return text.replace("<", "[").replace(">", "]")
    before, _, rest = text.partition("<")
    closed = ">" in rest
    return before + "".join([_bracketed(after, closed=closed) for after in rest.split("<")])


def _bracketed(after: str, *, closed: bool) -> str:
    """Return what follows a `<` with that before it, or in brackets where it looks like a tag."""
    if after.lstrip()[:1] in _TAG_SIGNS or (closed and after[:1].isalpha()):
        return "[" + after.replace(">", "]", 1)
    return "<" + after


def stripped(text: str) -> str:
    """Remove every block that was injected; what is left are the author's own words."""
    for name in INJECTED:
        if f"<{name}" in text:
            text = _without(text, f"<{name}", f"</{name}>")
    return text.strip()


def typed(text: str) -> str:
    """Remove what the host says was pasted into a prompt, each paste up to the closing tag that has its number."""
    kept, at = [], 0
    while (start := text.find(_PASTE, at)) >= 0:
        opened = text.find(">", start) + 1
        closing = f"</{text[start + 1 : opened]}"
        end = text.find(closing, opened) if opened else -1
        if end < 0:
            break
        kept.append(text[at:start])
        at = end + len(closing)
    return "".join((*kept, text[at:]))


def _without(text: str, opening: str, closing: str) -> str:
    """Cut out each stretch from an `opening` to the next `closing`; one that is never closed stays."""
    kept, at = [], 0
    while (start := text.find(opening, at)) >= 0 and (end := text.find(closing, start)) >= 0:
        kept.append(text[at:start])
        at = end + len(closing)
    return "".join((*kept, text[at:]))


def ends(text: str, first: int, last: int) -> str:
    """Return the first and the last bytes of a text that is longer than both."""
    raw = text.encode()
    if len(raw) <= first + last:
        return text
    return f"{raw[:first].decode(errors='ignore')}\n…\n{raw[-last:].decode(errors='ignore')}"


def uncommanded(prompt: str) -> str:
    """Return a prompt without the command to the agent's own program that it begins with: /fix, not /etc/hosts.

    A single plain word after it is the command's, too: /model fast.
    """
    first, rest = (*prompt.split(maxsplit=1), "", "")[:2]
    if first[:1] != "/" or "/" in first[1:]:
        return prompt
    return "" if rest.isascii() and len(rest.split(maxsplit=1)) == 1 else rest
