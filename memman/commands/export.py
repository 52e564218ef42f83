"""`memman export` and `import`: memories taken out to a file, and brought in after a look at what would come in."""

import os
import shlex
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace

import click

from memman.belief import STEER, USER, allowed
from memman.commands.person import choose, confirm
from memman.commands.place import Place, expected, made_in, opened, standing
from memman.commands.printing import complain, lines, text
from memman.commands.verb import Told, verb
from memman.config import stores
from memman.config.drain_by_write import ask
from memman.config.ignore import ignored
from memman.config.places import put_file
from memman.config.schedule import refuse_stopped
from memman.config.scope import PERSONAL, Here, asked, is_name, label, missing, parted, sees
from memman.judge.judge import Judge
from memman.model.errors import CannotWrite, UsageError
from memman.model.plural import counted
from memman.pipeline.injection import steering
from memman.portable import export as exported
from memman.portable import notes
from memman.portable.formats import BY_NAME, recognised
from memman.portable.incoming import Format, Found, Item
from memman.secrets import legible
from memman.store.records import TEXT


@verb()
@click.argument("path", required=False, type=click.Path())
def export(place: Place, path: str | None = None) -> None:
    """Write a store's memories as JSON lines to a file or standard output.

    Includes superseded, forgotten and held-back memories, but no secrets. `memman import` reads it; `-` is standard
    output. `memman wiki build` writes a folder of Markdown for people.
    """
    if path is None or path == "-":
        for line in written(place):
            sys.stdout.write(line)
    else:
        saved(place, path)
    with opened(place) as store:
        held, count = sum(store.tally("status").values()), len(store.queue.of(place.name))
    if path and os.path.isfile(path):
        text(f"{counted(held, 'memory')} exported to {path}")
    if count:
        complain(f"{counted(count, 'note')} still in the queue, not exported: `memman scheduler drain` stores them")


def written(place: Place) -> Iterator[str]:
    """Yield the lines of a store's export. Raises UnknownStore."""
    with opened(place) as store:
        yield from exported.written(place.name, store)


def saved(place: Place, path: str) -> None:
    """Write a store's export to a private file, over an older export only, or into a pipe. Raises CannotWrite."""
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "w", encoding="utf-8") as stream:
                stream.writelines(written(place))
            return
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                ours = exported.ours(file.readline())
            if not ours and os.path.getsize(path):
                raise UsageError(f"{path} already exists and is no export of memman: give another name")
        put_file(os.path.abspath(path), "".join(written(place)))
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "another file is there, which is not text"
        raise CannotWrite(f"{path} could not be written ({why})") from error


_WHOSE = "Are these your own words, to be trusted as yours? Answer no for a file that others wrote, too."
# Texts that a preview shows, and repositories that are not known here.
_SAMPLES, _NAMED = 3, 5


@dataclass(frozen=True, slots=True)
class Preview:
    """What an import would do; `nowhere`: what would be recalled nowhere, `asks`: whether to ask whose words it is."""

    form: str
    what: str
    new: dict[str, int]
    left: dict[str, int]
    samples: tuple[str, ...]
    lacks: tuple[str, ...]
    held: int = 0
    nowhere: tuple[str, ...] = ()
    asks: bool = False

    @property
    def count(self) -> int:
        """How many memories and rules, or notes, would come in."""
        return sum(self.new.values())


@dataclass(frozen=True, slots=True)
class Reading:
    """A file or folder that was read, and what would become of it."""

    found: Found
    preview: Preview
    items: Mapping[str, Item] = field(default_factory=dict)


@verb("import", shows=Told)
@click.argument("path", type=click.Path())
@click.option("--format", "form", type=click.Choice(tuple(BY_NAME)), help="Format of PATH; default: recognised.")
@click.option("--dry-run", is_flag=True, help="Show what would be imported, and change nothing.")
@click.option("--mine", is_flag=True, help="Trust the texts as your own words.")
@click.option("--scope", metavar="SCOPE", help="Where imported notes hold: personal, repository or path:FOLDER.")
def import_(
    place: Place,
    path: str,
    form: str | None = None,
    scope: str | None = None,
    *,
    dry_run: bool = False,
    mine: bool = False,
) -> Told:
    """Import memories from an export, another tool or a text file, after a preview.

    What a store already has is left as it is, so a second import adds nothing. An export of memman keeps ids and
    history, and what was purged there is purged here; anything else is queued as notes.
    """
    was = read(place, path, form or "", scope or "", mine=mine)
    told = list(_preview_lines(was.preview))
    if was.preview.asks and not dry_run and choose(_WHOSE, {"y": "yes", "n": "no"}, told) == "yes":
        was = read(place, path, form or "", scope or "", mine=True)
        told = list(_preview_lines(was.preview))
    count = 0
    if not dry_run and was.preview.count:
        confirm(f"Import these {was.preview.count}?", listed=told)
        count = imported(place, was)
    if folder := count and scope and missing(scope, stores.here()):
        complain(f"imported, but no session will begin with it: there is no folder {folder}")
    shown = told if dry_run or not was.preview.count else []
    if not dry_run:
        ruled = f", {counted(was.preview.new['rule'], 'rule')}" if was.preview.new.get("rule") else ""
        purged = f", {gone} purged" if (gone := was.preview.new.get(exported.PURGES)) else ""
        shown.append(f"imported {counted(count, 'memory' if was.found.export else 'note')}{ruled}{purged}")
    shown += was.preview.nowhere if count else ()
    return Told(asdict(was.preview) | {"imported": count}, lambda _: lines(shown))


