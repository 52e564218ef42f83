"""`memman scheduler`: who starts drains, drains themselves, and the queue that they work on."""

import os
import time
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from memman.commands.log import worker
from memman.commands.person import confirm
from memman.commands.printing import (
    Progress,
    ago,
    bar,
    complain,
    lines,
    pairs,
    printed,
    short,
    table,
    tallied,
    text,
    when,
)
from memman.commands.verb import Group, json_option, said_store, store_option
from memman.config.drain_by_write import DEADLINE, ask, lock_path
from memman.config.lockfile import FOREVER, held
from memman.config.places import data_dir, ensure_safe_folder
from memman.config.schedule import beat, refuse_stopped
from memman.model.errors import UsageError
from memman.model.plural import counted

if TYPE_CHECKING:
    from memman.commands.place import Opened, Place
    from memman.drain.report import Report
    from memman.queue.notes import Queue

Records = list[dict[str, Any]]
STATES = ("pending", "running", "done", "parked")
_KEPT = "what is stored stays, and what is not waits for the next drain"
# As the systemd unit has it.
_NICE = 10
# Seconds between two looks at a drain that is running.
_LOOK = 0.1


@click.group(cls=Group)
@store_option
def scheduler() -> None:
    """Run and schedule drains, the background worker, and show the queue."""


@scheduler.verb(store=False, shows=lines)
def install() -> list[str]:
    """Set up systemd or launchd to start drains, on new notes and at an interval; else each write starts one."""
    from memman.config.launcher import stay
    from memman.scheduler import control

    stay(data_dir())
    return control.install(data_dir())


@scheduler.verb(store=False, shows=lines)
def uninstall() -> list[str]:
    """Remove what starts drains; memories are kept."""
    from memman.scheduler import control

    return control.uninstall(data_dir()) or ["no scheduler was installed"]


@scheduler.verb(store=False, shows=lines)
def start() -> list[str]:
    """Resume: accept and process notes again, also after a reboot."""
    from memman.scheduler import control

    return control.start(data_dir())


@scheduler.verb(store=False, shows=lines)
def stop() -> list[str]:
    """Pause: memory becomes read-only until `scheduler start`, also after a reboot."""
    from memman.scheduler import control

    return control.stop(data_dir())


@scheduler.verb(store=False, shows=lines)
def trigger() -> list[str]:
    """Start a drain in the background now."""
    from memman.scheduler import control

    return control.trigger(data_dir())


@scheduler.verb(store=False, shows=lines)
@click.argument("seconds", type=click.IntRange(1, 86_400), required=False)
def interval(seconds: int | None = None) -> list[str]:
    """Print or set the number of seconds between regular drains."""
    from memman.scheduler import control

    return [str(control.interval(data_dir()))] if seconds is None else control.set_interval(data_dir(), seconds)


@scheduler.verb(store=False)
@click.option(
    "--interval",
    "seconds",
    type=click.IntRange(1, 86_400),
    metavar="SECONDS",
    help="Also set the interval, in seconds.",
)
def serve(seconds: int | None = None) -> None:
    """Run drains in the foreground until SIGTERM, for containers, also as process 1."""
    from memman.scheduler.serve import serve as run

    run(data_dir(), seconds)


def _print_status(record: dict[str, Any]) -> None:
    from memman.commands.status import misfit, scheduled

    states, oldest = record["queue"]["states"], record["queue"]["oldest_seconds"]
    queued = counted(states["pending"] + states["running"], "note")
    pairs(
        {
            **scheduled(record),
            "queued": queued + (f", oldest {oldest} s" if oldest else ""),
            "notes wait": record["queue"]["why"],
            "parked": counted(states["parked"], "note"),
            "provider": f"failing: {record['breaker']}" if record["breaker"] else "ok",
            "model unfit": misfit(record["unfit"]),
            "spent today": f"{record['spend']['usd']:.4f} USD, {record['spend']['tokens']} tokens",
        }
    )


