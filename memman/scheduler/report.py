"""How whoever starts drains is doing."""

import os
from typing import Any

from memman.config.schedule import NOBODY, SERVE, WRITE, Schedule, heartbeat_path, overdue
from memman.model.errors import NoScheduler
from memman.scheduler import serve
from memman.scheduler.adapter import elsewhere, named


def report(data: str) -> dict[str, Any]:
    """Return kind, state, units, last and next run (Unix milliseconds), and by how many seconds a drain is overdue."""
    schedule = Schedule.load(data)
    health = serve.health(data) if schedule.kind == SERVE else _health(data, schedule.kind)
    last = last_run(data)
    expected = last + schedule.interval * 1000 if last and schedule.timed else None
    return {
        "kind": schedule.kind or WRITE,
        "state": "stopped" if schedule.stopped else "not installed" if schedule.kind == NOBODY else "started",
        "interval": schedule.interval if schedule.timed else None,
        "well": health.get("well"),
        "units": health.get("units", {}),
        "last_run": last,
        "next_run": None if schedule.stopped else health.get("next_run") or expected,
        "overdue_seconds": overdue(data),
    }


def last_run(data: str) -> int | None:
    """Return when a drain last got on or ended."""
    try:
        return os.stat(heartbeat_path(data)).st_mtime_ns // 1_000_000
    except OSError:
        return None


def _health(data: str, kind: str) -> dict[str, Any]:
    adapter = named(kind)
    if adapter is None:
        return {}
    try:
        if owner := elsewhere(adapter, data):
            return {"well": False, "units": {kind: f"runs drains for another data folder ({owner})"}}
        return adapter.health()
    except NoScheduler:
        return {"well": False, "units": {kind: "does not answer"}}
