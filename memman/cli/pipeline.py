"""`memman pipeline`."""

from typing import Any

import click

from memman.cli.options import json_option, place, store_option
from memman.cli.show import as_data, table
from memman.model.plural import counted


@click.command()
@json_option
@store_option
def pipeline(as_json: bool) -> None:
    """Print the stages of the pipeline, their versions and what they last cost."""
    from memman.config.env import Settings
    from memman.drain.stores import stage_versions
    from memman.govern.stages import stages
    from memman.govern.stores import reading

    where = place()
    with reading(where) as catalogue:
        versions = stage_versions(Settings.load(where.data, where.name), catalogue.reader)
    rows = stages(where.data, versions)
    if as_json:
        as_data(rows)
    else:
        table([("stage", "version", "journaled", "waits for", "last cost"), *map(_row, rows)])


def _row(row: dict[str, Any]) -> tuple[str, ...]:
    return row["stage"], row["version"], "yes" if row["journaled"] else "no", row["waits_for"], _cost(row["last"])


def _cost(last: dict[str, Any] | None) -> str:
    if last is None:
        return "nothing yet"
    tokens = f"{last['tokens_in']} tokens in, {last['tokens_out']} out"
    return f"{last['day']}: {counted(last['calls'], 'call')}, {tokens}, {last['cost']:.4f} USD"
