"""Asking a provider whether it is there: a look that costs nothing, or with leave a question that does."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from memman.config.providers import EMBEDDERS, LLMS
from memman.doctor.finding import Context, Finding, fail, ok, shell, warn
from memman.http import Http, Policy, Rejected
from memman.model.errors import BadReply, MemmanError
from memman.providers import without_role
from memman.providers.build import adapter

# Seconds for one look; a person waits for it.
PATIENCE = 10.0
_KEY_STATUS = frozenset({401, 403})


def probed(context: Context, family: str, record: dict[str, str], ask: Callable[[Http], Awaitable[None]]) -> Finding:
    """Look at the provider of a `family` of keys, or where the person allows it, `ask` it."""
    row = (EMBEDDERS if family == "EMBED" else LLMS)[without_role(record["provider"])]
    base = record["endpoint"].rstrip("/").removesuffix("/v1" if row.free.startswith("/v1") else "")
    headers = adapter(row).headers(context.settings[f"MEMMAN_{family}_API_KEY"]) if row.keyed else {}

    async def look(http: Http) -> None:
        await http.get(base + row.free, headers)

    said = f"{record['provider']} {record['model']} at {record['endpoint']}"
    try:
        asyncio.run(_with_http(ask if context.billable else look))
    except Rejected as rejected:
        return _rejected(family, said, rejected, billable=context.billable)
    except BadReply as error:
        return warn(f"{said}: {error}") if context.billable else ok(f"{said} answers")
    except MemmanError as error:
        return fail(
            f"{said}: {error}",
            without(family),
            f"start it, or correct MEMMAN_{family}_ENDPOINT; the command switches to the built-in one",
        )
    return ok(f"{said} answers" + ("" if context.billable else ", as far as a free request can tell"))


async def _with_http(call: Callable[[Http], Awaitable[Any]]) -> None:
    http = Http(Policy(timeout=PATIENCE, connect_timeout=PATIENCE, tries=1))
    try:
        await call(http)
    finally:
        await http.close()


def _rejected(family: str, said: str, rejected: Rejected, *, billable: bool) -> Finding:
    name = f"MEMMAN_{family}_API_KEY"
    if rejected.status in _KEY_STATUS:
        return fail(
            f"{said}: {rejected}",
            shell("memman", "config", "set", name, "-"),
            "the command reads the new key from standard input",
        )
    if billable:
        return fail(
            f"{said}: {rejected}",
            without(family),
            "correct the setting it names; the command switches to the built-in one",
        )
    return ok(f"{said} answers; only --billable can test more")


def without(family: str) -> str:
    """Return the command that has the built-in one do what the provider of a `family` of keys does."""
    name = f"MEMMAN_{family}" if family.endswith("_FALLBACK") else f"MEMMAN_{family}_PROVIDER"
    return shell("memman", "config", "set", name, "builtin")
