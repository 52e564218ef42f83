"""`memman status`."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from memman import __version__
from memman.clock import now_ms
from memman.commands import review
from memman.commands.place import Opened
from memman.commands.printing import ago, complain, pairs, past, size, tallied, when
from memman.commands.verb import verb
from memman.config import stores, synced
from memman.config.drain_by_write import switched_off
from memman.config.env import Settings
from memman.config.places import store_path
from memman.config.providers import AGENTS, AUTO
from memman.config.schedule import NOBODY, Schedule
from memman.model.objects import parsed
from memman.model.plural import counted
from memman.model.text import age
from memman.model.vocabulary import GARBLES
from memman.providers.chosen import budget as budget_of
from memman.providers.chosen import in_force, unfit
from memman.queue.late import MISSING, counts
from memman.queue.ledger import Ledger, today
from memman.queue.notes import WAITS
from memman.queue.schema import VERSION as QUEUE_SCHEMA
from memman.queue.trouble import KEY, Trouble
from memman.queue.view import QueueView
from memman.scheduler.control import report
from memman.store import reach
from memman.store.reach import connected
from memman.store.sqlite.schema import VERSION as STORE_SCHEMA

# Seconds in which what came too late is counted.
WEEK = 7 * 86_400


def waits(data: str, queue: QueueView) -> str:
    """Return why notes wait, '' where none do or a drain is about to come."""
    if not queue.waiting():
        return ""
    schedule = Schedule.load(data)
    if schedule.stopped:
        return "the scheduler is stopped: `memman scheduler start`"
    if schedule.kind == NOBODY:
        return "nothing starts drains: `memman scheduler install`"
    return queue.why() or ("" if queue.due() else WAITS)


def _queue(store: Opened) -> dict[str, Any]:
    queue = store.queue
    counts = dict.fromkeys(("pending", "running", "done", "parked"), 0) | queue.counts()
    oldest = queue.oldest()
    age = None if oldest is None else max(0, now_ms() - oldest) // 1000
    waiting = {"waiting_here": len(queue.of(store.name)), "oldest_seconds": age, "why": waits(store.data, queue)}
    return {"states": counts} | waiting


def _server_state(path: str) -> dict[str, Any]:
    """Return when a store was last what its server had, how it is with that now, and why."""
    at, how = reach.state(path)
    return {"at": at, "state": how or reach.AWAY, "why": reach.cause(path)}


def _troubles(queue: QueueView, model: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return what keeps agents from being asked as the model, of those that are it."""
    names = AGENTS if model["provider"] == AUTO else (model["provider"],)
    found = {name: Trouble.load(queue.meta(KEY + name)) for name in names}
    return [{"agent": name, **asdict(trouble)} for name, trouble in found.items() if trouble.why]


def _spent(queue: QueueView) -> dict[str, Any]:
    ledger = Ledger(queue.db)
    dollars, tokens, calls = ledger.spent_today()
    stages = [entry for entry in ledger.days(200) if entry["day"] == today()]
    return {"day": today(), "usd": dollars, "tokens": tokens, "calls": calls, "stages": stages}


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
    parked, here, oldest = queue["states"]["parked"], queue["waiting_here"], queue["oldest_seconds"]
    chosen = "" if store["why"] == stores.DEFAULT else f" ({store['why']})"
    late = ", ".join(f"{MISSING[name]} {count}" for name, count in record["late"].items() if count)
    made = [
        f"{one['vectors']} by {one['provider']}/{one['model']}/{one['dimension']}" for one in record["fingerprints"]
    ]
    waiting = {
        kind: f"{counted(count, 'memory')}; to review: `memman review all`" if count else ""
        for kind, count in record["memories"]["waiting"].items()
    }
    return {
        "parked": f"{counted(parked, 'note')} given up on; `memman scheduler queue failed` shows why" if parked else "",
        "store": f"{store['name']}{chosen}" + ("" if store["exists"] else ", empty"),
        "file": f"{store['path']}, {size(store['bytes'])}",
        "servers": "; ".join(_server(name, **one) for name, one in record["servers"].items()),
        "memories": tallied(record["memories"]["by_status"]),
        **waiting,
        "by category": tallied(record["memories"]["by_category"]),
        "edges": tallied(record["edges"]),
        "queue": tallied(queue["states"]) + (f"; {here} queued for this store" if here else ""),
        "notes wait": queue["why"],
        "oldest queued": "" if oldest is None else age(0, oldest * 1000),
        "hooks too late": f"in 7 days: {late}" if late else "",
        "model": _model(providers["llm"]),
        "model unfit": misfit(record["unfit"]),
        "embedder": f"{providers['embed']['provider']} {providers['embed']['model']}",
        "not asked": "; ".join(map(_trouble, record["troubles"])),
        "provider down": f"{record['breaker']}; drains ask it again by themselves" if record["breaker"] else "",
        **scheduled(record["scheduler"]),
        "sync": _synced(record["sync"]),
        "last drain": _drain(record["last_drain"]),
        "spent today": _spend(record["spend"]),
        "daily budget": ", ".join(f"{limit:g} {name}" for name, limit in budget.items()) or "none",
        "vectors": "; ".join(made) or "none",
        "version": record["version"],
    }


