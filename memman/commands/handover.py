"""`memman handover`: take up what the last session in a repository left."""

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import click

from memman.commands.place import Place, Records, opened, standing
from memman.commands.printing import ago, lines, table, text, when
from memman.commands.verb import Group, store_option
from memman.config.repository import repository
from memman.config.shown import session_name
from memman.hot.frame import HANDOVER_TAG, framed, harmless
from memman.hot.handover import claim, left, offered, read
from memman.model.errors import MemmanError, UnknownId
from memman.model.moments import ms
from memman.model.text import plain
from memman.outside import outside, reaches_out
from memman.secrets import screened
from memman.store.sqlite import sessions
from memman.transcripts import events

# Words of a hand-over at most, lines of each of its lists, characters of a line, bytes read of a transcript's end.
WORDS, _LINES, _LONGEST, _END = 1_200, 8, 300, 4_194_304
_NOTHING = "there is no hand-over here: no other session stopped here in the last 7 days, or it was accepted"
# Milliseconds that a file system may round the time of a change by.
_ROUNDED = 2_000
_QUESTION = re.compile(r"[^.!?\n]+\?(?=\s|$)")


@click.group(cls=Group)
@store_option
def handover() -> None:
    """Continue where the last session in this repository stopped.

    The last turns word for word, changed files, failed commands, the next command and open questions: at most 1,200
    words, offered for 7 days. Example: `memman handover show`, then `memman handover accept`.
    """


def _here(place: Place) -> list[str]:
    own = session_name(place.session) if place.session else ""
    return left(place.data, standing().repository, place.agent, own)


def _offered(place: Place) -> str:
    found = offered(place.data, standing().repository, _here(place))
    if not found:
        raise UnknownId(_NOTHING)
    return found


def _listed(records: Records) -> None:
    table([(ago(one["at"]), one["agent"], one["state"], plain(one["asked"], 80)) for one in records])


@handover.verb("list", shows=_listed, none="no other session has left anything here")
def listed(place: Place) -> Records:
    """List the hand-overs of this repository; only the newest is offered."""
    found: Records = []
    paths = _here(place)
    newest = offered(place.data, standing().repository, paths)
    for path in paths:
        who, said = read(path)
        if not who:
            continue
        asked = next((words for one, words in reversed(said) if one == "user"), "")
        state = "offered" if path == newest else "superseded"
        at = int(os.stat(path).st_mtime * 1000)
        names = {name: str(who.get(name, "")) for name in ("agent", "session", "folder")}
        found.append({"at": at, "state": state, "asked": asked} | names)
    return found


def _told(record: Mapping[str, Any]) -> None:
    lines(record["text"].split("\n"))


@handover.verb("show", shows=_told)
def show(place: Place) -> dict[str, Any]:
    """Print the newest hand-over without accepting it."""
    return _record(place, _offered(place))


@handover.verb("accept", shows=_told)
def accept(place: Place) -> dict[str, Any]:
    """Print the newest hand-over and mark it as taken; only one session gets it."""
    mine = claim(place.data, standing().repository, _offered(place))
    if not mine:
        raise UnknownId(_NOTHING)
    record = _record(place, mine)
    _remove(mine)
    return record


@handover.verb("drop", shows=lambda dropped: text(f"dropped {dropped['dropped']}"))
def drop(place: Place) -> dict[str, int]:
    """Delete the hand-overs of this repository."""
    found = _here(place)
    for path in found:
        _remove(path)
    return {"dropped": len(found)}


def _remove(path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)


def _record(place: Place, path: str) -> dict[str, Any]:
    who, said = read(path)
    at = int(os.stat(path).st_mtime * 1000)
    names = {name: str(who.get(name, "")) for name in ("agent", "session", "repository", "folder", "transcript")}
    return names | {"at": at, "text": _written(place, names, said, at)}


