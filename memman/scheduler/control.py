"""Starting, stopping and triggering drains, whoever starts them here."""

from memman.config.schedule import Schedule, refuse_stopped, ring
from memman.model.errors import NoScheduler
from memman.scheduler.adapter import named

NOBODY = "nothing is set up to start drains here: `memman scheduler install` says what can"


def start(data: str) -> list[str]:
    """Let drains run, also after a reboot. Return what to tell the user."""
    kind = _switched(data, stopped=False)
    if adapter := named(kind):
        adapter.start()
    return ["started: notes are taken, and drained"] + ([] if kind else [NOBODY])


def stop(data: str) -> list[str]:
    """Let memory be read only, also after a reboot: the state is on disk before any unit hears of it."""
    kind = _switched(data, stopped=True)
    lines = ["stopped: memory can be read, and nothing changes until `memman scheduler start`"]
    if adapter := named(kind):
        try:
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
        adapter.trigger()
    return [f"{schedule.kind} was asked to start a drain"]


def set_interval(data: str, seconds: int) -> list[str]:
    """Set how often a drain starts that nobody rang for."""
    schedule = Schedule.load(data)
    schedule.interval = seconds
    schedule.save(data)
    lines = [f"a drain starts every {seconds} s, and when a note comes"]
    adapter = named(schedule.kind)
    return lines if adapter is None else lines + adapter.install(data)[1:]


def _switched(data: str, *, stopped: bool) -> str:
    """Save the state and return who starts drains."""
    schedule = Schedule.load(data)
    schedule.stopped = stopped
    schedule.save(data)
    return schedule.kind
