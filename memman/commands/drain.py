"""`memman scheduler drain`: what a person, and whoever starts drains, runs."""

import os
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from memman.commands.printing import bar, complain, printed, text
from memman.commands.verb import Command, data_options, said_store
from memman.config.drain_by_write import DEADLINE, lock_path
from memman.config.filesystem import ensure_safe_folder
from memman.config.lockfile import FOREVER, held
from memman.config.places import data_dir
from memman.config.schedule import beat, refuse_stopped
from memman.model.plural import counted

if TYPE_CHECKING:
    from memman.commands.printing import Progress
    from memman.drain.report import Report
    from memman.pipeline.plan import Plan
    from memman.queue.notes import Queue

_KEPT = "what is stored stays, and what is not waits for the next drain"
# As the systemd unit has it.
_NICE = 10
# Seconds between two looks at a drain that is running.
_LOOK = 0.1


@click.command(cls=Command)
@click.option("--limit", type=click.IntRange(1), help="Process at most this many notes.")
@click.option(
    "--deadline", type=click.FloatRange(0, min_open=True), metavar="SECONDS", help="Start no new note after this time."
)
@click.option(
    "--wait",
    is_flag=True,
    help="For service units: exit at once if the queue is empty.",
)
@click.option(
    "--handed", type=click.IntRange(3), hidden=True, help="For memman itself: file descriptor of the drain lock."
)
@click.option("--trace", is_flag=True, help="Print what each stage makes of each note.")
@data_options
def drain(limit: int | None, deadline: float | None, wait: bool, handed: int | None, trace: bool, as_json: bool) -> int:
    """Process the queued notes and store them as memories.

    Waits for a drain that is running, up to --deadline. Where errors keep notes waiting, the exit code is that of the
    first.
    """
    if handed is not None:
        deadline = _step_aside()
    refuse_stopped(data_dir(), "drain")
    ensure_safe_folder(data_dir())
    if wait and not limit and said_store() is None and _idle():
        return 0
    from memman.drain import run

    if handed is None and held(lock_path(data_dir())):
        deadline = _wait(deadline)
    with bar("draining", _KEPT) as progress:
        report = run.drain(
            notes=limit,
            seconds=deadline,
            store=said_store(),
            patient=handed is None,
            handed=handed,
            attended=handed is None and not wait,
            started=lambda queue: _counting(queue, progress),
            trace=_told if trace else lambda stage, plan: None,  # noqa: ARG005 - nobody looks on
        )
    for line in report.errors:
        complain(line)
    if not printed(asdict(report), as_json=as_json):
        text(summary(report))
    return report.exit_code


def summary(report: "Report") -> str:
    """Say in one line what a drain did."""
    line = f"processed {counted(report.done, 'note')}: {report.added} added, {report.superseded} superseded"
    line += f", {report.known} already known"
    line += f"; {report.deferred} deferred, {report.parked} parked"
    more = {"failed, will be retried": report.failed - report.parked, "rescued": report.rescued}
    line += "".join(f", {count} {what}" for what, count in more.items() if count > 0)
    return line + (f"; stopped: {report.stopped}; {_KEPT}" if report.stopped else "")


def _step_aside() -> float:
    """Leave the caller's folder, let others go first, and return the deadline of a drain that nobody waits for."""
    os.chdir("/")
    os.nice(_NICE)
    return DEADLINE


def _idle() -> bool:
    """Whether there is nothing to do; the heart beats all the same."""
    from memman.recovery.swap import unsettled
    from memman.upkeep.idle import idle

    if not idle(data_dir()) or unsettled(data_dir()):
        return False
    beat(data_dir())
    return True


def _wait(seconds: float | None) -> float | None:
    """Wait for the drain that is running, and show how it gets on; return the seconds that are left."""
    from memman.queue.view import QueueView

    complain("another drain is running: waiting for it to end")
    until = time.monotonic() + (FOREVER if seconds is None else seconds)
    with bar("waiting", _KEPT) as progress, closing(QueueView(data_dir())) as queue:
        total = queue.waiting()
        while held(lock_path(data_dir())) and time.monotonic() < until:
            progress(max(0, total - queue.waiting()), total)
            time.sleep(_LOOK)
    return None if seconds is None else max(0.0, until - time.monotonic())


def _counting(queue: "Queue", progress: "Progress") -> Callable[[], None]:
    total, done = queue.waiting(said_store()), 0

    def landed() -> None:
        nonlocal done
        done += 1
        progress(done, total)

    return landed


def _told(stage: str, plan: "Plan") -> None:
    from memman.drain.trace import line

    text(line(stage, plan))
