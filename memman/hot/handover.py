"""What a session leaves for the next one in its repository: its last turns word for word, in one file. Hot.

The file's first line says who left it, each other line is a text; both are JSON. It is written with every turn, so that
a session that is killed leaves it, too, and goes when a session accepts it or after DAYS.
"""

import os
import time
from zlib import crc32

from memman.config.lockfile import acquired, opened, rewrite
from memman.config.places import handovers_path, setting, text_at
from memman.hot.prompt_text import ends
from memman.hot.wire import parsed, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memman.hot.call import Call

# The value of MEMMAN_CAPTURE with which a person approves first what is kept.
ASK = "ask"
# Days after which nobody is offered what a session left.
DAYS = 7
# Bytes kept of the beginning and of the end of a text, characters kept of all texts, and seconds a file is waited for.
_FIRST, _LAST, _MOST, _PATIENCE = 3_072, 1_024, 24_000, 0.1
_LONGEST_NAME = 40


def keep(call: "Call", who: str, text: str) -> None:
    """Add what `who` (user, agent) said in a session; a text that was added last is not added again. It may fail.

    Where a person approves first what is kept of turns, nothing is.
    """
    if not (text and call.session.path and (repository := call.place.repository)):
        return
    if setting(call.data, "MEMMAN_CAPTURE") == ASK:
        return
    path = f"{handovers_path(call.data)}/{_prefix(repository)}{os.path.basename(call.session.path)}"
    try:
        file = opened(path)
    except OSError:
        return
    try:
        if acquired(file, _PATIENCE):
            _, *texts = os.pread(file, os.fstat(file).st_size, 0).decode(errors="replace").split("\n")
            line = f'{{"who":{quoted(who)},"text":{quoted(ends(text, _FIRST, _LAST))}}}'
            rewrite(file, "\n".join((_head(call, repository), *_newest([*texts, line]))))
    except OSError:
        pass
    finally:
        os.close(file)


def _head(call: "Call", repository: str) -> str:
    said = {
        "agent": call.host,
        "session": call.session.id,
        "repository": repository,
        "folder": call.cwd,
        "transcript": call.payload.text("transcript_path"),
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
    """Return the paths of what other sessions left in a repository, the newest first; of those only that is offered.

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
    """Return who left a file and what was said, ({}, []) where it cannot be read."""
    head, *texts = text_at(path).split("\n")
    try:
        return dict(parsed(head)), [(one["who"], one["text"]) for one in map(parsed, texts)]
    except (ValueError, TypeError, KeyError, RecursionError):
        return {}, []


def offer(call: "Call", repository: str, program: str) -> str:
    """Return the line that offers a new session what the last one here left, '' where there is nothing."""
    from memman.hot.frame import harmless
    from memman.model.text import age, plain

    newest = left(call.data, repository)[:1]
    if not newest or os.path.basename(newest[0]).endswith(os.path.basename(call.session.path)):
        return ""
    who, _ = read(newest[0])
    if not who:
        return ""
    passed = age(int(os.stat(newest[0]).st_mtime * 1000), time.time_ns() // 1_000_000)
    last = harmless(f"{plain(str(who['agent']), _LONGEST_NAME)}, {passed}")
    return f"\nThe last session here ({last}) can be taken up once: `{program} handover accept`\n"


def claim(path: str) -> str:
    """Take what a session left, for good; return where it lies now, '' where somebody else was first."""
    mine = f"{path}.{os.getpid()}"
    try:
        os.rename(path, mine)
    except OSError:
        return ""
    return mine
