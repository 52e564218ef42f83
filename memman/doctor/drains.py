"""Whether drains come to their end, on time and without failing."""

import os
import time
from collections.abc import Iterator
from contextlib import closing

from memman.config.drain_by_write import lock_path
from memman.config.lockfile import held
from memman.config.schedule import heartbeat_path, overdue, schedule_path
from memman.doctor.finding import Context, Finding, fail, ok, shell, skipped, warn
from memman.drain.report import PASSING
from memman.drain.worklog import lines
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
    """Look when the last drain ended, and how.

    Warns after three missed intervals, of a provider or server that was out of reach, and of a heartbeat in the
    future; fails after an hour, where the last drain ended with any other error, and where one is stopped or hangs
    """
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
    if not held(lock):
        return
    passed = time.time() - max(os.stat(path).st_mtime for path in (lock, heartbeat_path(data)) if os.path.exists(path))
    if passed > _STUCK:
        says = f"a drain holds {lock} but made no progress for {duration(passed)}: it is suspended or hangs"
        hint = "`kill -CONT` resumes the process listed; killing it loses nothing, the next drain continues"
        yield fail(says, f"lsof {shell(lock)}", hint)


def _failing(data: str, last: int) -> Iterator[Finding]:
    """Find that the newest drain was broken off, or ended with an error, whoever started it."""
    ahead = (time.time() + _AHEAD) * 1000
    broken = [one for one in lines(data, _LINES) if one["event"] == "drain failed" and last < one["at"] < ahead]
    hint = f"{_MORE}; the drain's own message says what to do"
    if broken:
        says = ": ".join(str(broken[-1][key]) for key in ("error", "message") if broken[-1].get(key))
        yield fail(f"the last drain failed: {says}", _DRAIN, hint)
        return
    with closing(QueueView(data)) as queue:
        ended = queue.last_drain()
    if code := ended.get("exit_code"):
        says = next(iter(ended.get("errors", ())), f"exit code {code}")
        yield (warn if code in PASSING else fail)(f"the last drain failed: {says}", _DRAIN, hint)
