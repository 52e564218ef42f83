"""`memman audit`."""

from typing import Any

import click

from memman.cli.options import json_option, place, store_option
from memman.cli.show import as_data, short, text
from memman.model.plural import counted

_SHOWN = 120


@click.command()
@json_option
@store_option
def audit(as_json: bool) -> None:
    """Say what of memory is junk, said twice, contradictory, unsupported, stale or orphaned.

    Changes nothing. Beside each finding stands the verb that mends it.
    """
    from memman.govern import audit as govern

    found = govern.audit(place())
    if as_json:
        as_data(found)
        return
    text(
        f"{counted(found['memories'], 'current memory')} in store {found['store']!r}; for junk, duplicates and"
        f" contradictions {found['read']} of them were read and {counted(found['compared'], 'alike pair')} compared"
    )
    for finding in found["findings"]:
        _print(finding)


def _print(finding: dict[str, Any]) -> None:
    if finding["count"] is None:
        text(f"{finding['name']:<14}  not looked for: the judge is off (MEMMAN_JUDGE)")
        return
    mend = f"  {finding['mend']}" if finding["count"] else ""
    text(f"{finding['name']:<14}  {finding['count']:>6}  {finding['share']:>6.1%}{mend}")
    for one in finding["examples"]:
        other = one["other"]
        beside = f" {short(other['uid'])} {_cut(other['text'])}" if other else ""
        text(f"    {short(one['uid'])}  {_cut(one['text'])}  ({one['why']}{beside})")


def _cut(said: str) -> str:
    return said if len(said) <= _SHOWN else said[: _SHOWN - 1] + "…"
