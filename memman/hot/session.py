"""What hooks know about one session of an agent: which memories it was shown, and the prompts of its turn."""

import os

from memman.config.lockfile import acquired, opened, rewrite
from memman.config.places import sessions_path
from memman.config.shown import ENDED, session_name
from memman.model.payload import parsed, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

# Characters of an id that any host would send; of a longer one the digest is kept.
_LONGEST_ID = 4096
# Stand before the uids where the session was given its first block, and has it still, where it was told to note, where
# no prompt has come yet, where its agent is known to note, where a program typed the last prompt, where the turn, or
# all that was said, is of several repositories, and where it ended.
_MARKS = ("begun", "asked", "first", "notes", "program", "mixed", "moved", ENDED)
# How words begin that name the turn of the last prompt as its host does, and the note that holds the user's last words.
_NAMED = ("turn", "words")
# How the line begins that says what was said in the turns before, and what stands for who said it before a folder.
_SAID, _IN = "[[", "in"
# Of what was said: how much of each text, in characters, and how many texts.
_LONGEST_SAID, _MOST_SAID = 600, 6
# Memories remembered as shown, the newest.
_MOST_SHOWN = 512
# Seconds that a session is waited for which another hook holds.
_PATIENCE = 0.25


class Session:
    """One session, in `with`: read when that begins, written when it ends, and no other hook's in between.

    The file's first line holds marks, names and the uids that were shown, the second may hold what was said as
    JSON, behind the folder in which the user spoke last, the rest is the prompt. A file that cannot be had is done
    without.
    """

    __slots__ = (
        "_file", "_text", "asked", "begun", "ended", "first", "folder", "id", "mixed", "moved", "notes", "path",
        "program", "prompt", "said", "shown", "turn", "words",
    )  # fmt: skip

    def __init__(self, data: str, host: str, session: str) -> None:
        name = session_name(session) if session else ""
        self.id = session if len(session) <= _LONGEST_ID else name
        self.path = f"{sessions_path(data)}/{host}-{name}" if name else ""
        self.shown: dict[str, None] = {}
        self.begun = self.asked = self.first = self.notes = self.program = self.ended = False
        self.mixed = self.moved = False
        self.said: list[tuple[str, str]] = []
        self.folder = self.prompt = self.turn = self.words = self._text = ""
        self._file = -1

    def __enter__(self) -> "Self":
        if self.path:
            self._file = _held(self.path)
        if self._file >= 0:
            with open(self._file, encoding="utf-8", errors="replace", closefd=False) as source:
                self._text = source.read()
            shown, _, self.prompt = self._text.partition("\n")
            self.shown = dict.fromkeys(shown.split())
            for mark in _MARKS:
                setattr(self, mark, self.shown.pop(mark, mark) is None)
            for name in _NAMED:
                word = next((word for word in self.shown if word.startswith(f"{name}:")), "")
                self.shown.pop(word, None)
                setattr(self, name, word[len(name) + 1 :])
            if self.prompt.startswith(_SAID):
                said, _, self.prompt = self.prompt.partition("\n")
                self.said = _parsed(said)
                if self.said[:1] and self.said[0][0] == _IN:
                    self.folder = self.said.pop(0)[1]
        return self

    def __exit__(self, *_: object) -> None:
        if self._file < 0:
            return
        marks = [mark for mark in _MARKS if getattr(self, mark)]
        marks += [f"{name}:{named}" for name in _NAMED if (named := getattr(self, name))]
        texts = [(_IN, self.folder), *self.said] if self.folder else self.said
        said = f"{written(texts)}\n" if texts else ""
        says = f"{' '.join(marks + [*self.shown][-_MOST_SHOWN:])}\n{said}{self.prompt}"
        try:
            if says != self._text:
                rewrite(self._file, says)
        except OSError:
            pass
        os.close(self._file)
        self._file = -1

    def lose(self) -> None:
        """Record that the session has lost what it was given."""
        self.shown.clear()
        self.begun = self.asked = False
        self.first = True

    def show(self, uids: "Iterable[str]") -> None:
        """Record that the session was shown these memories."""
        for uid in uids:
            self.shown.pop(uid, None)
            self.shown[uid] = None

    def say(self, who: str, text: str, noted: str = "") -> None:
        """Keep the end of what was said, with all that it `noted`, the newest texts."""
        if text or noted:
            self.said = [*self.said, (who, text[-_LONGEST_SAID:] + noted)][-_MOST_SAID:]


def written(said: "Iterable[tuple[str, str]]") -> str:
    """Write what was said as JSON, on one line."""
    return f"[{','.join(f'[{quoted(who)},{quoted(text)}]' for who, text in said)}]"


def _parsed(text: str) -> list[tuple[str, str]]:
    try:
        return [(str(who), str(said)) for who, said in parsed(text)]
    except (ValueError, TypeError, RecursionError):
        return []


def _held(path: str) -> int:
    """Open a session's file, and hold it where that can be had in time; -1 where it cannot be opened."""
    file = -1
    try:
        file = opened(path)
        acquired(file, _PATIENCE)
    except OSError:  # a file system without locks lets it be used all the same
        return file
    return file
