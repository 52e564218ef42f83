"""`memman hook EVENT --host HOST`: what an agent's events call. A hook never fails, blocks or delays a turn.

JSON comes on standard input, JSON or nothing goes to standard output, and the
exit code is 0, whatever happened. A watcher ends the process when its time is
up, even while SQLite waits for a lock.
"""

import os
import sys
import time
from _thread import start_new_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

LIMIT = 1.0  # seconds
# Hosts that take an empty output for a fault.
_JSON_ALWAYS = ("gemini",)


class Output:
    """Standard output, written once."""

    __slots__ = ("empty", "written")

    def __init__(self, empty: str) -> None:
        self.empty = empty
        self.written = False

    def write(self, text: str) -> None:
        """Write `text`, or where there is none what this host takes for nothing; the second time do nothing."""
        if self.written:
            return
        self.written = True
        raw = (text or self.empty).encode("utf-8", "replace")
        try:
            while raw:
                raw = raw[os.write(sys.stdout.fileno(), raw) :]
        except (OSError, ValueError):
            return


def main(args: "Sequence[str]", store: str | None) -> int:
    """Answer one event; never raises, always 0."""
    event, host = asked(args)
    output = Output("{}" if host in _JSON_ALWAYS else "")
    debug = bool(os.environ.get("MEMMAN_DEBUG"))
    try:
        start_new_thread(_watch, (output,))
        if not debug:
            sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - open until the process ends
        from memman.hot.events import answer

        output.write(answer(event, host, store))
    except BaseException as error:  # noqa: BLE001 - whatever it is, the agent's turn goes on
        if debug:
            sys.stderr.write(f"memman: hook {event[:40]!a}: {type(error).__name__}: {str(error)[:200]!a}\n")
    output.write("")
    return 0


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
    output.write("")
    os._exit(0)
