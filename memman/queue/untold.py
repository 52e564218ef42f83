"""What the user said that their agent did not note: it waits for the session's next prompt, or is captured. Hot."""

from memman.config.drain_by_write import ask
from memman.config.places import make_file, queue_path, sessions_path
from memman.config.shown import UNTOLD, session_name
from memman.model.uid import new_uid
from memman.queue.schema import open_queue
from memman.sqlite import Transaction, TranslatedErrors

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

# When it is captured that waits no longer: any time that has passed, for what was said after it may be stored.
_AT_ONCE = 1
# Milliseconds after which no further prompt is waited for.
QUIET = 15 * 60_000
_WAITS = "for 15 minutes it waits for the next prompt of its session"
# The note goes on, behind the others, as a turn of which only this much is left.
_LEAVE = """
UPDATE note SET id = (SELECT max(id) + 1 FROM note), uid = :new, channel = 'turn', text = :text, state = 'pending',
  attempts = 0, deferrals = 0, error = :error, retry_at = :retry_at, changed_at = :now
WHERE uid = :uid AND state = 'running'
"""
_UNTOLD = f"state = 'pending' AND error = '{_WAITS}'"
_TAKE = f"""
DELETE FROM note WHERE id = (SELECT max(id) FROM note
  WHERE {_UNTOLD} AND agent = :agent AND session = :session AND instr(:said, text)) RETURNING text
"""
_RELEASE = f"UPDATE note SET error = '', retry_at = {_AT_ONCE} WHERE {_UNTOLD}"
_OF_SESSION = "AND agent = :agent AND session = :session"
_OF_OTHERS = "AND repository = :repository AND session <> :session"


def leave(db: "apsw.Connection", data: str, uid: str, text: str, now: int, *, tell: tuple[str, str] | None) -> None:
    """Have a note wait as a turn that says `text`: for the next prompt of the agent and session to `tell`, or for none.

    That it is told, or stored, is decided in the queue alone: it is never both, and never neither.
    """
    waits = {"error": _WAITS if tell else "", "retry_at": now + QUIET if tell else _AT_ONCE}
    db.execute(_LEAVE, {"uid": uid, "new": new_uid(now), "text": text, "now": now, **waits})
    if tell:
        try:
            make_file(f"{sessions_path(data)}/{tell[0]}-{session_name(tell[1])}{UNTOLD}")
        except OSError:  # it is captured in time
            return


def take(data: str, agent: str, session: str, said: str) -> str:
    """Take out of the queue what stands in what the user `said`, '' for nothing; what else waits is captured."""
    names = {"agent": agent, "session": session}
    with TranslatedErrors(queue_path(data)):
        db = open_queue(queue_path(data))
        with Transaction(db):
            text = db.execute(_TAKE, {**names, "said": said}).get
            db.execute(f"{_RELEASE} {_OF_SESSION}", names)
            released = db.changes()
        db.close()
    if released:
        ask(data)
    return str(text or "")


def release(data: str, repository: str, session: str) -> None:
    """Have captured what waits for the next prompt of other sessions of a repository."""
    with TranslatedErrors(queue_path(data)):
        db = open_queue(queue_path(data))
        db.execute(f"{_RELEASE} {_OF_OTHERS}", {"repository": repository, "session": session})
        db.close()
