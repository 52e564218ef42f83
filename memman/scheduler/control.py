"""Starting, stopping and triggering drains, whoever starts them here."""

from memman.config.drain_by_write import launch, lock_path
from memman.config.lockfile import held
from memman.config.schedule import NOBODY, Schedule, refuse_stopped, ring
from memman.model.errors import NoScheduler
from memman.scheduler.adapter import elsewhere, left_alone, named
from memman.scheduler.setup import changing

_NOBODY = "nothing starts drains here: run `memman scheduler install`"
_UNTIMED = "drains are started by each write here, so there is no interval"


def start(data: str) -> list[str]:
    """Let drains run, also after a reboot. Return what to tell the user."""
    with changing(data) as schedule:
        schedule.stopped = False
        schedule.save(data)
        lines = ["started: notes are accepted and processed"] + ([_NOBODY] if schedule.kind == NOBODY else [])
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
        lines = ["stopped: memory is read-only until `memman scheduler start`"]
        if adapter := named(schedule.kind):
            try:
                if owner := elsewhere(adapter, data):
                    return [*lines, left_alone(adapter, owner)]
                adapter.stop()
            except NoScheduler as error:
                lines.append(f"{error}; its units are still installed, but drains refuse to run")
    return lines


def trigger(data: str) -> list[str]:
    """Start a drain in the background now. Raises SchedulerStopped, NoScheduler."""
    refuse_stopped(data, "trigger")
    schedule = Schedule.load(data)
    if schedule.kind == NOBODY:
        raise NoScheduler(f"{_NOBODY}; `memman scheduler drain` runs one drain now")
    ring(data)
    if not schedule.timed:
        return [_launched(data)]
    if adapter := named(schedule.kind):
        if owner := elsewhere(adapter, data):
            raise NoScheduler(f"{left_alone(adapter, owner)}; `memman scheduler drain` runs one drain now")
        adapter.trigger()
    return [f"asked {schedule.kind} to start a drain"]


def _launched(data: str) -> str:
    if launch(data):
        return "a drain was started"
    if held(lock_path(data)):
        return "a drain is already running and will also process new notes"
    raise NoScheduler("no drain could be started: run `memman doctor` to see why")


def interval(data: str) -> int:
    """Return how often a drain starts that nobody rang for. Raises NoScheduler where none does."""
    return _timed(Schedule.load(data)).interval


def set_interval(data: str, seconds: int) -> list[str]:
    """Set how often a drain starts that nobody rang for. Raises NoScheduler where none would."""
    with changing(data) as schedule:
        _timed(schedule).interval = seconds
        schedule.save(data)
        lines = [f"a drain starts every {seconds} s and after each new note"]
        if adapter := named(schedule.kind):
            if owner := elsewhere(adapter, data):
                return [*lines, left_alone(adapter, owner)]
            lines += adapter.install(data)[1:]
    return lines


def _timed(schedule: Schedule) -> Schedule:
    if not schedule.timed:
        raise NoScheduler(_NOBODY if schedule.kind == NOBODY else _UNTIMED)
    return schedule
