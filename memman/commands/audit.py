"""`memman audit`."""

from typing import Any

import click

from memman.commands.printing import bar, freshness, printed, short, text
from memman.commands.verb import Command, data_options, place
from memman.govern import audit as govern
from memman.model.errors import UsageError
from memman.model.plural import counted

_SHOWN = 120
_OFF = "not looked for: the judge is off (MEMMAN_JUDGE)"


@click.command(cls=Command)
@click.option("--files", is_flag=True, help="Compare AGENTS.md, CLAUDE.md and GEMINI.md, or PATHs, with memory.")
@click.argument("paths", nargs=-1, metavar="[PATH...]", type=click.Path())
@data_options
def audit(paths: tuple[str, ...], files: bool, as_json: bool) -> None:
    """Say what of memory is junk, said twice, contradictory, unsupported, stale or orphaned.

    Changes nothing. Beside each finding stands the verb that mends it.
    """
    if paths and not files:
        raise UsageError("a PATH goes with --files: memman audit --files AGENTS.md")
    if files:
        _files(paths, as_json=as_json)
        return
    with bar("auditing", "nothing was changed") as progress:
        found = govern.audit(place(), progress)
    if printed(found, as_json=as_json):
        return
    text(
        f"{counted(found['memories'], 'current memory')} in store {found['store']!r}; for junk, duplicates and"
        f" contradictions {found['read']} of them were read and {counted(found['compared'], 'alike pair')} compared"
    )
    for finding in found["findings"]:
        _print(finding)


def _print(finding: dict[str, Any]) -> None:
    if finding["count"] is None:
        text(f"{finding['name']:<14}  {_OFF}")
        return
    mend = f"  {finding['mend']}" if finding["count"] else ""
    text(f"{finding['name']:<14}  {finding['count']:>6}  {finding['share']:>6.1%}{mend}")
    for one in finding["examples"]:
        other = one["other"]
        beside = f" {_named(other)}" if other else ""
        text(f"    {_named(one)}  ({one['why']}{beside})")


def _files(paths: tuple[str, ...], *, as_json: bool) -> None:
    found = govern.compared(place(), paths)
    if printed(found, as_json=as_json):
        return
    read = f"{found['compared']} of {counted(found['lines'], 'item')}"
    text(f"{read} of {', '.join(found['files'])} compared with store {found['store']!r}")
    for one in found["findings"]:
        text(f"{one['file']}:{one['line']}  {one['finding']}  {_cut(one['said'])}")
        text(f"    {_named(one['memory'])}")
    if not found["judge"]:
        text(f"contradictions  {_OFF}")


def _named(memory: dict[str, Any]) -> str:
    return "  ".join(filter(None, (short(memory["uid"]), ", ".join(freshness(memory)), _cut(memory["text"]))))


def _cut(said: str) -> str:
    return said if len(said) <= _SHOWN else said[: _SHOWN - 1] + "…"
