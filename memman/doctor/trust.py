"""Whether Codex trusts our hooks: it silently skips one that its user has not approved as it stands.

Trust is the user's to give, in Codex itself; here its record is only read.

Looks at: Codex' record of approved hooks
Finds: warns of hooks it skips: new, changed since, or switched off
"""

import hashlib
import json
import os
import re
from collections.abc import Iterator
from typing import Any

from memman.doctor.agents import settings, wired
from memman.doctor.finding import Context, Finding, skipped, sound, warn
from memman.integrations import codex
from memman.integrations.hook_block import ours
from memman.model.plural import counted

_STEP = "start `codex`, type /hooks and approve those of memman"
# What our hooks are made of; the fingerprint of one that somebody gave more is not worked out.
_PLAIN = frozenset({"type", "command", "timeout", "async"})
_PATIENCE = 600  # seconds, where a hook names none

Record = dict[str, dict[str, Any]]


def check(context: Context) -> Iterator[Finding]:
    """Look up each hook's record of trust."""
    if codex.TARGET not in wired(context):
        yield skipped("memman is not set up in codex")
        return
    hooks = {key: print_ for path in codex.TARGET.settings() for key, print_ in _hooks(path, settings(path))}
    yield from sound(_doubts(hooks, _record()), f"codex trusts {counted(len(hooks), 'hook')}")


def fingerprint(event: str, matcher: str | None, handler: dict[str, Any]) -> str:
    """Return what Codex (0.129 to 0.169 at least) writes down when a hook is approved, '' where that is not known."""
    if not handler.keys() <= _PLAIN:
        return ""
    whole = {"type": "command", "timeout": _PATIENCE, "async": False} | handler
    named: dict[str, Any] = {"event_name": event, "hooks": [whole]} | ({"matcher": matcher} if matcher else {})
    text = json.dumps(named, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode(errors="replace")).hexdigest()


def _doubts(hooks: dict[str, str], record: Record) -> Iterator[Finding]:
    given = {key: str(record.get(key, {}).get("trusted_hash") or "") for key in hooks}
    new = [key for key, trusted in given.items() if not trusted]
    changed = [key for key, trusted in given.items() if trusted and hooks[key] and trusted != hooks[key]]
    off = [key for key in hooks if record.get(key, {}).get("enabled") is False]
    if new:
        yield warn(f"codex skips {counted(len(new), 'hook')} you have not approved: {_events(new)}", hint=_STEP)
    if changed:
        yield warn(
            f"codex skips {counted(len(changed), 'hook')} changed since you approved them: {_events(changed)}",
            hint=_STEP,
        )
    if off:
        yield warn(
            f"codex: {counted(len(off), 'hook')} switched off: {_events(off)}", hint="start `codex`, type /hooks"
        )


def _events(keys: list[str]) -> str:
    return ", ".join(key.split(":")[-3] for key in keys)


def _record() -> Record:
    held = settings(codex.home() + "/config.toml")
    hooks = held.get("hooks") if isinstance(held, dict) else None
    state = hooks.get("state") if isinstance(hooks, dict) else None
    return {key: entry for key, entry in (state or {}).items() if isinstance(entry, dict)}


def _hooks(path: str, held: Any) -> Iterator[tuple[str, str]]:
    """Name our hooks as Codex does (the file, the event, the group's and the handler's number), with fingerprints."""
    hooks = held.get("hooks") if isinstance(held, dict) else None
    root = os.path.realpath(path) if os.environ.get("CODEX_HOME") else path
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for number, group in enumerate(groups if isinstance(groups, list) else ()):
            handlers = group.get("hooks") if isinstance(group, dict) else None
            for index, handler in enumerate(handlers if isinstance(handlers, list) else ()):
                if isinstance(handler, dict) and ours(handler.get("command")):
                    name = re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
                    yield f"{root}:{name}:{number}:{index}", fingerprint(name, group.get("matcher"), handler)
