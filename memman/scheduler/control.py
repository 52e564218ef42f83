"""Starting, stopping and triggering drains, whoever starts them here."""

from memman.config.schedule import Schedule, refuse_stopped, ring
from memman.model.errors import NoScheduler
from memman.scheduler.adapter import elsewhere, left_alone, named
from memman.scheduler.state import changing

NOBODY = "nothing is set up to start drains here: `memman scheduler install` says what can"


def start(data: str) -> list[str]:
    """Let drains run, also after a reboot. Return what to tell the user."""
    with changing(data) as schedule:
        schedule.stopped = False
        schedule.save(data)
        lines = ["started: notes are taken, and drained"] + ([] if schedule.kind else [NOBODY])
        if adapter := named(schedule.kind):
            if owner := elsewhere(adapter, data):
                return [*lines, f"{left_alone(adapter, owner)}; `memman scheduler install` takes over from it"]
            adapter.start()
    return lines


def stop(data: str) -> list[str]:
    """Let memory be read only, also after a reboot: the state is on disk before any unit hears of it."""
    with changing(data) as schedule:
        schedule.stopped = True
        schedule.save(data)
        lines = ["stopped: memory can be read, and nothing changes until `memman scheduler start`"]
        if adapter := named(schedule.kind):
            try:
                if owner := elsewhere(adapter, data):
                    return [*lines, left_alone(adapter, owner)]
                adapter.stop()
            except NoScheduler as error:
                lines.append(f"{error}; what starts drains is still there, but they refuse to run")
    return lines


def trigger(data: str) -> list[str]:
    """Have a drain started now. Raises SchedulerStopped, NoScheduler."""
    refuse_stopped(data, "trigger")
    schedule = Schedule.load(data)
    if not schedule.kind:
        raise NoScheduler(f"{NOBODY}; `memman scheduler drain` drains once")
    ring(data)
    if adapter := named(schedule.kind):
        if owner := elsewhere(adapter, data):
            raise NoScheduler(f"{left_alone(adapter, owner)}; `memman scheduler drain` drains once")
        adapter.trigger()
    return [f"{schedule.kind} was asked to start a drain"]


def set_interval(data: str, seconds: int) -> list[str]:
    """Set how often a drain starts that nobody rang for."""
    with changing(data) as schedule:
        schedule.interval = seconds
        schedule.save(data)
        lines = [f"a drain starts every {seconds} s, and when a note comes"]
        if adapter := named(schedule.kind):
            if owner := elsewhere(adapter, data):
                return [*lines, left_alone(adapter, owner)]
            lines += adapter.install(data)[1:]
    return lines