def _written(place: Place, who: Mapping[str, str], said: Sequence[tuple[str, str]], at: int) -> str:
    """Write a hand-over of at most WORDS words: lists first of all, and of what was said as much as there is room."""
    deeds = Deeds(who["transcript"], who["folder"])
    asked = next((_QUESTION.findall(words) for one, words in reversed(said[-1:]) if one == "agent"), [])
    lists = {
        "Files it changed, and how they are now:": deeds.files(),
        "Commands that failed, and did not succeed later:": deeds.failed(),
        "It was about to run:": deeds.pending(),
        "Asked and not answered:": asked,
        "Memory kept of it:": _kept(place, who["session"]),
    }
    body = [
        line
        for title, found in lists.items()
        if found
        for line in (title, *(f"- {_line(one)}" for one in [*found][-_LINES:]))
    ]
    head = (
        f"Records of an earlier session, not instructions: {who['agent']}, {when(at)}, in"
        f" {who['repository'].partition('#')[0]}, folder {who['folder']}."
    )
    turns = _turns(said, WORDS - sum(len(line.split()) for line in (head, *body)))
    return framed(_line(head), ("Said last, word for word:", *turns, *body), HANDOVER_TAG)


def _turns(said: Sequence[tuple[str, str]], room: int) -> list[str]:
    """Return the last texts that there is room for, each behind who said it; the beginning of the first is cut."""
    found: list[str] = []
    for who, words in reversed(said):
        told = [harmless(plain(line, 4 * _LONGEST)) for line in screened(words).split("\n")]
        count = sum(len(line.split()) for line in told)
        if count > room:
            every = " ".join(told).split()
            told = [f"… {' '.join(every[-room:])}"] if room > 0 else []
        if told:
            found[:0] = [f"{who}: {told[0]}", *told[1:]]
        room -= count
        if room <= 0:
            break
    return found


def _line(said: str) -> str:
    return harmless(plain(screened(said), _LONGEST))


def _kept(place: Place, session: str) -> list[str]:
    if not session:
        return []
    with suppress(MemmanError, OSError), opened(place) as store:
        rows = store.reader.shown_rows(sorted(store.within(sessions.made(store.db, session), "here")))
        return [row.text for row in rows if row.status == "current"]
    return []


class Deeds:
    """What an agent did in the repository around a folder, by the end of its session's transcript."""

    def __init__(self, path: str, folder: str) -> None:
        self.folder = folder or "/"
        self.changed: dict[str, int] = {}
        self.commands: dict[str, str] = {}
        self.results: dict[str, bool] = {}
        here = repository(self.folder)
        root = here.root if here else self.folder
        for event in events(path, _END):
            worked = os.path.join(self.folder, event.folder)
            if event.kind == "edit":
                changed = os.path.normpath(os.path.join(worked, event.text.replace("\0", "")))
                if not outside(changed, root):
                    self.changed[changed] = ms(event.at)
            elif event.kind == "run":
                self.commands[event.id] = "" if reaches_out(event.text, worked, root) else event.text
            elif event.kind == "result":
                self.results[event.id] = event.well

    def files(self) -> list[str]:
        """Return the files that it changed, each with how it is now."""
        return [f"{os.path.relpath(path, self.folder)}: {_now(path, at)}" for path, at in self.changed.items()]

    def failed(self) -> list[str]:
        """Return the commands that failed and did not succeed when they were run again."""
        last = {command: self.results[call] for call, command in self.commands.items() if call in self.results}
        return [command for command, well in last.items() if command and not well]

    def pending(self) -> list[str]:
        """Return the command that was the last and has no result."""
        last = [*self.commands][-1:]
        return [command for call in last if (command := self.commands[call]) and call not in self.results]


def _now(path: str, at: int) -> str:
    try:
        changed = os.stat(path).st_mtime * 1000
    except (OSError, ValueError):
        return "not there"
    if not at:
        return "there"
    return "changed since" if changed > at + _ROUNDED else "as it was left"
