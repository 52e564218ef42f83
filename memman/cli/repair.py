"""`memman repair`."""

from dataclasses import asdict

import click

from memman.cli.options import json_option, place, store_option
from memman.cli.person import confirm
from memman.cli.show import as_data, text

# Lost memories that are named; --json names all.
_NAMED = 20


@click.command()
@click.option("--queue", is_flag=True, help="Repair the queue, not a store.")
@json_option
@store_option
def repair(queue: bool, as_json: bool) -> None:
    """Make a damaged store anew of what can be read of it; the damaged file is kept beside it.

    Exits with 0 also where something was lost: it says what. Changes nothing where nothing is wrong.
    """
    from memman.govern import repair as govern

    where = place()
    what = "the queue" if queue else f"store {where.name!r}"
    confirm(f"Make {what} anew of what can be read of it?", "queue" if queue else where.name)
    done = govern.repair_queue(where.data) if queue else govern.repair(where.data, where.name)
    if as_json:
        as_data(asdict(done))
        return
    if not done.wrong:
        text(f"nothing is wrong with {done.what}")
        return
    text(f"{done.what} was damaged: {done.wrong}")
    text(f"kept {done.kept} {'notes' if queue else 'memories'}; the damaged file is {done.aside}")
    if done.lost:
        text(
            f"lost {len(done.lost)}: {', '.join(done.lost[:_NAMED])}"
            + (" and others" if len(done.lost) > _NAMED else "")
        )
    if done.doubtful:
        text(
            f"parked, as their words may be damaged: {', '.join(done.doubtful)};"
            " `memman scheduler queue show` shows them"
        )
    if not queue:
        text("words, vectors of the built-in embedder and edges were made again; `memman embed reembed` makes others")
