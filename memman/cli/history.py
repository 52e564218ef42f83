"""`memman history`."""

from typing import Any

import click

from memman.cli.log import change
from memman.cli.options import json_option, place, store_option
from memman.cli.show import as_data, labelled, short, text, when

_SAID = ("text", "category", "importance", "entities", "valid_from")


@click.command()
@click.argument("id_", metavar="ID")
@json_option
@store_option
def history(id_: str, as_json: bool) -> None:
    """Show what a memory was before and became afterwards, with when, by whom and why it changed.

    The oldest version comes first; `>` marks the memory asked about.
    """
    from memman.govern.looking_back import history as govern

    versions = govern(place(), id_)
    if as_json:
        as_data(versions)
        return
    for one in versions:
        sign = ">" if one["asked"] else " "
        text(f"{sign} {short(one['uid'])}  {labelled(one, one['status'])}: {one['text']}")
        for line in one["changes"]:
            text(f"    {when(line['at'])}  {line['verb']:<9}  {_told(line)}".rstrip())


def _told(line: dict[str, Any]) -> str:
    return change(line | {side: _stand(line[side]) for side in ("before", "after")})


def _stand(side: dict[str, Any] | None) -> dict[str, Any]:
    """Leave out what the version's own line says."""
    return {name: said for name, said in (side or {}).items() if name not in _SAID}
