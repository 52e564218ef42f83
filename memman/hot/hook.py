"""`memman hook EVENT --host HOST`: what an agent's events call. A hook never fails, blocks or delays a turn.

JSON comes on standard input, JSON or nothing goes to standard output, and the
exit code is 0, whatever happened. When its time is up the turn goes on: an
alarm stops Python and regular expressions, or a watcher while SQLite waits for
a lock or the kernel for a disk. A hook that only answers is ended then; one that
keeps what was said finishes behind the turn, if the launcher started it.
"""

import os
import sys
import time
from _signal import ITIMER_REAL, SIGALRM, SIGUSR1, SIGUSR2, setitimer, signal  # type: ignore[import-not-found]
from _thread import allocate_lock, start_new_thread

from memman.queue.late import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# What is missing where a hook is ended before it has begun.
_AT_FIRST = {
    "session-start": "answer",
    "subagent-start": "answer",
    "pre-tool": "answer",
    "pre-command": "answer",
    "user-prompt": "prompt",
    "stop": "turn",
    "post-compact": "turn",
}


class Progress:
    """What would be `missing` if this hook were ended now, whether it is `late`, and what it answers if `unsure`."""

    __slots__ = ("data", "event", "late", "missing", "unsure")

    def __init__(self, event: str) -> None:
        self.data = ""
        self.event = event
        self.missing = _AT_FIRST.get(event, "")
        self.late = False
        self.unsure = ""

    @property
    def keeping(self) -> bool:
        """Whether what was said is still to be kept."""
        return self.missing not in ("", "answer")

    def ended(self) -> None:
        """Record that it was ended now; have a drain take up what it has left."""
        if not (self.data and self.missing):
            return
        record(self.data, self.event, self.missing)
        if self.missing == "queued":
            from memman.config.drain_by_write import ask

            ask(self.data)


# Seconds that a turn waits for a hook at most, and the variable that says otherwise, for slow machines.
LIMIT, _LIMIT = 1.0, "MEMMAN_HOOK_LIMIT"
_GRACE = 0.2  # seconds that an answer, or the record that there was none, may take to be written
_BEHIND = 20.0  # seconds that what was said may take to be kept, behind the turn
# In the environment: the process id of the launcher that waits for us.
_WAITS = "MEMMAN_LAUNCHER"
# In the environment: `off` in what memman itself starts, an agent that is asked as a model; its turns are nobody's.
_SWITCH = "MEMMAN_HOOKS"
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
    if os.environ.get(_SWITCH) == "off":
        output.write("")
        return 0
    debug = bool(os.environ.get("MEMMAN_DEBUG"))
    progress = Progress(event)
    try:
        limit(output, progress)
        if not debug:
            sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - open until the process ends
        from memman.hot.events import answer

        said = answer(event, host, store, progress)
        if output.write(said):
            progress.missing = ""
        elif progress.late:  # it has come to its end behind the turn
            record(progress.data, event, "answer" if event == "user-prompt" else "late")
    except BaseException as error:  # noqa: BLE001 - whatever it is, the agent's turn goes on
        if debug:
            sys.stderr.write(f"memman: hook {event[:40]!a}: {type(error).__name__}: {str(error)[:200]!a}\n")
    output.write(progress.unsure)
    # An alarm that rang while the interpreter ends would kill it.
    setitimer(ITIMER_REAL, 0)
    return 0


def limit(output: Output, progress: Progress) -> None:
    """Keep nobody waiting after LIMIT, whatever this process does then.

    What is not answered by then is not answered, but counted. The launcher is
    told that we have come this far: one that is ended otherwise starts no
    other for a while.
    """
    launcher = os.getppid() if os.environ.get(_WAITS) == str(os.getppid()) else 0
    if launcher:
        os.kill(launcher, SIGUSR2)
    seconds = _seconds()

    def alarmed(*_: object) -> None:
        if output.write(progress.unsure):
            _let_go(progress, launcher)

    start_new_thread(_watch, (output, progress, launcher, seconds))
    signal(SIGALRM, alarmed)
    setitimer(ITIMER_REAL, seconds)


def _seconds() -> float:
    """Return how long a turn waits: LIMIT, or what the environment says, up to a minute."""
    said = os.environ.get(_LIMIT, "")
    return min(float(said), 60.0) if said.isdecimal() and int(said) else LIMIT


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


def _watch(output: Output, progress: Progress, launcher: int, seconds: float) -> None:
    time.sleep(seconds)
    if output.write(progress.unsure):
        _let_go(progress, launcher)
    else:
        time.sleep(_GRACE)
    if progress.late:
        time.sleep(_BEHIND)
    progress.ended()
    os._exit(0)


def _let_go(progress: Progress, launcher: int) -> None:
    """Let the turn go on: have the launcher end without us while something is left to keep, or else end."""
    if not (launcher and progress.keeping):
        progress.ended()
        os._exit(0)
    progress.late = True
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)
    try:
        os.setsid()
        if os.getppid() == launcher:
            os.kill(launcher, SIGUSR1)
    except OSError:  # it leads its group, or the launcher has gone
        return
