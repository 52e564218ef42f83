"""`memman lint`: every memory that could be better, each with the command that mends it."""

from collections.abc import Iterator, Sequence
from typing import Any

import click

from memman.clock import now_ms
from memman.commands.audit import FINDINGS, SAMPLE, Finding, Found, Look, example, named
from memman.commands.list import ages_of
from memman.commands.place import Place, reading
from memman.commands.printing import Progress, short, text, unseen
from memman.commands.verb import verb
from memman.config.env import Settings
from memman.llm.builtin.reconcile import LONGEST
from memman.llm.builtin.split import extent, leans
from memman.model.plural import counted
from memman.pipeline.comparison import stems
from memman.providers.build import builtin_llm
from memman.store.sqlite import quality

# Telling words below which a memory says too little to be found by.
_FEWEST = 2
_EVERYTHING = 1_000_000
_REPLACE = 'memman replace ID "…"'


def _texts(look: Look) -> dict[int, str]:
    return look.catalogue.reader.texts(quality.sample(look.catalogue.reader, _EVERYTHING))


def _vague(look: Look) -> Iterator[Found]:
    for row, said in _texts(look).items():
        if leans(said):
            yield row, 0, f"begins with {said.split()[0]!r}, which says nothing by itself"
        elif said.isascii() and len(stems(said)) < _FEWEST:
            yield row, 0, "too few words to be found by"


def _over_long(look: Look) -> Iterator[Found]:
    for row, said in _texts(look).items():
        if (letters := extent(said)) > LONGEST:
            yield row, 0, f"{letters} letters: beyond {LONGEST} nothing newer is compared with it"


_AUDITED = {finding.name: finding for finding in FINDINGS}
_KINDS: dict[str, Finding] = {
    **{name: _AUDITED[name] for name in ("contradictory", "maybe replaced", "duplicate", "stale", "unsupported")},
    "vague": Finding("vague", _REPLACE, _vague),
    "over-long": Finding("over-long", _REPLACE, _over_long),
    **_AUDITED,
}
_SHOWN = 5


def _print(found: dict[str, Any]) -> None:
    of = "" if found["read"] == found["memories"] else f", of which the judge read {found['read']}: --all reads all"
    text(f"{counted(found['memories'], 'current memory')} in store {found['store']!r}{of}")
    for kind, count in found["counts"].items():
        text(f"{kind}: {'not looked for, the judge is off (MEMMAN_JUDGE)' if count is None else count}")
        shown = [one for one in found["findings"] if one["kind"] == kind]
        for one in shown:
            beside = f" {named(one['other'])}" if one["other"] else ""
            text(f"  {named(one)}  ({one['why']}{beside})")
            text(f"    {one['mend']}")
        if (left := (count or 0) - len(shown)) > 0:
            text(f"  and {left} more: memman lint --only {_quoted(kind)} --limit {count}")
    if not any(found["counts"].values()):
        text("nothing to mend")


def _quoted(kind: str) -> str:
    return repr(kind) if " " in kind else kind


@verb(shows=_print, bar=("looking", "nothing was changed"))
@click.option("--only", multiple=True, type=click.Choice([*_KINDS]), help="Look for this kind only; may be repeated.")
@click.option("--all", "every", is_flag=True, help=f"Have the judge read all memories, not {SAMPLE} of them.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=_SHOWN, show_default=True, help="Lines of each kind.")
def lint(
    place: Place, *, only: Sequence[str] = (), every: bool = False, limit: int = _SHOWN, progress: Progress = unseen
) -> dict[str, Any]:
    """Find contradictions, duplicates, orphans, what is stale, vague or over-long, and what mends each.

    Changes nothing. `memman audit` counts the same and says what share of memory it is.
    """
    judge = builtin_llm(Settings.load(place.data, place.name)).judge
    counts: dict[str, int | None] = {}
    findings = []
    with reading(place) as catalogue:
        catalogue.reader.hold()
        look = Look(catalogue, judge, ages_of(place), now_ms(), progress, _EVERYTHING if every else SAMPLE)
        for kind in only or _KINDS:
            finding = _KINDS[kind]
            found = None if finding.judged and judge is None else list(finding.search(look))
            if found or found is None:
                counts[kind] = None if found is None else len(found)
            for one in (found or [])[:limit]:
                record = {"kind": kind} | example(place, catalogue, *one)
                findings.append(record | {"mend": finding.mend.replace("ID", short(record["uid"]))})
        return {
            "store": place.name,
            "memories": quality.current(catalogue.reader),
            "read": len(look.sample),
            "counts": counts,
            "findings": findings,
        }
