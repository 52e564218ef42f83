"""What a turn leaves behind: one note, which the drain judges. No model is asked, nothing waits for anything."""

import os

from memman.config.places import arrivals_path, make_folder, open_file
from memman.config.shown import session_name
from memman.config.stores import cwd
from memman.hot.frame import ends, stripped, typed, uncommanded
from memman.hot.handover import keep as hand_over
from memman.hot.session import written
from memman.model.noted import parted
from memman.model.payload import quoted
from memman.secrets import screened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.hot.events import Call
    from memman.hot.session import Session
    from memman.model.noted import Line

    Row = dict[str, str | int | None]

# Bytes kept of a text: of its beginning, and of its end.
FIRST, LAST = 12_288, 4_096
# What words with a secret in them are made of.
_VISIBLE = bytes(range(ord("!"), ord("~") + 1))
# Memories named in a turn as shown, the newest.
_SHOWN = 256


def kept(text: str) -> str:
    """Return what may be written of a text: no injected block, no secret, and not all of a long one."""
    # The rules see more than is kept, and no word that was cut, so that no cut lets half a secret through.
    return ends(screened(_whole(stripped(text))), FIRST, LAST)


def _whole(text: str) -> str:
    """Return twice what is kept of a long text, without the words that the cut goes through."""
    raw = text.encode()
    if len(raw) <= 2 * (FIRST + LAST):
        return text
    first, last = raw[: 2 * FIRST].rstrip(_VISIBLE), raw[-2 * LAST :].lstrip(_VISIBLE)
    return f"{first.decode(errors='ignore')}\n…\n{last.decode(errors='ignore')}"


def prompted(call: "Call", prompt: str) -> bool:
    """Keep the prompt for the end of its turn, after those that the turn had already; of too many the newest.

    Not every host says it again. A sub-agent's is not the user's. Return whether it is the first of its session.
    Where it begins a turn, or is given elsewhere, what waits of before is queued: the turn never stopped, for somebody
    interrupted it or it failed, or goes on in another repository, which is none of the former's.
    """
    if call.payload.text("agent_id"):
        return False
    prompt = uncommanded(prompt)
    keep, program = call.wanted(), call.of_program()
    text = kept(typed(prompt)) if keep and not program else ""
    said = call.payload.text("prompt_id", "turn_id")
    turn = said and session_name(said)
    rows: list[tuple[Row, str]] = []
    first = False
    with call.session as session:
        waits, same = bool(session.prompt), session.turn in ("", turn)
        if moved := (prompt or not waits) and _moved(call, session):
            # What was said elsewhere stays there; an answer to both would say it here.
            session.moved, session.mixed = True, waits and same
        if waits and prompt and (moved or not same):
            folder = call.cwd
            rows = unstopped(call, session)
            call.stand(folder)
        if moved or not waits:
            session.folder = call.cwd or cwd()
        if moved:
            session.said = []
        if prompt:
            session.prompt = _joined(session.prompt, text) if keep else ""
            session.turn, session.program = turn, program
            hand_over(call, "user", text)
            first, session.first, session.ended = session.first, False, False
    queue(call, rows)
    return first


def _moved(call: "Call", session: "Session") -> bool:
    """Whether the user speaks in another repository, or to another store, than in this session before."""
    folder = call.cwd
    if session.folder in ("", folder or cwd()):
        return False
    here = call.place.repository, call.store
    call.stand(session.folder)
    before = call.place.repository, call.store
    call.stand(folder)
    return before != here


def unstopped(call: "Call", session: "Session") -> "list[tuple[Row, str]]":
    """Return what is to be queued of a turn that no stop ended, where its prompt was given, and drop that."""
    from memman.transcripts import last_message

    rows = []
    call.stand(session.folder or call.cwd)
    if call.wanted():
        reply = kept(last_message(call.payload.text("transcript_path"), session.turn))
        rows = _told(call, session, session.prompt, reply)
    session.prompt = ""
    return rows


def _joined(before: str, text: str) -> str:
    """Put what was said after what was said before, unless it was said last: some hosts tell a prompt twice."""
    if f"\n\n{before}".endswith(f"\n\n{text}"):
        return before
    return ends(f"{before}\n\n{text}", 0, FIRST + LAST).strip() if before else text


def turn(call: "Call") -> None:
    """Queue the user's prompts with the agent's last message, and what that notes; then drop the prompt.

    The agent may have gone to another folder by then: all of it belongs to where the user spoke.
    """
    if call.payload.text("agent_id"):
        return
    keep = call.wanted()
    if not keep:
        call.progress.missing = ""
    # Where another hook had the agent go on, what began the turn is queued already; what is typed meanwhile waits.
    goes_on = call.payload.flag("stop_hook_active")
    rows: list[tuple[Row, str]] = []
    with call.session as session:
        # Where the session tells of no prompt, one of the payload was given here.
        known = session.prompt or goes_on or not call.payload.text("prompt")
        if known and session.folder not in ("", call.cwd):
            call.stand(session.folder)
            keep = keep and call.wanted()
        # What the agent says as a program has it run is nobody's.
        if keep and (session.prompt or not session.program):
            reply = "" if session.mixed else kept(_answer(call))
            rows = _told(call, session, "" if goes_on else _typed(call, session), reply)
        if not goes_on:
            session.prompt, session.mixed = "", False
    queue(call, rows)


