"""Whether drains come to their end, on time and without failing.

Looks at: the last drain
Finds: warns after three missed intervals and of a heartbeat in the future, fails after an hour, where it was broken
off or ended with an error, and where one holds the lock but is stopped or stuck
"""

import os
import time
from collections.abc import Iterator
from contextlib import closing

from memman.config.drain_by_write import lock_path
from memman.config.lockfile import held
from memman.config.schedule import heartbeat_path, overdue, schedule_path
from memman.doctor.finding import Context, Finding, fail, ok, shell, skipped, warn
from memman.doctor.layout import links
from memman.drain.worklog import Line, lines
from memman.model.objects import parsed
from memman.model.text import duration
from memman.queue.view import QueueView
from memman.scheduler.report import last_run

# Seconds by which a drain may be late, after a night's sleep of the machine for one, before that is a failure.
_LATE = 3600
# Seconds by which a clock may have been set back before the files' times are of no use.
_AHEAD = 120
# Seconds without a sign of life from a drain at work; the tidying of a large store takes minutes.
_STUCK = 600
# Lines of the log in which the newest failure is looked for.
_LINES = 200
_DRAIN = "memman scheduler drain"
_MORE = "see `memman scheduler status` and `memman log worker`"


def check(context: Context) -> Iterator[Finding]:
    """Look when the last drain ended, and how."""
    data = context.data
    late, last = overdue(data), last_run(data)
    troubles = [*_ahead(data), *_stuck(data), *_failing(data, last or 0)]
    yield from troubles
    if late is not None:
        yield (fail if late > _LATE else warn)(f"no drain for {duration(late)}", _DRAIN, _MORE)
    elif troubles:
        return
    elif last is None:
        yield skipped("no drain has run yet")
    else:
        yield ok(f"the last drain ended {duration(max(0.0, time.time() - last / 1000))} ago")


def _ahead(data: str) -> Iterator[Finding]:
    """Find times that have yet to come: until then no drain would be missed."""
    for path, mend in ((heartbeat_path(data), f"rm {{}} && {_DRAIN}"), (schedule_path(data), "touch {}")):
        ahead = os.stat(path).st_mtime - time.time() if os.path.exists(path) else 0
        if ahead > _AHEAD:
            says = f"{path} is dated {duration(ahead)} in the future: until then missing drains go unnoticed"
            yield warn(says, mend.format(shell(path)))


def _stuck(data: str) -> Iterator[Finding]:
    """Find a drain that is at work but gets no further: until it ends no other starts."""
    lock = lock_path(data)
    if not held(lock_path(data)):
        return
    passed = time.time() - max(os.stat(path).st_mtime for path in (lock, heartbeat_path(data)) if os.path.exists(path))
    if passed > _STUCK:
        says = f"a drain holds {lock} but made no progress for {duration(passed)}: it is suspended or hangs"
        hint = "`kill -CONT` resumes the process listed; killing it loses nothing, the next drain continues"
        yield fail(says, f"lsof {shell(lock)}", hint)


def _failing(data: str, last: int) -> Iterator[Finding]:
    """Find that the newest drain was broken off, or ended with an error, whoever started it."""
    told = lines(data, _LINES)
    ahead = (time.time() + _AHEAD) * 1000
    broken = [line for line in told if line["event"] == "drain failed" and last < line["at"] < ahead]
    code = _last_code(data)
    if not broken and not code:
        return
    newest = broken[-1] if broken else next((line for line in reversed(told) if line.get("code") == code), {})
    hint = f"{_MORE}; the drain's own message says what to do"
    outside = links(data)
    if outside:
        hint = f"{outside[0]} links out of the data folder, where systemd lets no drain write: move it back; {_MORE}"
    yield fail(f"the last drain failed: {_named(newest) or f'exit code {code}'}", _DRAIN, hint)


def _named(line: Line) -> str:
    return ": ".join(str(line[key]) for key in ("error", "message") if line.get(key))[:300]


def _last_code(data: str) -> int:
    """Return the exit code of the last drain that came to its end."""
    with closing(QueueView(data)) as queue:
        kept = queue.meta("last_drain")
    code = (parsed(kept) or {}).get("exit_code")
    return code if isinstance(code, int) else 0