@scheduler.verb(opened=True, shows=_print_status)
def status(store: "Opened") -> dict[str, Any]:
    """Show what starts drains, how they went, and what is queued."""
    from memman.commands.status import status as whole_status

    whole = whole_status(store)
    more = ("queue", "breaker", "unfit", "last_drain", "spend")
    return {**whole["scheduler"], **{name: whole[name] for name in more}}


@scheduler.verb(store=False, shows=lambda mode: text(f"debug is {mode}; see `memman scheduler logs`"))
@click.argument("mode", type=click.Choice(("on", "off")))
def debug(mode: str) -> str:
    """Turn on or off logging of what each pipeline stage does with a note, including its text."""
    from memman.config.env import change

    change(data_dir(), "MEMMAN_LOG_LEVEL", "debug" if mode == "on" else None)
    return mode


@scheduler.verb(store=False)
@click.option("--limit", type=click.IntRange(1), help="Process at most this many notes.")
@click.option(
    "--deadline", type=click.FloatRange(0, min_open=True), metavar="SECONDS", help="Start no new note after this time."
)
@click.option("--wait", is_flag=True, help="For service units: exit at once if the queue is empty.")
@click.option(
    "--handed", type=click.IntRange(3), hidden=True, help="For memman itself: file descriptor of the drain lock."
)
@json_option
@store_option
def drain(
    *,
    limit: int | None,
    deadline: float | None,
    wait: bool,
    handed: int | None,
    as_json: bool,
) -> int:
    """Process the queued notes and store them as memories.

    Waits for a running drain, up to --deadline. If errors keep notes waiting, the exit code is that of the first
    error.
    """
    data, store = data_dir(), said_store()
    if handed is not None:
        # Nobody waits for it: it leaves the caller's folder, and lets others go first.
        os.chdir("/")
        os.nice(_NICE)
        deadline = DEADLINE
    refuse_stopped(data, "drain")
    ensure_safe_folder(data)
    if wait and not limit and store is None and _idle(data):
        return 0
    from memman.drain import run

    if handed is None and held(lock_path(data)):
        deadline = _wait(data, deadline)
    with bar("draining", _KEPT) as progress:
        report = run.drain(
            notes=limit,
            seconds=deadline,
            store=store,
            patient=handed is None,
            handed=handed,
            attended=handed is None and not wait,
            started=lambda queue: _counting(queue, store, progress),
        )
    for line in report.errors:
        complain(line)
    if not printed(report, as_json=as_json):
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


def _idle(data: str) -> bool:
    """Whether there is nothing to do; the heart beats all the same."""
    from memman.upkeep.idle import idle

    if not idle(data):
        return False
    beat(data)
    return True


def _wait(data: str, seconds: float | None) -> float | None:
    """Wait for the drain that is running, and show how it gets on; return the seconds that are left."""
    from memman.queue.view import QueueView

    complain("another drain is running: waiting for it to end")
    until = time.monotonic() + (FOREVER if seconds is None else seconds)
    with bar("waiting", _KEPT) as progress, closing(QueueView(data)) as queue:
        total = queue.waiting()
        while held(lock_path(data)) and time.monotonic() < until:
            progress(max(0, total - queue.waiting()), total)
            time.sleep(_LOOK)
    return None if seconds is None else max(0.0, until - time.monotonic())


def _counting(queue: "Queue", store: str | None, progress: Progress) -> Callable[[], None]:
    total, done = queue.waiting(store), 0

    def landed() -> None:
        nonlocal done
        done += 1
        progress(done, total)

    return landed


@click.group(cls=Group)
@store_option
def queue() -> None:
    """Inspect the queue, and retry parked notes."""


def listed(place: "Place", states: tuple[str, ...], limit: int = -1) -> Records:
    """Return the notes in these states, newest first; those of one store where it was named."""
    from memman.queue.view import QueueView

    with closing(QueueView(place.data)) as view:
        if not place.named:
            return view.listed(states, limit)
        notes = view.listed(states, -1)
    return [note for note in notes if note["store"] == place.name][: limit if limit >= 0 else None]


