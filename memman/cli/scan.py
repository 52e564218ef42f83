"""`memman scan`."""

from typing import TYPE_CHECKING

import click

from memman.cli.options import json_option, place, said_store, store_option
from memman.cli.person import confirm
from memman.cli.show import as_data, short, table, text

if TYPE_CHECKING:
    from memman.govern.scan import Scan


@click.command()
@click.option("--fix", is_flag=True, help="Take them out of all but copies, for good.")
@json_option
@store_option
def scan(fix: bool, as_json: bool) -> int:
    """Look for secrets in all that is stored, and with --fix take them out.

    Shows whose each is, the rule that finds it and what stands around it, never the secret. Backups and other copies
    are named, not changed. The exit code is 1 where a secret is left.
    """
    from memman.govern import scan as govern

    named = said_store() is not None
    before = govern.scan(place(), named=named)
    if fix:
        confirm("Take these secrets out for good?", listed=("  ".join(map(str, found)) for found in before.findings))
        govern.fix(place(), named=named)
    after = govern.scan(place(), named=named) if fix else before
    if as_json:
        as_data(
            {
                "findings": [found._asdict() for found in before.findings],
                "left": len(after.findings),
                "copies": after.copies,
            }
        )
    else:
        _print(before, len(before.findings) - len(after.findings) if fix else 0)
    return 1 if after.findings or after.copies else 0


def _print(found: "Scan", mended: int) -> None:
    table([(one.where, short(one.id), one.rule, one.excerpt) for one in found.findings])
    for path in found.copies:
        text(f"a copy holds some: {path}")
    count = len(found.findings)
    done = f", {mended} taken out: whoever has seen them may use them still, so change them" if mended else ""
    text(f"{count} secret{'' if count == 1 else 's'} found{done}")
