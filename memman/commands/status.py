"""`memman status`."""

from typing import Any

import click

from memman.commands.printing import ago, complain, pairs, printed, size, tallied, when
from memman.commands.verb import Command, data_options, place
from memman.config.drain_by_write import switched_off
from memman.model.plural import counted
from memman.model.text import age
from memman.queue.late import MISSING


@click.command(cls=Command)
@data_options
def status(as_json: bool) -> None:
    """Show the state of memory on one page."""
    record = everything()
    if not printed(record, as_json=as_json):
        pairs(_lines(record))


def everything() -> dict[str, Any]:
    """Return how memory and whoever starts drains are doing; what is wrong with the env file is complained of."""
    from dataclasses import asdict

    from memman import providers
    from memman.config.env import Settings
    from memman.govern import status as govern
    from memman.scheduler.report import report

    where = place()
    settings = Settings.read(where.data)
    for fault in settings.faults:
        complain(fault)
    budget = asdict(providers.budget(settings))
    limits = {"usd": budget["dollars"], "tokens": budget["tokens"], "calls": budget["calls"]}
    return govern.status(where, providers.in_force(settings), limits) | {"scheduler": report(where.data)}


def scheduled(record: dict[str, Any]) -> dict[str, str]:
    """Return what to print of how whoever starts drains is doing."""
    late, last, soon = record["overdue_seconds"], record["last_run"], record["next_run"]
    return {
        "scheduler": record["state"] if record["state"] == "stopped" else f"{record['state']}, {_starts(record)}",
        "units": "; ".join(f"{name} {state}" for name, state in record["units"].items()),
        "last run": "never" if last is None else f"{when(last)} ({ago(last)})",
        "next run": when(soon),
        "drain overdue": "" if late is None else f"overdue: the last one ended {late} s ago; run `memman doctor`",
    }


def _starts(record: dict[str, Any]) -> str:
    if record["interval"] is not None:
        return f"every {record['interval']} s by {record['kind']}"
    if record["kind"] != "write":
        return "nothing starts drains"
    return "by each write, but not from this shell: MEMMAN_DRAIN=off" if switched_off() else "by each write"


def _lines(record: dict[str, Any]) -> dict[str, str]:
    store, queue, providers = record["store"], record["queue"], record["providers"]
    budget = {name: limit for name, limit in record["budget"].items() if limit is not None}
    parked = queue["states"]["parked"]
    return {
        "parked": f"{counted(parked, 'note')} given up on; `memman scheduler queue failed` shows why" if parked else "",
        "store": f"{store['name']} ({store['why']})" + ("" if store["exists"] else ", empty"),
        "file": f"{store['path']}, {size(store['bytes'])}",
        "servers": "; ".join(_server(name, **one) for name, one in record["servers"].items()),
        "memories": tallied(record["memories"]["by_status"]),
        **{kind: _review(count) for kind, count in record["memories"]["waiting"].items()},
        "by category": tallied(record["memories"]["by_category"]),
        "edges": tallied(record["edges"]),
        "queue": tallied(queue["states"]) + f"; {queue['waiting_here']} queued for this store",
        "notes wait": queue["why"],
        "oldest queued": "" if queue["oldest_seconds"] is None else age(0, queue["oldest_seconds"] * 1000),
        "hooks too late": _late(record["late"]),
        "model": _model(providers["llm"]),
        "fallback": _model(providers["fallback"]) if providers["fallback"] else "",
        "model unfit": misfits(record["unfit"]),
        "embedder": f"{providers['embed']['provider']} {providers['embed']['model']}",
        "not asked": "; ".join(map(_trouble, record["troubles"])),
        "decided by the judge": _instead(record["reconsiderable"]),
        "breaker": f"open: {record['breaker']}" if record["breaker"] else "closed",
        **scheduled(record["scheduler"]),
        "sync": _sync(record["sync"]),
        "last drain": _drain(record["last_drain"]),
        "spent today": _spend(record["spend"]),
        "daily budget": ", ".join(f"{limit:g} {name}" for name, limit in budget.items()) or "none",
        "vectors": "; ".join(map(_fingerprint, record["fingerprints"])) or "none",
        "schema": ", ".join(f"{name} {number}" for name, number in record["schema"].items()),
        "version": record["version"],
    }


def _server(name: str, at: int, state: str, why: str) -> str:
    said = f"up to date {when(at)}" if state == "ok" else ""
    last = f"last up to date {when(at)}" if at and not said else ""
    return f"store {name}: " + "; ".join(filter(None, (said, why, last)))


def misfits(unfit: list[dict[str, str]]) -> str:
    """Say which models garble their answers, and what to do about it."""
    if not unfit:
        return ""
    said = "; ".join(f"{one['model']} for {one['task']}: {one['why']}" for one in unfit)
    return f"{said}; another answers in its place: run `memman doctor --billable`, or name another model"


def _late(counts: dict[str, int]) -> str:
    """Say what hooks did not get done within their second."""
    said = ", ".join(f"{MISSING[name]} {count}" for name, count in counts.items() if count)
    return f"in 7 days: {said}" if said else ""


def _review(count: int) -> str:
    return f"{counted(count, 'memory')}; to review: `memman review all`" if count else ""


def _model(llm: dict[str, str]) -> str:
    models = dict.fromkeys((llm["fast"], llm["slow"]))
    return f"{llm['provider']} {', '.join(models)}" + (f" at {llm['endpoint']}" if llm["endpoint"] else "")


def _trouble(trouble: dict[str, Any]) -> str:
    since, until = when(trouble["since"]), when(trouble["until"])
    return (
        f"{trouble['why']}; since {since} another decides instead, next try {until}; `memman doctor` says what mends it"
    )


def _instead(count: int) -> str:
    return f"{counted(count, 'note')}; to ask the model: `memman scheduler queue reconsider`" if count else ""


def _sync(sync: dict[str, Any] | None) -> str:
    if sync is None:
        return ""
    troubles = "".join(f"; {trouble}" for trouble in sync.get("troubles", ()))
    return f"{sync['folder']}, {_passed(sync['at']) if 'at' in sync else 'no round yet'}{troubles}"


def _passed(at: int) -> str:
    passed = ago(at)
    return "just now" if passed == "now" else f"{passed} ago"


def _drain(last: dict[str, Any] | None) -> str:
    if last is None:
        return "never"
    line = _passed(last["at"])
    line += f", {last['seconds']:.1f} s: {counted(last['done'], 'note')}, {last['added']} added"
    line += f", {last['superseded']} superseded, {last['deferred']} deferred, {last['parked']} parked"
    return line + (f"; stopped: {last['stopped']}" if last["stopped"] else "")


def _spend(spend: dict[str, Any]) -> str:
    stages = [
        f"{entry['stage']} {counted(entry['calls'], 'call')} {entry['cost']:.4f} USD" for entry in spend["stages"]
    ]
    spent = f"{spend['usd']:.4f} USD, {spend['tokens']} tokens, {counted(spend['calls'], 'call')}"
    unknown = sum(entry["unpriced"] for entry in spend["stages"])
    return "; ".join((spent, *stages, *([f"{counted(unknown, 'call')} of unknown cost"] if unknown else [])))


def _fingerprint(made: dict[str, Any]) -> str:
    return f"{made['vectors']} by {made['provider']}/{made['model']}/{made['dimension']}"
