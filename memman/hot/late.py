"""How far a hook has come, for whoever ends it when its time is up."""

from memman.queue.late import record

# What is missing where a hook is ended before it has begun.
_AT_FIRST = {
    "session-start": "answer",
    "subagent-start": "answer",
    "pre-tool": "answer",
    "pre-command": "answer",
    "user-prompt": "prompt",
    "stop": "turn",
    "post-compact": "turn",
}


class Progress:
    """What would be `missing` if this hook were ended now, whether it is `late`, and what it answers if `unsure`."""

    __slots__ = ("data", "event", "late", "missing", "unsure")

    def __init__(self, event: str) -> None:
        self.data = ""
        self.event = event
        self.missing = _AT_FIRST.get(event, "")
        self.late = False
        self.unsure = ""

    @property
    def keeping(self) -> bool:
        """Whether what was said is still to be kept."""
        return self.missing not in ("", "answer")

    def finished(self) -> None:
        """Record that it has come to its end behind the turn."""
        record(self.data, self.event, "answer" if self.event == "user-prompt" else "late")

    def ended(self) -> None:
        """Record that it was ended now; have a drain take up what it has left."""
        if not (self.data and self.missing):
            return
        record(self.data, self.event, self.missing)
        if self.missing == "queued":
            from memman.config.drain_by_write import ask

            ask(self.data)
