"""Sessions that agents keep on this machine, turn by turn, as the hook of a turn would have queued them."""

import os
from collections.abc import Iterator
from glob import escape, glob

from memman import transcripts
from memman.belief import USER
from memman.bootstrap.checkout import Checkout
from memman.config.repository import Repository, repository
from memman.config.shown import session_name
from memman.hot.capture import kept
from memman.hot.frame import stripped, typed, uncommanded
from memman.judge.judge import Judge
from memman.model.moments import ms
from memman.model.noted import parted
from memman.model.uid import kept_uid
from memman.portable.incoming import Item
from memman.transcripts import Event

_MOST = 200  # sessions read of an agent, the newest


def turns(checkout: Checkout, judge: Judge | None) -> Iterator[Item]:  # noqa: ARG001 - as every source is called
    """Yield each turn of this repository's sessions; the drain finds what is worth keeping, as in live turns."""
    seen: dict[str, bool] = {}
    for agent, (variable, folder, names) in transcripts.SESSIONS.items():
        below = escape(os.environ.get(variable) or os.path.expanduser(folder))
        for path in sorted(glob(f"{below}/{names}", recursive=True), key=_changed)[-_MOST:]:
            place, session = transcripts.place(path)
            if place not in seen:
                seen[place] = bool(place) and _is_of(checkout.place, place)
            if seen[place] and session:
                yield from _turns(agent, session, place, [*transcripts.said(path)])


def _turns(agent: str, session: str, folder: str, lines: list[Event]) -> Iterator[Item]:
    notes, last = False, ""
    for n, line in enumerate(lines):
        last = line.turn or last
        text = kept(typed(uncommanded(stripped(line.text)))) if line.kind == "user" else ""
        if not text:
            continue
        answer = ""
        for other in lines[n + 1 :]:
            if other.kind == "user":
                break
            answer = other.text if other.kind == "agent" else answer
        reply, noted = parted(kept(answer))
        notes = notes or bool(noted)
        channel = "watched" if notes else "turn"
        # The uid that the hook gave it, so that what was captured then does not come in again.
        turn = session_name(line.turn or line.id or last)
        uid = kept_uid(f"{agent}\n{session}\n{channel}\n{turn}\n{text}")
        yield Item(
            *(text, uid, ms(line.at), USER),
            agent=agent,
            session=session,
            folder=folder,
            channel=channel,
            reply=reply,
            uid=uid,
        )


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