def _print_notes(notes: Records) -> None:
    from memman.commands.status import waits
    from memman.queue.view import QueueView

    rows = [
        (short(n["uid"], note=True), n["store"], n["channel"], n["state"], ago(n["queued_at"]), n["text"])
        for n in notes
    ]
    table(rows, 80, ("id", "store", "kind", "state", "age", "text"))
    with closing(QueueView(data_dir())) as view:
        if why := waits(data_dir(), view):
            text(f"notes wait: {why}")


@queue.verb("list", shows=_print_notes, counts=len, none="no queued notes")
@click.option("--state", type=click.Choice(STATES), help="Show only notes in this state; default: all except done.")
def list_(place: "Place", *, state: str | None = None, limit: int = 20) -> Records:
    """List notes, newest first."""
    return listed(place, (state,) if state else ("pending", "running", "parked"), limit)


def _print_failed(notes: Records) -> None:
    for note in notes:
        tries = counted(note["attempts"], "attempt")
        text(f"{short(note['uid'], note=True)}  {note['store']}  {tries}  {note['error']}")
        text(f"    {note['text'][:200]}")


@queue.verb(shows=_print_failed, counts=len, none="no parked notes")
def failed(place: "Place", *, limit: int = 20) -> Records:
    """List parked notes with their errors."""
    return listed(place, ("parked",), limit)


def _print_note(record: dict[str, Any]) -> None:
    times = {name: when(record[name] or None) for name in ("queued_at", "changed_at", "retry_at")}
    pairs(record | times | {"journal": ", ".join(record["journal"])})


@queue.verb(shows=_print_note)
@click.argument("part", metavar="ID")
def show(place: "Place", part: str) -> dict[str, Any]:
    """Show all details of a note."""
    from memman.queue.view import QueueView

    with closing(QueueView(place.data)) as view:
        return view.show(view.find(part))


@queue.verb(shows=lambda done: text(f"{counted(len(done), 'note')} will be retried"))
@click.argument("part", metavar="ID", required=False)
@click.option("--all", "every", is_flag=True, help="All parked notes.")
def retry(place: "Place", part: str | None = None, *, every: bool = False) -> list[str]:
    """Retry parked notes."""
    from memman.queue.notes import Queue

    if every == bool(part):
        raise UsageError("give the id of a parked note, or --all")
    with closing(Queue(place.data)) as notes:
        chosen = [notes.find(part)] if part else [note["uid"] for note in listed(place, ("parked",))]
        done = [uid for uid in chosen if notes.retry(uid)]
    if done:
        ask(place.data)
    if part and not done:
        raise UsageError(f"note {part} is not parked")
    return done


def _ask_to_purge(place: "Place", *, parked: bool, **_: bool) -> None:
    if parked:
        told = (f"{short(note['uid'], note=True)}  {note['text']}" for note in listed(place, ("parked",)))
        confirm("Delete the parked notes? Their text is stored nowhere else.", listed=told)


@queue.verb(asks=_ask_to_purge, shows=lambda counts: text(f"deleted {tallied(counts)}"))
@click.option("--done", is_flag=True, help="Notes that are stored as memories.")
@click.option("--parked", is_flag=True, help="Notes given up after five attempts; their text is stored nowhere else.")
def purge(place: "Place", *, done: bool = False, parked: bool = False) -> dict[str, int]:
    """Delete notes from the queue."""
    from memman.queue.notes import Queue

    if not (done or parked):
        raise UsageError("nothing selected: give --done, --parked or both")
    with closing(Queue(place.data)) as notes:
        return {state: notes.purge(state) for state, wanted in (("done", done), ("parked", parked)) if wanted}


scheduler.add_command(queue)
scheduler.add_command(worker, "logs")
