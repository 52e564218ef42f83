"""The frame that memories stand in when a hook puts them before a model, and its removal from what comes back."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

TAG = "memman-memory"
# What agents and hooks put around text that the user did not write.
INJECTED = (
    TAG,
    *("hook_context", "system-reminder", "user-prompt-submit-hook", "task-notification"),
    *("local-command-caveat", "local-command-stdout", "local-command-stderr"),
    *("command-name", "command-message", "command-args", "bash-input", "bash-stdout", "bash-stderr"),
    *("ide_opened_file", "ide_selection", "environment_context", "user_instructions"),
)


def framed(head: str, lines: "Iterable[str]") -> str:
    """Put `lines` into the frame, below a line that says what they are."""
    return "\n".join((f"<{TAG}>", head, *lines, f"</{TAG}>"))


def harmless(text: str) -> str:
    """Return a line in which no frame is opened or closed."""
    if "<" in text and any(name in text.lower() for name in INJECTED):
        return text.replace("<", "[").replace(">", "]")
    return text


def stripped(text: str) -> str:
    """Remove every block that was injected; what is left are the author's own words."""
    for name in INJECTED:
        if f"<{name}" in text:
            text = _without(text, f"<{name}", f"</{name}>")
    return text.strip()


def _without(text: str, opening: str, closing: str) -> str:
    """Cut out each stretch from an `opening` to the next `closing`; one that is never closed stays."""
    kept, at = [], 0
    while (start := text.find(opening, at)) >= 0 and (end := text.find(closing, start)) >= 0:
        kept.append(text[at:start])
        at = end + len(closing)
    return "".join((*kept, text[at:]))