# No function of Python's can have the verb's name.
globals()["import"] = import_


def _preview_lines(preview: Preview) -> Iterator[str]:
    """Say what would come in, what would not, and why."""
    yield f"{preview.what}: {preview.count} to import"
    yield from (f"  {count} {name}" for name, count in preview.new.items())
    if preview.held:
        yield f"  {preview.held} of these, or more, will be held back for review: they read as attacks"
    if preview.asks:
        yield "  not trusted as your own words (--mine trusts them)"
    yield from preview.nowhere
    yield from (f"left out, {name}: {count}" for name, count in preview.left.items() if count)
    yield from (f"not carried: {said}" for said in preview.lacks)
    yield from (f"for example: {said}" for said in preview.samples)


def read(place: Place, path: str, form: str = "", scope: str = "", *, mine: bool = False) -> Reading:
    """Read what is to be imported, and say what would become of it.

    `form` is the format, '' for the one that is recognised, `scope` what notes hold for, and `mine` whether the words
    are a person's own. Raises UsageError, UnknownStore and CannotWrite.
    """
    asked(scope or None)
    kind = recognised(path, form)
    expected(place)
    found = kind.read(os.path.abspath(path))
    if found.export and scope:
        raise UsageError("memories of an export keep the scope that they have: leave --scope out")
    return _rows(place, kind, found) if found.export else _notes(place, kind, found, asked(scope or None), mine=mine)


def imported(place: Place, was: Reading) -> int:
    """Bring in what was read; return how many memories or notes are new."""
    refuse_stopped(place.data, "import")
    if was.found.export:
        count = exported.restored(place.data, place.name, was.found.export)
    else:
        count = notes.queued(place.data, place.name, was.preview.form, was.items, made_in("."))
    ask(place.data)
    return count


def _rows(place: Place, form: Format, found: Found) -> Reading:
    assert found.export is not None  # noqa: S101 - the caller's own contract
    plan = exported.planned(place.data, place.path, found.export)
    left = {"here already": plan.here, "purged": plan.purged}
    samples = tuple(parts[TEXT]["text"] for parts in [*plan.memories.values()][:_SAMPLES])
    return Reading(found, Preview(form.name, form.what, plan.counted(), left, samples, found.lacks))


def _notes(place: Place, form: Format, found: Found, scope: str, *, mine: bool) -> Reading:
    here = standing()
    if scope not in ("", PERSONAL) and not here.repository:
        raise UsageError("what is said at home holds everywhere: go to the folder that it is imported for")

    def settled(item: Item) -> Item:
        # A file that is imported may lie in any folder; only a repository is what it is about.
        whose = here.repository if scope else item.repository or ("" if here.alone else here.repository)
        said = replace(item, text=legible(item.text), scope=scope or item.scope)
        said = replace(said, repository="" if said.scope == PERSONAL else whose)
        return replace(said, source=USER, lifted=item.source != USER) if mine else said

    texts = [item for item in found.items if item.text.strip()]
    excluded = {folder: _excluded(place.data, folder) for folder in {item.folder for item in texts}}
    items = [settled(item) for item in texts if not excluded[item.folder]]
    fresh, left = notes.sorted_out(place.data, place.name, place.path, form.name, items)
    left["without a text"] = len(found.items) - len(texts)
    left.update(f"of an excluded folder ({why})" for item in texts if (why := excluded[item.folder]))
    new = list(fresh.values())
    judge = Judge()
    held = sum(map(bool, steering(judge, [item.text for item in new if not allowed(item.source, STEER)])))
    samples = tuple(item.text for item in new[:_SAMPLES])
    kinds = {
        "of your own": sum(item.source == USER for item in new),
        "imported": sum(item.source != USER for item in new),
    }
    asks = form.personal and not mine and kinds["imported"] > 0
    told = {kind: count for kind, count in kinds.items() if count}
    nowhere = [*_nowhere(new, here)]
    if more := nowhere[_NAMED:]:
        nowhere[_NAMED:] = [f"and {len(more)} more like these"]
    preview = Preview(*(form.name, form.what, told, dict(left), samples, found.lacks, held, tuple(nowhere), asks))
    return Reading(found, preview, fresh)


def _excluded(data: str, folder: str) -> str:
    """Return why nothing of a folder is to be remembered, '' where it may be."""
    try:
        return ignored(data, folder) if folder else ""
    except (OSError, CannotWrite) as error:
        return str(error)


def _nowhere(items: Iterable[Item], here: Here) -> Iterator[str]:
    """Say which items hold for a name or a folder of no repository that is known, and what has them recalled."""
    for (whose, known), count in Counter((one.repository, bool(one.folder)) for one in items if one.repository).items():
        folder = parted(whose)[0]
        if sees(here, whose, "", inside=False) or not (folder.startswith("/") or is_name(whose)):
            continue
        said = f"{counted(count, 'note')} of {label(whose, '')}"
        if is_name(whose):
            name = shlex.quote(label(whose, ""))
            yield f"{said}: recalled only in a repository of that name: `memman scope name {name}` there gives it"
        elif not os.path.isdir(folder):
            why = "there is no folder" if known else "its folder is not known, perhaps"
            mends = "`--scope personal` makes them hold everywhere, `--scope repository` in this repository"
            yield f"{said}: recalled nowhere, because {why} {folder}; {mends}"
