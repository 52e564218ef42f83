"""Whole-process timing: wall and processor time, and peak memory, of commands run in turn.

Run as a script of its own (`python -I -S process.py`), it stays smaller than anything it
starts. That matters: on Linux a child's peak memory begins at that of the process that
spawned it, so a caller that has imported numpy would measure itself. It talks marshal
because json would make it bigger than a bare Python.
"""

import marshal
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WARM_UP = 3
# A case as it travels: its commands, used in turn, their environment, and files to read instead of nothing, likewise.
Case = tuple[list[list[str]], dict[str, str]] | tuple[list[list[str]], dict[str, str], list[str]]
# What one run took, as it travels: wall nanoseconds, processor seconds, peak KiB.
Run = tuple[int, float, int]


class Failed(Exception):
    """A measured command did not exit with 0."""


class Timing:
    """The runs of one case. Times are milliseconds."""

    def __init__(self, runs: "Sequence[Run]") -> None:
        self.walls = sorted(wall / 1e6 for wall, _, _ in runs)
        self.cpus = sorted(cpu * 1e3 for _, cpu, _ in runs)
        self.peaks = sorted(peak for _, _, peak in runs)

    @property
    def wall(self) -> float:
        """Median wall time."""
        return _middle(self.walls)

    @property
    def cpu(self) -> float:
        """Median processor time, user and system."""
        return _middle(self.cpus)

    @property
    def late(self) -> float:
        """Wall time that 95 of 100 runs keep within."""
        return self.walls[int(0.95 * len(self.walls))]

    @property
    def last(self) -> float:
        """Wall time that 99 of 100 runs keep within."""
        return self.walls[int(0.99 * len(self.walls))]

    @property
    def peak(self) -> float:
        """Median peak of resident memory, MiB."""
        return _middle(self.peaks) / 1024

    def record(self) -> dict[str, float]:
        """Return the figures under the names they have in the JSON."""
        figures = {"wall_ms": self.wall, "p95_ms": self.late, "least_ms": self.walls[0], "cpu_ms": self.cpu}
        return {name: round(value, 3) for name, value in figures.items()} | {"peak_mib": round(self.peak, 1)}


def _middle(values: "Sequence[float]") -> float:
    half = len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


def measure(cases: "Mapping[str, Case]", rounds: int, cwd: str) -> "dict[str, Timing]":
    """Run every case once a round, `rounds` times after a warm-up. Raises Failed."""
    import subprocess

    asked = marshal.dumps((rounds, dict(cases)))
    done = subprocess.run(
        [sys.executable, "-I", "-S", __file__], input=asked, capture_output=True, cwd=cwd, check=False
    )
    if done.returncode:
        raise Failed(done.stderr.decode(errors="replace").strip())
    return {name: Timing(runs) for name, runs in marshal.loads(done.stdout).items()}  # noqa: S302 - our own child's


def _spawn(command: list[str], env: dict[str, str], null: int, source: str) -> Run:
    actions: list[tuple[object, ...]] = [(os.POSIX_SPAWN_DUP2, null, handle) for handle in (1, 2)]
    actions.append((os.POSIX_SPAWN_OPEN, 0, source, os.O_RDONLY, 0))
    started = time.perf_counter_ns()
    child = os.posix_spawn(command[0], command, env, file_actions=actions)
    _, status, used = os.wait4(child, 0)
    wall = time.perf_counter_ns() - started
    if status:
        sys.exit(f"exit {os.waitstatus_to_exitcode(status)} from {command}")
    return wall, used.ru_utime + used.ru_stime, _kib(used.ru_maxrss)


def _kib(peak: int) -> int:
    return peak // 1024 if sys.platform == "darwin" else peak


def _all(rounds: int, cases: "dict[str, Case]") -> "dict[str, list[Run]]":
    """Interleave the cases, each round beginning elsewhere, so that a busy moment hits all alike."""
    null = os.open(os.devnull, os.O_RDWR)
    names = list(cases)
    taken: dict[str, list[Run]] = {name: [] for name in names}
    for n in range(WARM_UP + rounds):
        first = n % len(names)
        for name in names[first:] + names[:first]:
            commands, env, *given = cases[name]
            sources = given[0] if given else [os.devnull]
            run = _spawn(commands[n % len(commands)], env, null, sources[n % len(sources)])
            if n >= WARM_UP:
                taken[name].append(run)
    return taken


if __name__ == "__main__":
    marshal.dump(_all(*marshal.load(sys.stdin.buffer)), sys.stdout.buffer)  # noqa: S302 - our own parent's
