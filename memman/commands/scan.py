"""`memman scan`."""

from typing import TYPE_CHECKING

import click

from memman.commands.person import confirm
from memman.commands.printing import as_data, short, table, text
from memman.commands.verb import Command, data_options, place, said_store
from memman.model.plural import counted

if TYPE_CHECKING:
    from memman.govern.scan import Scan


@click.command(cls=Command)
@click.option("--fix", is_flag=True, help="Remove them permanently, except from backups and other copies.")
@data_options
def scan(fix: bool, as_json: bool) -> int:
    """Search everything stored for secrets; --fix removes them.

    Shows where each one is, the rule that found it and the text around it, never the secret itself. Backups and copies
    are listed but not changed. The exit code is 1 if a secret is left.
    """
    from memman.govern import scan as govern

    named, others = said_store() is not None, list[str]()
    before = govern.scan(place(), named=named)
    if fix:
        confirm("Remove these secrets permanently?", listed=("  ".join(map(str, found)) for found in before.findings))
        others = govern.fix(place(), named=named)
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
        if others:
            says = "other members wrote these: they run `memman scan --fix`, or an owner of the store does"
            text(f"{says}: {', '.join(map(short, others))}")
    return 1 if after.findings or after.copies else 0


def _print(found: "Scan", mended: int) -> None:
    table([(one.where, short(one.id), one.rule, one.excerpt) for one in found.findings])
    for path in found.copies:
        text(f"this copy contains secrets: {path}")
    count = len(found.findings)
    done = f", {mended} removed; revoke or change them, because they may have been read already" if mended else ""
    text(f"{counted(count, 'secret')} found{done}")
