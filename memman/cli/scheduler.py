"""`memman scheduler`: who starts drains, and the queue they work on."""

import click

from memman.cli.drain import drain
from memman.cli.group import Group
from memman.cli.log import worker
from memman.cli.options import json_option, store_option
from memman.cli.queue import queue
from memman.cli.show import as_data, pairs, text
from memman.cli.status import everything, scheduled
from memman.config.places import data_dir


@click.group(cls=Group)
@store_option
def scheduler() -> None:
    """Run drains, or have them run, and look into the queue."""


@scheduler.command()
def install() -> None:
    """Have systemd or launchd start drains, when a note comes and at an interval; where neither answers, each write."""
    from memman.scheduler import setup

    _say(setup.install(data_dir()))


@scheduler.command()
def uninstall() -> None:
    """Remove what starts drains; memory stays as it is."""
    from memman.scheduler import setup

    _say(setup.uninstall(data_dir()) or ["nothing was installed here to start drains"])


@scheduler.command()
def start() -> None:
    """Take notes and drain them again, also after a reboot."""
    from memman.scheduler import control

    _say(control.start(data_dir()))


@scheduler.command()
def stop() -> None:
    """Let memory be read only, also after a reboot, until it is started again."""
    from memman.scheduler import control

    _say(control.stop(data_dir()))


@scheduler.command()
def trigger() -> None:
    """Have a drain started now."""
    from memman.scheduler import control

    _say(control.trigger(data_dir()))


@scheduler.command()
@click.argument("seconds", type=click.IntRange(1, 86_400), required=False)
def interval(seconds: int | None) -> None:
    """Print or set the seconds between two drains that no note asked for."""
    from memman.scheduler import control

    if seconds is None:
        text(str(control.interval(data_dir())))
    else:
        _say(control.set_interval(data_dir(), seconds))


@scheduler.command()
@click.option("--interval", "seconds", type=click.IntRange(1, 86_400), metavar="SECONDS", help="Also set the interval.")
def serve(seconds: int | None) -> None:
    """Start drains from here until SIGTERM comes: for containers, also as their first process."""
    from memman.scheduler.serve import serve as run

    run(data_dir(), seconds)


@scheduler.command()
@json_option
@store_option
def status(as_json: bool) -> None:
    """Show who starts drains, how they are, and what waits for them."""
    whole = everything()
    record = whole["scheduler"] | {name: whole[name] for name in ("queue", "breaker", "last_drain", "spend")}
    if as_json:
        as_data(record)
        return
    states, oldest = record["queue"]["states"], record["queue"]["oldest_seconds"]
    pairs(
        {
            **scheduled(record),
            "waiting": f"{states['pending'] + states['running']} notes" + (f", oldest {oldest} s" if oldest else ""),
            "parked": f"{states['parked']} notes",
            "provider": f"unwell: {record['breaker']}" if record["breaker"] else "well",
            "spent today": f"{record['spend']['usd']:.4f} USD, {record['spend']['tokens']} tokens",
        }
    )


@scheduler.command()
@click.argument("mode", type=click.Choice(("on", "off")))
def debug(mode: str) -> None:
    """Let the worker's log hold what each stage makes of a note, or no text again."""
    from memman.config.env import change

    change(data_dir(), "MEMMAN_LOG_LEVEL", "debug" if mode == "on" else None)
    text(f"debug is {mode}: `memman scheduler logs` shows what drains write")


def _say(told: list[str]) -> None:
    for line in told:
        text(line)


scheduler.add_command(drain)
scheduler.add_command(queue)
scheduler.add_command(worker, "logs")
