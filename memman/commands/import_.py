"""`memman import`."""

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import click

from memman.commands.person import choose, confirm
from memman.commands.printing import complain, printed, text
from memman.commands.verb import Command, data_options, place
from memman.config import stores
from memman.config.scope import missing
from memman.model.plural import counted

if TYPE_CHECKING:
    from memman.govern.portability import Preview

_FORMATS = ("memman", "markdown", "rules", "codex", "hermes", "openclaw", "claude-code", "claude-mem", "mem0", "text")
_WHOSE = "Are these your own words, to be trusted as yours? Answer no for a file that others wrote, too."


@click.command("import", cls=Command)
@click.argument("path", type=click.Path())
@click.option("--format", "form", type=click.Choice(_FORMATS), help="What PATH is; default: what it looks like.")
@click.option("--dry-run", is_flag=True, help="Say what would come in, and change nothing.")
@click.option("--mine", is_flag=True, help="These are your own words: trust them as yours.")
@click.option("--scope", metavar="SCOPE", help="What notes hold for: personal, repository or path:FOLDER.")
@click.option("--include-purged", is_flag=True, help="Bring back what was purged, too.")
@data_options
def import_(
    path: str, form: str | None, dry_run: bool, mine: bool, scope: str | None, include_purged: bool, as_json: bool
) -> None:
    """Bring in memories from an export, another tool or a text file, after a look at what would come in.

    What a store has already is left as it is, so that a second import adds nothing. An export of memman is restored as
    it was, and what was purged there is purged here; anything else is queued as notes.
    """
    from memman.govern import portability as govern

    here, wanted = place(), govern.Wanted(form or "", mine, scope or "", include_purged)
    was = govern.read(here, path, wanted)
    told = list(_told(was.preview))
    if was.preview.asks and not dry_run and choose(_WHOSE, {"y": "yes", "n": "no"}, told) == "yes":
        wanted = replace(wanted, mine=True)
        was = govern.read(here, path, wanted)
        told = list(_told(was.preview))
    count = 0
    if not dry_run and was.preview.count:
        back = ", with what was purged" if include_purged else ""
        confirm(f"Import these {was.preview.count}{back}?", listed=told)
        count = govern.imported(here, was, wanted)
    if folder := count and scope and missing(scope, stores.here()):
        complain(f"imported, but no session will begin with it: there is no folder {folder}")
    if printed(asdict(was.preview) | {"imported": count}, as_json=as_json):
        return
    for line in told if dry_run or not was.preview.count else ():
        text(line)
    if not dry_run:
        ruled = f", {counted(was.preview.new['rule'], 'rule')}" if was.preview.new.get("rule") else ""
        purged = f", {gone} purged" if (gone := was.preview.new.get(govern.PURGES)) else ""
        text(f"imported {counted(count, 'memory' if was.found.export else 'note')}{ruled}{purged}")
    for line in (*_missing(was.preview), *filter(None, (was.preview.partial,)), *was.preview.nowhere) if count else ():
        text(line)


# No function of Python's can have the verb's name.
globals()["import"] = import_


def _told(preview: "Preview") -> Iterator[str]:
    """Say what would come in, what would not, and why."""
    yield f"{preview.what}: {preview.count} to import"
    if preview.partial:
        yield f"  {preview.partial}"
    yield from (f"  {count} {name}" for name, count in preview.new.items())
    if preview.held:
        yield f"  {preview.held} of these, or more, will be held back for review: they read as attacks"
    if preview.asks:
        yield "  not trusted as your own words: with --mine they are"
    yield from preview.nowhere
    yield from _missing(preview)
    yield from (f"for example: {said}" for said in preview.samples)


def _missing(preview: "Preview") -> Iterator[str]:
    """Say what does not come in, and why."""
    yield from (f"left out, {name}: {count}" for name, count in preview.left.items() if count)
    yield from (f"not carried: {said}" for said in preview.lacks)