def _server(name: str, at: int, state: str, why: str) -> str:
    said = f"up to date {when(at)}" if state == "ok" else ""
    last = f"last up to date {when(at)}" if at and not said else ""
    return f"store {name}: " + "; ".join(filter(None, (said, why, last)))


def misfit(unfit: str) -> str:
    """Say which model garbles its answers, and what to do about it."""
    return unfit and f"{unfit}; the judge answers in its place: run `memman doctor --billable`, or name another model"


def _model(llm: dict[str, str]) -> str:
    models = dict.fromkeys((llm["fast"], llm["slow"]))
    return f"{llm['provider']} {', '.join(models)}" + (f" at {llm['endpoint']}" if llm["endpoint"] else "")


def _trouble(trouble: dict[str, Any]) -> str:
    since, until = when(trouble["since"]), when(trouble["until"])
    return (
        f"{trouble['why']}; since {since} another decides instead, next try {until}; `memman doctor` says how to fix it"
    )


def _synced(sync: dict[str, Any] | None) -> str:
    if sync is None:
        return ""
    troubles = "".join(f"; {trouble}" for trouble in sync.get("troubles", ()))
    return f"{sync['folder']}, {past(sync['at']) if 'at' in sync else 'no round yet'}{troubles}"


def _drain(last: dict[str, Any] | None) -> str:
    if last is None:
        return "never"
    line = past(last["at"])
    line += f", {last['seconds']:.1f} s: {counted(last['done'], 'note')}, {last['added']} added"
    line += f", {last['superseded']} superseded, {last['deferred']} deferred, {last['parked']} parked"
    return line + (f"; stopped: {last['stopped']}" if last["stopped"] else "")


def _spend(spend: dict[str, Any]) -> str:
    stages = [
        f"{entry['stage']} {counted(entry['calls'], 'call')} {entry['cost']:.4f} USD" for entry in spend["stages"]
    ]
    if not spend["calls"]:
        return "nothing"
    spent = f"{spend['usd']:.4f} USD, {spend['tokens']} tokens, {counted(spend['calls'], 'call')}"
    unknown = sum(entry["unpriced"] for entry in spend["stages"])
    return "; ".join((spent, *stages, *([f"{counted(unknown, 'call')} of unknown cost"] if unknown else [])))


@verb(opened=True, shows=lambda record: pairs(_lines(record)))
def status(store: Opened) -> dict[str, Any]:
    """Show the state of memory on one page."""
    data, place, queue = store.data, store.place, store.queue
    settings = Settings.read(data)
    for fault in settings.faults:
        complain(fault)
    budget = budget_of(settings)
    chosen = in_force(settings)
    synced_by = synced.folder(data, store.name)
    return {
        "version": __version__,
        "data": data,
        "store": {name: getattr(place, name) for name in ("name", "why", "path", "exists")} | {"bytes": store.size()},
        "servers": {name: _server_state(store_path(data, name)) for name in connected(data)},
        "memories": {
            "by_category": store.tally("category"),
            "by_status": store.tally("status"),
            "waiting": review.count(store),
        },
        "edges": store.tally("edge"),
        "queue": _queue(store),
        "late": counts(data, WEEK),
        "providers": chosen,
        "breaker": queue.meta("breaker"),
        "troubles": _troubles(queue, chosen["llm"]),
        "unfit": unfit(queue.meta(GARBLES), chosen["llm"]),
        "sync": {"folder": synced_by, **synced.last_round(data, store.name)} if synced_by else None,
        "last_drain": parsed(queue.meta("last_drain")),
        "spend": _spent(queue),
        "budget": {"usd": budget.dollars, "tokens": budget.tokens, "calls": budget.calls},
        "schema": {"store": STORE_SCHEMA, "queue": QUEUE_SCHEMA},
        "fingerprints": store.fingerprints(),
        "scheduler": report(data),
    }
