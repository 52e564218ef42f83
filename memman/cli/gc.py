"""`memman gc`."""

import click

from memman.cli.keeping import HEADS, below_option, listed_row
from memman.cli.options import json_option, place, store_option
from memman.cli.person import confirm
from memman.cli.show import acted, as_data, labelled, short, table, text
from memman.model.plural import counted


@click.command()
@click.option("--dry-run", is_flag=True, help="Only list what would be archived.")
@below_option
@json_option
@store_option
def gc(dry_run: bool, below: float, as_json: bool) -> None:
    """Archive the memories least worth keeping, those of `insights candidates`.

    Nothing is deleted: `memman insights restore` brings each back.
    """
    from memman.govern import retention as govern

    where = place()
    found = govern.candidates(where, below=below, limit=None)
    if not dry_run and found:
        told = (f"{short(one['uid'])}  {labelled(one)}  {'; '.join(one['why'])}  {one['text']}" for one in found)
        confirm(f"Archive {counted(len(found), 'memory')}?", listed=told)
        found = govern.collect(where, found, below)
    if as_json:
        as_data(found)
    elif dry_run or not found:
        table(map(listed_row, found), heads=HEADS)
        text(f"{counted(len(found), 'memory')} worth less than {below:g}")
    else:
        table([acted("archived", one) for one in found])
