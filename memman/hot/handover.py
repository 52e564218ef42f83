"""What a session leaves for the next one in its repository: its last turns word for word, in one file. Hot.

The file's first line says who left it, each other line is a text; both are JSON. It is written with every turn, so that
a session that is killed leaves it, too, and goes when a session accepts it or after DAYS.
"""

import os
import time
from zlib import crc32

from memman.config.lockfile import edit
from memman.config.places import handovers_path, make_file, make_folder, setting, text_at
from memman.hot.frame import ends
from memman.model.payload import parsed, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memman.hot.events import Call

# The value of MEMMAN_CAPTURE with which a person approves first what is kept.
ASK = "ask"
# Days after which nobody is offered what a session left.
DAYS = 7
# Bytes kept of the beginning and of the end of a text, characters kept of all texts, and seconds a file is waited for.
_FIRST, _LAST, _MOST, _PATIENCE = 3_072, 1_024, 24_000, 0.1
_LONGEST_NAME = 40
# What a line raises that was not written to its end.
_TORN = (ValueError, TypeError, KeyError, RecursionError)


def keep(call: "Call", who: str, text: str) -> None:
    """Add what `who` (user, agent) said in a session; a text that was added last is not added again. It may fail.

    Where a person approves first what is kept of turns, nothing is.
    """
    if not (text and call.session.path and (repository := call.place.repository)):
        return
    if setting(call.data, "MEMMAN_CAPTURE") == ASK:
        return
    path = f"{handovers_path(call.data)}/{_prefix(repository)}{os.path.basename(call.session.path)}"
    line = f'{{"who":{quoted(who)},"text":{quoted(ends(text, _FIRST, _LAST))}}}'

    def added(before: str) -> str:
        return "\n".join((_head(call, repository), *_newest([*before.split("\n")[1:], line])))

    try:
        make_folder(handovers_path(call.data))
        make_file(path)
        edit(path, added, _PATIENCE)
    except OSError:  # it is handed over with the next turn
        return


def _head(call: "Call", repository: str) -> str:
    said = {
        "agent": call.host,
        "session": call.session.id,
        "repository": repository,
        "folder": call.cwd,
        "transcript": call.payload.text("transcript_path"),
        "store": call.store,
    }
    return f"{{{','.join([f'{quoted(name)}:{quoted(value)}' for name, value in said.items()])}}}"


def _newest(lines: "list[str]") -> "list[str]":
    """Return the last of the lines that are kept, without one that says again what the one before it says."""
    if lines[-2:-1] == lines[-1:]:
        lines.pop()
    left, kept = _MOST, list[str]()
    for line in reversed(lines):
        left -= len(line)
        if kept and left < 0:
            break
        kept.insert(0, line)
    return kept


def _prefix(repository: str) -> str:
    return f"{crc32(repository.encode('utf-8', 'replace')):08x}-"


def left(data: str, repository: str, host: str = "", session: str = "") -> "list[str]":
    """Return the paths of what other sessions left in a repository, the newest first; see `offered`.

    Some agents do not tell their commands the session: what one of them left last is its own, of this very turn.
    """
    oldest = time.time() - DAYS * 86_400
    found = []
    try:
        for file in os.scandir(handovers_path(data)):
            at = file.stat(follow_symlinks=False).st_mtime
            own = session and file.name.endswith(f"-{host}-{session}")
            if file.name.startswith(_prefix(repository)) and "." not in file.name and not own and at > oldest:
                found.append((at, file.path))
    except OSError:
        return []
    paths = [path for _, path in sorted(found, reverse=True)]
    nameless = host and not session
    mine = next((path for path in paths if f"{_prefix(repository)}{host}-" in path), "") if nameless else ""
    return [path for path in paths if path != mine]


def read(path: str) -> "tuple[dict[str, Any], list[tuple[str, str]]]":
    """Return who left a file and what was said, without torn lines; ({}, []) where its first line is torn."""
    head, *texts = text_at(path).split("\n")
    said = []
    try:
        who = dict(parsed(head))
    except _TORN:
        return {}, []
    for line in texts:
        try:
            one = parsed(line)
            said.append((str(one["who"]), str(one["text"])))
        except _TORN:
            continue
    return who, said


def offered(data: str, repository: str, paths: "list[str]") -> str:
    """Return the newest of `left` that can be read, '' where one that is as new, or newer, was accepted."""
    until = _accepted_at(data, repository)
    for path in paths:
        try:
            if os.stat(path).st_mtime_ns <= until:
                break
        except OSError:
            continue
        if read(path)[0]:
            return path
    return ""


def _accepted(data: str, repository: str) -> str:
    """Return the path of the file that was changed when what was accepted last was; what is no newer is superseded."""
    return f"{handovers_path(data)}/{_prefix(repository)}.accepted"


def _accepted_at(data: str, repository: str) -> int:
    try:
        return os.stat(_accepted(data, repository)).st_mtime_ns
    except OSError:
        return 0


def offer(call: "Call", repository: str, program: str) -> str:
    """Return the line that offers a new session what the last one here left, '' where there is nothing."""
    from memman.hot.frame import harmless
    from memman.model.text import age, plain

    newest = offered(call.data, repository, left(call.data, repository))
    if not newest or os.path.basename(newest).endswith(os.path.basename(call.session.path)):
        return ""
    who, _ = read(newest)
    passed = age(int(os.stat(newest).st_mtime * 1000), time.time_ns() // 1_000_000)
    last = harmless(f"{plain(str(who.get('agent', '')), _LONGEST_NAME)}, {passed}")
    return f"\nThe last session here ({last}) can be taken up once: `{program} handover accept`\n"


def claim(data: str, repository: str, path: str) -> str:
    """Take what a session left, for good; return where it lies now, '' where somebody else was first.

    What is older is superseded before: who comes now finds nothing, and not the next older one.
    """
    mine, accepted = f"{path}.{os.getpid()}", _accepted(data, repository)
    try:
        until = max(os.stat(path).st_mtime_ns, _accepted_at(data, repository))
        make_file(accepted)
        os.utime(accepted, ns=(until, until))
        os.rename(path, mine)
    except OSError:
        return ""
    return mine
