"""`memman scheduler`: who starts drains, and the queue they work on."""

import click

from memman.commands.drain import drain
from memman.commands.log import worker
from memman.commands.printing import pairs, printed, text
from memman.commands.queue import queue
from memman.commands.status import everything, misfits, scheduled
from memman.commands.verb import Group, data_options, store_option
from memman.config.places import data_dir
from memman.model.plural import counted


@click.group(cls=Group)
@store_option
def scheduler() -> None:
    """Run and schedule drains (the background worker), and inspect the queue."""


@scheduler.command()
def install() -> None:
    """Set up systemd or launchd to start drains, on new notes and at an interval; else each write starts one."""
    from memman.scheduler import setup

    _say(setup.install(data_dir()))


@scheduler.command()
def uninstall() -> None:
    """Remove what starts drains; memories are kept."""
    from memman.scheduler import setup

    _say(setup.uninstall(data_dir()) or ["no scheduler was installed"])


@scheduler.command()
def start() -> None:
    """Resume: accept and process notes again, also after a reboot."""
    from memman.scheduler import control

    _say(control.start(data_dir()))


@scheduler.command()
def stop() -> None:
    """Pause: memory becomes read-only until `scheduler start`, also after a reboot."""
    from memman.scheduler import control

    _say(control.stop(data_dir()))


@scheduler.command()
def trigger() -> None:
    """Start a drain in the background now."""
    from memman.scheduler import control

    _say(control.trigger(data_dir()))


@scheduler.command()
@click.argument("seconds", type=click.IntRange(1, 86_400), required=False)
def interval(seconds: int | None) -> None:
    """Print or set the number of seconds between regular drains."""
    from memman.scheduler import control

    if seconds is None:
        text(str(control.interval(data_dir())))
    else:
        _say(control.set_interval(data_dir(), seconds))


@scheduler.command()
@click.option(
    "--interval",
    "seconds",
    type=click.IntRange(1, 86_400),
    metavar="SECONDS",
    help="Also set the interval, in seconds.",
)
def serve(seconds: int | None) -> None:
    """Run drains in the foreground until SIGTERM: for containers, also as process 1."""
    from memman.scheduler.serve import serve as run

    run(data_dir(), seconds)


@scheduler.command()
@data_options
def status(as_json: bool) -> None:
    """Show what starts drains, how they went, and what is queued."""
    whole = everything()
    record = whole["scheduler"] | {name: whole[name] for name in ("queue", "breaker", "unfit", "last_drain", "spend")}
    if printed(record, as_json=as_json):
        return
    states, oldest = record["queue"]["states"], record["queue"]["oldest_seconds"]
    queued = counted(states["pending"] + states["running"], "note")
    pairs(
        {
            **scheduled(record),
            "queued": queued + (f", oldest {oldest} s" if oldest else ""),
            "notes wait": record["queue"]["why"],
            "parked": counted(states["parked"], "note"),
            "provider": f"failing: {record['breaker']}" if record["breaker"] else "ok",
            "model unfit": misfits(record["unfit"]),
            "spent today": f"{record['spend']['usd']:.4f} USD, {record['spend']['tokens']} tokens",
        }
    )


@scheduler.command()
@click.argument("mode", type=click.Choice(("on", "off")))
def debug(mode: str) -> None:
    """Turn on or off logging of what each pipeline stage does with a note, including its text."""
    from memman.config.env import change

    change(data_dir(), "MEMMAN_LOG_LEVEL", "debug" if mode == "on" else None)
    text(f"debug is {mode}; see `memman scheduler logs`")


def _say(told: list[str]) -> None:
    for line in told:
        text(line)


scheduler.add_command(drain)
scheduler.add_command(queue)
scheduler.add_command(worker, "logs")
