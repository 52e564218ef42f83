"""How memory is doing, on one page."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from memman import __version__
from memman.clock import now_ms
from memman.commands.place import Place, looking
from memman.config import synced
from memman.config.places import store_path
from memman.config.providers import AGENTS, AUTO
from memman.config.schedule import NOBODY, Schedule
from memman.govern import inbox
from memman.model.objects import parsed
from memman.providers.fitness import UNFIT, unfit
from memman.queue.late import counts
from memman.queue.ledger import Ledger, today
from memman.queue.schema import VERSION as QUEUE_SCHEMA
from memman.queue.talks import WAITS
from memman.queue.trouble import KEY, Trouble
from memman.queue.view import QueueView
from memman.store import reach
from memman.store.opening import connected
from memman.store.sqlite.catalogue import Catalogue
from memman.store.sqlite.schema import VERSION as STORE_SCHEMA

# Seconds in which what came too late is counted.
WEEK = 7 * 86_400


def status(place: Place, providers: Mapping[str, Any], budget: Mapping[str, float | None]) -> dict[str, Any]:
    """Return everything `memman status` shows. `providers` and `budget` are what the settings make of them."""
    with looking(place) as (catalogue, queue):
        return {
            "version": __version__,
            "data": place.data,
            "store": _store(place, catalogue),
            "servers": _servers(place.data),
            "memories": {
                "by_category": catalogue.tally("category"),
                "by_status": catalogue.tally("status"),
                "waiting": inbox.count(catalogue),
            },
            "edges": catalogue.tally("edge"),
            "queue": _queue(queue, place.name) | {"why": waits(place.data, queue)},
            "late": counts(place.data, WEEK),
            "providers": dict(providers),
            "breaker": queue.meta("breaker"),
            "troubles": _troubles(queue, [*filter(None, (providers["llm"], providers["fallback"]))]),
            "reconsiderable": queue.reconsiderable(),
            "unfit": unfit(queue.meta(UNFIT), [*filter(None, (providers["llm"], providers["fallback"]))]),
            "sync": _sync(place),
            "last_drain": parsed(queue.meta("last_drain")),
            "spend": _spend(queue),
            "budget": dict(budget),
            "schema": {"store": STORE_SCHEMA, "queue": QUEUE_SCHEMA},
            "fingerprints": catalogue.fingerprints(),
        }


def _store(place: Place, catalogue: Catalogue) -> dict[str, Any]:
    return {
        "name": place.name,
        "why": place.why,
        "path": place.path,
        "exists": place.exists,
        "bytes": catalogue.size(),
    }


def _servers(data: str) -> dict[str, dict[str, Any]]:
    """Return of each store on a server when it last was what that had, how it is with it now, and why."""
    return {name: _server(store_path(data, name)) for name in connected(data)}


def _server(path: str) -> dict[str, Any]:
    at, how = reach.state(path)
    return {"at": at, "state": how or reach.AWAY, "why": reach.cause(path)}


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


def _queue(queue: QueueView, store: str) -> dict[str, Any]:
    counts = dict.fromkeys(("pending", "running", "done", "parked"), 0) | queue.counts()
    oldest = queue.oldest()
    age = None if oldest is None else max(0, now_ms() - oldest) // 1000
    return {"states": counts, "waiting_here": len(queue.of(store)), "oldest_seconds": age}


def _sync(place: Place) -> dict[str, Any] | None:
    """Return how the store's sync is doing, None where it has none."""
    folder = synced.folder(place.data, place.name)
    return {"folder": folder, **synced.last_round(place.data, place.name)} if folder else None


def _troubles(queue: QueueView, models: Sequence[Mapping[str, str]]) -> list[dict[str, Any]]:
    """Return what keeps agents from being asked as the model, of those that are it."""
    names = [name for one in models for name in (AGENTS if one["provider"] == AUTO else (one["provider"],))]
    found = {name: Trouble.load(queue.meta(KEY + name)) for name in names}
    return [{"agent": name, **asdict(trouble)} for name, trouble in found.items() if trouble.why]


def _spend(queue: QueueView) -> dict[str, Any]:
    ledger = Ledger(queue.db)
    dollars, tokens, calls = ledger.spent_today()
    stages = [entry for entry in ledger.days(200) if entry["day"] == today()]
    return {"day": today(), "usd": dollars, "tokens": tokens, "calls": calls, "stages": stages}
