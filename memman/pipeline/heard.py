"""What was said in a turn or a summary, as far as it may be learned from."""

import json
from contextlib import suppress
from dataclasses import dataclass

from memman.judge.judge import Judge
from memman.llm.builtin.split import asks
from memman.model.noted import parted
from memman.model.records import Note, Request
from memman.pipeline.deobfuscate import plain
from memman.pipeline.fidelity import parsed
from memman.pipeline.noted import Said
from memman.pipeline.speech import continued, heard, prose

# Characters of either side that are read, about 2,000 tokens: own words are seldom more.
HEARD = 8_000
_MARKS = "-*>+#\u2022 "


@dataclass(frozen=True, slots=True)
class Heard:
    """What was said in a turn, pasted and injected text left out. Of a compaction there is only the summary.

    `before` is the end of what the agent had said until then. Of the `unclear` passages of what the user typed the
    judge is not sure that they wrote them. `quoting` is what they typed with what stands in quotes there.
    """

    user: str = ""
    agent: str = ""
    summary: str = ""
    before: str = ""
    unclear: tuple[str, ...] = ()
    quoting: str = ""

    @classmethod
    def of(cls, note: Note, judge: Judge | None = None) -> "Heard":
        """Listen to a turn or a summary."""
        text = plain(note.text)
        if note.channel == "compact":
            return cls(summary=prose(text)[:HEARD])
        typed, summary = continued(text)
        user, unclear = heard(judge, typed)
        before, answer = answered(note.reply)
        agent = prose(plain(parted(answer)[0]))
        summary, before = prose(summary)[:HEARD], prose(plain(parted(before)[0]))
        return cls(user[:HEARD], agent[:HEARD], summary, before, unclear, prose(typed)[:HEARD])

    @property
    def spoken(self) -> Said:
        """What the user surely typed, after what the agent had said."""
        own = self.user
        for passage in self.unclear:
            own = own.replace(passage, " ")
        return Said.after(self.before, own.strip())

    @property
    def stated(self) -> str:
        """What the user surely said themselves, but asked, a sentence a paragraph."""
        return "\n\n".join(one.text for one in parsed(self.user) if not (asks(one.text) or self.doubts(one.text)))

    def doubts(self, text: str) -> bool:
        """Whether a text holds, or is part of, what the user may not have written."""
        # What is kept of a list lacks the marks of its items.
        return any(passage.lstrip(_MARKS) in text or text in passage for passage in self.unclear)

    @property
    def everything(self) -> str:
        """What anybody said."""
        return f"{self.before}\n\n{self.user}\n\n{self.agent}\n\n{self.summary}"

    def request(self, note: Note) -> Request:
        """Put the question to the built-in model, which reads a turn by itself."""
        payload = {"before": self.before, "user": self.user, "summary": self.summary}
        return Request(task="turn", role="fast", system="", user="", schema={}, payload=payload, note=note)


def answered(reply: str) -> tuple[str, str]:
    """Return what the agent had said before a turn, and its answer (memman.hot.capture)."""
    if reply[:1] == "[":
        with suppress(ValueError, TypeError):
            (_, before), (_, answer) = json.loads(reply)
            return str(before), str(answer)
    return "", reply
