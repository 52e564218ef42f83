"""`memman hook EVENT --host HOST`: what an agent's events call. A hook never fails, blocks or delays a turn.

JSON comes on standard input, JSON or nothing goes to standard output, and the
exit code is 0, whatever happened. When its time is up the process is ended: by
an alarm, which stops Python and regular expressions, or by a watcher, while
SQLite waits for a lock.
"""

import os
import sys
import time
from _signal import ITIMER_REAL, SIGALRM, setitimer, signal  # type: ignore[import-not-found]
from _thread import allocate_lock, start_new_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

LIMIT = 1.0  # seconds
_GRACE = 0.2  # seconds that an answer may take to be written
# Hosts that take an empty output for a fault.
_JSON_ALWAYS = ("gemini",)


class Output:
    """Standard output, written once, by whoever comes first: the answer, the alarm or the watcher."""

    __slots__ = ("empty", "first")

    def __init__(self, empty: str) -> None:
        self.empty = empty
        self.first = allocate_lock()

    def write(self, text: str) -> bool:
        """Write `text`, or where there is none what this host takes for nothing; False where somebody was first."""
        if not self.first.acquire(blocking=False):
            return False
        raw = (text or self.empty).encode("utf-8", "replace")
        try:
            while raw:
                raw = raw[os.write(sys.stdout.fileno(), raw) :]
        except (OSError, ValueError):
            pass
        return True


def main(args: "Sequence[str]", store: str | None) -> int:
    """Answer one event; never raises, always 0."""
    event, host = asked(args)
    output = Output("{}" if host in _JSON_ALWAYS else "")
    debug = bool(os.environ.get("MEMMAN_DEBUG"))
    try:
        limit(output)
        if not debug:
            sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - open until the process ends
        from memman.hot.events import answer

        output.write(answer(event, host, store))
    except BaseException as error:  # noqa: BLE001 - whatever it is, the agent's turn goes on
        if debug:
            sys.stderr.write(f"memman: hook {event[:40]!a}: {type(error).__name__}: {str(error)[:200]!a}\n")
    output.write("")
    # An alarm that rang while the interpreter ends would kill it.
    setitimer(ITIMER_REAL, 0)
    return 0


def limit(output: Output) -> None:
    """End this process after LIMIT, whatever it does then; what is not written by then is not written."""

    def alarmed(*_: object) -> None:
        if output.write(""):
            os._exit(0)

    start_new_thread(_watch, (output,))
    signal(SIGALRM, alarmed)
    setitimer(ITIMER_REAL, LIMIT)


def asked(args: "Sequence[str]") -> tuple[str, str]:
    """Return the event and the host that a command line names, '' for what it leaves out; never refuses."""
    rest, words, host = iter(args), [], ""
    for arg in rest:
        name, equals, value = arg.partition("=")
        if name == "--host":
            host = value if equals else next(rest, "")
        elif arg[:1] != "-":
            words.append(arg)
    return (words[0] if words else ""), host


def _watch(output: Output) -> None:
    time.sleep(LIMIT)
    if not output.write(""):
        time.sleep(_GRACE)
    os._exit(0)
