"""Sessions that agents keep on this machine, turn by turn, as the hook of a turn would have queued them."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from glob import escape, glob

from memman.belief import USER
from memman.bootstrap.checkout import Checkout
from memman.config.repository import Repository, repository
from memman.config.shown import session_name
from memman.hot.capture import kept
from memman.hot.frame import stripped, typed
from memman.hot.payload import Payload
from memman.hot.prompt_text import uncommanded
from memman.judge.judge import Judge
from memman.model.moments import ms
from memman.model.noted import parted
from memman.model.uid import kept_uid
from memman.portable.incoming import Item

# Sessions read of an agent, the newest, and bytes of one.
_MOST, _LARGEST = 200, 67_108_864
# What a host itself writes in the user's place.
_HOSTS_OWN = ("<", "[Request interrupted", "Caveat:")
_ITS_OWN = "<synthetic>"

# Who said something ('user' or 'agent'), what, when, and in which turn.
Line = tuple[str, str, int, str]


def turns(checkout: Checkout, judge: Judge | None) -> Iterator[Item]:  # noqa: ARG001 - as every source is called
    """Yield each turn of this repository's sessions; the drain finds what is worth keeping, as in live turns."""
    seen: dict[str, bool] = {}
    for agent, (pattern, read) in _AGENTS.items():
        for path in sorted(glob(pattern(), recursive=True), key=_changed)[-_MOST:]:
            entries = list(_entries(path))
            folder, session = _where(entries)
            if folder not in seen:
                seen[folder] = bool(folder) and _is_of(checkout.place, folder)
            if seen[folder] and session:
                yield from _turns(agent, session, folder, list(read(entries)))


def _turns(agent: str, session: str, folder: str, lines: list[Line]) -> Iterator[Item]:
    notes = False
    for n, (who, said, at, turn) in enumerate(lines):
        text = kept(typed(uncommanded(stripped(said)))) if who == "user" else ""
        if not text:
            continue
        answers = []
        for other, words, _, _ in lines[n + 1 :]:
            if other == "user":
                break
            answers.append(words)
        reply, noted = parted(kept(answers[-1] if answers else ""))
        notes = notes or bool(noted)
        channel = "watched" if notes else "turn"
        # The uid that the hook gave it, so that what was captured then does not come in again.
        uid = kept_uid(f"{agent}\n{session}\n{channel}\n{session_name(turn)}\n{text}")
        yield Item(
            *(text, uid, at, USER), agent=agent, session=session, folder=folder, channel=channel, reply=reply, uid=uid
        )


def _entries(path: str) -> Iterator[Payload]:
    try:
        if os.path.getsize(path) > _LARGEST or not os.path.isfile(path):
            return
        with open(path, encoding="utf-8", errors="replace") as source:
            for line in source:
                try:
                    said = json.loads(line)
                except (ValueError, RecursionError):
                    continue
                if isinstance(said, dict):
                    yield Payload(said)
    except OSError:
        return


def _where(entries: list[Payload]) -> tuple[str, str]:
    """Return the folder and the id of a session."""
    for entry in entries:
        for part in (entry, entry.under("payload")):
            if folder := part.text("cwd"):
                return folder, part.text("sessionId", "id")
    return "", ""


def _claude_code(entries: list[Payload]) -> Iterator[Line]:
    for entry in entries:
        message, at = entry.under("message"), ms(entry.text("timestamp"))
        said = message.text("content")
        if not said or any(map(entry.flag, ("isSidechain", "isMeta", "isCompactSummary"))):
            continue
        if message.text("role") == "assistant" and message.text("model") != _ITS_OWN:
            yield "agent", said, at, ""
        elif entry.text("type") == "user" and message.text("role") == "user" and not _hosts_own(entry, said):
            yield "user", said, at, entry.text("promptId", "uuid")


def _codex(entries: list[Payload]) -> Iterator[Line]:
    turn = ""
    for entry in entries:
        payload, at = entry.under("payload"), ms(entry.text("timestamp"))
        turn = payload.text("turn_id") or turn
        said = payload.text("content")
        if entry.text("type") != "response_item" or not said:
            continue
        if payload.text("role") == "assistant":
            yield "agent", said, at, ""
        elif payload.text("role") == "user" and not said.startswith(_HOSTS_OWN):
            yield "user", said, at, turn


def _hosts_own(entry: Payload, said: str) -> bool:
    return said.startswith(_HOSTS_OWN) or "toolUseResult" in entry.fields


def _is_of(place: Repository, folder: str) -> bool:
    """Whether a folder, which may be gone by now, lies in a repository."""
    real = os.path.realpath(folder)
    there = repository(real) if os.path.isdir(real) else None
    return there.common == place.common if there else f"{real}/".startswith(f"{os.path.realpath(place.root)}/")


def _changed(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0


def _home(variable: str, default: str) -> str:
    return escape(os.environ.get(variable) or os.path.expanduser(default))


# Agent -> where its sessions are, and how one is read.
_AGENTS: Mapping[str, tuple[Callable[[], str], Callable[[list[Payload]], Iterator[Line]]]] = {
    "claude-code": (lambda: _home("CLAUDE_CONFIG_DIR", "~/.claude") + "/projects/*/*.jsonl", _claude_code),
    "codex": (lambda: _home("CODEX_HOME", "~/.codex") + "/sessions/**/*.jsonl", _codex),
}