def _answer(call: "Call") -> str:
    """Return the agent's last message of a turn."""
    if call.host == "copilot":
        from memman.transcripts import answered

        return answered(call.payload.text("transcript_path"))
    return call.payload.text("last_assistant_message", "prompt_response", "response")


def _typed(call: "Call", session: "Session") -> str:
    """Return what the user typed in a turn."""
    said = kept(uncommanded(stripped(typed(call.payload.text("prompt")))))
    return _joined(session.prompt, said) if said else session.prompt


def _told(call: "Call", session: "Session", text: str, reply: str) -> "list[tuple[Row, str]]":
    """Return the rows of a turn, each with the file that holds it: what was said, and each line that notes.

    Those that no file holds are queued.
    """
    answer, lines = parted(reply)
    if not session.asked:
        reply, lines = answer, []
    if lines:
        session.notes = True
    shown = " ".join([uid for uid in session.shown if uid.isalnum()][-_SHOWN:])
    both = _answers(session.said, reply)
    session.say("user", text)
    rows = []
    if text:
        channel = "watched" if session.notes else "turn"
        rows = [_arrived(call, channel, text, "user", session.turn, reply=both, shown=shown)]
        session.words = str(rows[0][0]["uid"])
    noted = [_noted(call, session, line, shown) for line in lines]
    # The user sees the line: what they type next may be about it.
    session.show(str(row["uid"]) for row, _ in noted)
    session.say("agent", answer, reply.removeprefix(answer))
    hand_over(call, "agent", answer)
    rows += noted
    queue(call, [(row, arrived) for row, arrived in rows if not arrived])
    return [(row, arrived) for row, arrived in rows if arrived]


def _answers(said: "list[tuple[str, str]]", reply: str) -> str:
    """Return the agent's answer, as JSON behind what it had said before where there is that."""
    before = next((text for who, text in reversed(said) if who == "agent"), "")
    return written([("agent", before), ("agent", reply)]) if before or reply[:1] == "[" else reply


def _noted(call: "Call", session: "Session", line: "Line", shown: str) -> "tuple[Row, str]":
    """Return the row of what an agent noted, with what was typed before it, and the file that holds it."""
    from memman.config.scope import PERSONAL
    from memman.model.uid import memory_uid

    text, everywhere, instead = line
    # What the session was shown, and what its agent noted: of that the note is known, of which the memory was made.
    known = ((uid, (uid, memory_uid(uid, 0))) for uid in reversed(session.shown) if instead)
    replaces = next((uid for uid, names in known if any(name.startswith(instead) for name in names)), "")
    return _arrived(
        call,
        "noted",
        text,
        "user",
        session.turn or session.words,
        reply=written(session.said),
        shown=shown,
        scope=PERSONAL if everywhere else "",
        replaces=replaces,
    )


def compact(call: "Call") -> None:
    """Queue the agent's own summary of a session, unless its user spoke in several repositories."""
    summary = call.payload.text("compact_summary", "summary")
    keep = call.wanted()
    with call.session as session:
        if session.folder:
            call.stand(session.folder)
        keep = keep and not session.moved and call.wanted()
    if keep and (text := kept(summary)):
        queue(call, [_arrived(call, "compact", text, "agent")])


def _arrived(call: "Call", channel: str, text: str, source: str, turn: str = "", **more: str) -> "tuple[Row, str]":
    """Return the row that is to be queued, and the file that holds it until it is; of a `turn` each text once."""
    from memman.hot.provenance import stamp
    from memman.model.uid import kept_uid
    from memman.queue.entry import entry

    origin = {"agent": call.host, "session": call.session.id, "source": source}
    stamped = stamp(call.data, "", call.here, call.cwd) | origin
    note: Row = {**stamped, "store": call.store, "text": text, "channel": channel, **more}
    row = entry({"category": None, "importance": None, "entities": "", "replaces": "", **note})
    if turn:
        row["uid"] = kept_uid(f"{call.host}\n{call.session.id}\n{channel}\n{turn}\n{text}")
    arrived = _arrive(call.data, row)
    if arrived:
        call.progress.missing = "queued"
    return row, arrived


def _arrive(data: str, row: "Row") -> str:
    """Write a row without secrets to a file of its own, waiting for no disk; return its path, '' for none.

    A hook that is ended before the row is queued has not lost it.
    """
    from memman.config.places import ensure_safe_folder

    ensure_safe_folder(data)
    path = f"{arrivals_path(data)}/{row['uid']}"
    left = f"{{{','.join([f'{quoted(name)}:{_json(value)}' for name, value in row.items()])}}}".encode()
    try:
        make_folder(arrivals_path(data))
        file = open_file(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        while left:
            left = left[os.write(file, left) :]
        os.close(file)
    except OSError:
        return ""
    return path


def _json(value: "str | int | None") -> str:
    if isinstance(value, str):
        return quoted(value)
    return "null" if value is None else str(value)


def queue(call: "Call", rows: "list[tuple[Row, str]]") -> None:
    """Queue rows; a drain that found the file of one has done so already."""
    for row, arrived in rows:
        from memman.config.drain_by_write import ask
        from memman.queue.append import insert

        insert(call.data, row)
        _leave(arrived)
        call.progress.missing = ""
        ask(call.data)


def _leave(path: str) -> None:
    """Remove the file of a row that is queued, unless there is none, or a drain has taken it up already."""
    try:
        os.unlink(path)
    except OSError:
        return
