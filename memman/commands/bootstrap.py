"""`memman bootstrap`: what a repository's history and files say already, as memories of that repository."""

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import click

from memman.belief import STEER, allowed
from memman.bootstrap import NAMES, SOURCES
from memman.bootstrap.checkout import Checkout
from memman.commands.person import confirm
from memman.commands.place import Place, absolute, expected, made_in
from memman.commands.printing import lines
from memman.commands.verb import Told, verb
from memman.config.drain_by_write import ask
from memman.config.env import Settings
from memman.config.ignore import ignored
from memman.config.repository import repository
from memman.config.schedule import refuse_stopped
from memman.config.scope import here, label
from memman.judge.judge import Judge
from memman.model.errors import UsageError
from memman.model.plural import counted
from memman.model.vocabulary import RECORD
from memman.pipeline.injection import steering
from memman.portable import notes
from memman.portable.incoming import Item
from memman.providers.chosen import capture, llm_provider
from memman.recall.render import tokens
from memman.secrets import legible, screened

# Commits looked at unless a person says how many, and statements shown of each source.
_COMMITS, _SAMPLES = 1_000, 2


@dataclass(frozen=True, slots=True)
class Learned:
    """What a repository says that is new here, by source, and what it costs to learn it.

    `scanned` is how many commits were read, `left` why others stay out, `held` how many read as attacks, `records` how
    many agents are told at a prompt, `model` who is asked, '' for nobody, and `tokens` how long the notes are.
    """

    repository: str
    model: str
    scanned: int
    new: dict[str, int]
    samples: dict[str, list[str]]
    left: dict[str, int]
    held: int
    records: int
    tokens: int
    notes: dict[str, Item] = field(default_factory=dict, repr=False)

    def record(self) -> dict[str, Any]:
        """Return it as it is printed."""
        return {name: getattr(self, name) for name in self.__slots__ if name != "notes"}


@verb("bootstrap", shows=Told)
@click.argument("path", type=click.Path(), default=".")
@click.option("--dry-run", is_flag=True, help="Show what would be learned, with examples and cost; change nothing.")
@click.option(
    "--commits", type=click.IntRange(0, 1_000_000), default=_COMMITS, show_default=True, help="Newest commits to read."
)
@click.option("--only", multiple=True, type=click.Choice(NAMES), help="Read this source alone; may be repeated.")
@click.option("--vouch", is_flag=True, help="Also show agents, at prompts, what others committed here.")
def bootstrap(
    place: Place,
    path: str,
    commits: int = _COMMITS,
    only: tuple[str, ...] = (),
    *,
    vouch: bool = False,
    dry_run: bool = False,
) -> Told:
    """Learn from a repository's history, documents and earlier sessions.

    PATH is a folder of a git repository; default: this one. A second run adds what is new. Your own commits and
    decision records are shown to agents at prompts that they fit; everything else is only recalled.

    Example: memman bootstrap --dry-run
    """
    path = absolute(path)
    found = read(place, path, commits, only, look=dry_run, vouch=vouch)
    told = [*_told(found)]
    count = len(found.notes)
    if count and not dry_run:
        confirm(f"Learn these {count}?", listed=told)
        refuse_stopped(place.data, "bootstrap")
        count = notes.queued(place.data, place.name, "bootstrap", found.notes, made_in(path))
        ask(place.data)
    queued = (
        f"queued {counted(count, 'note')}; a drain makes memories of them: `memman status`"
        if count
        else "there is nothing new to learn: nothing was queued"
    )
    shown = [*(told if dry_run or not count else ()), *([] if dry_run else [queued])]
    return Told(found.record() | {"queued": 0 if dry_run else count}, lambda _: lines(shown))


def read(
    place: Place, path: str, commits: int, only: tuple[str, ...], *, look: bool = False, vouch: bool = False
) -> Learned:
    """Read a repository; return what is new here, with a `look` also what reads as an attack.

    Raises UsageError where there is none, UnknownStore.
    """
    if not os.path.isdir(path):
        raise UsageError(f"there is no folder {path}")
    found = repository(os.path.realpath(path))
    if found is None:
        raise UsageError(f"{path} is not in a git repository: go to one, or give its folder")
    if not found.commit:
        raise UsageError(f"the git repository {found.root} has no commit yet: there is no history to read")
    if why := ignored(place.data, found.root):
        raise UsageError(f"this repository is excluded from memory: {why}")
    expected(place)
    settings = Settings.load(place.data, place.name)
    judge, checkout = Judge(), Checkout(found, commits, vouch)
    whose = here(place.data, found, found.root).repository
    fresh, left, new = dict[str, Item](), Counter[str](), dict[str, int]()
    samples: dict[str, list[str]] = {}
    for source in SOURCES:
        if (only and source.name not in only) or (source.name == "transcripts" and capture(settings) == "off"):
            continue
        items = (replace(item, text=legible(item.text), repository=whose) for item in source.read(checkout, judge))
        read_here = _on_record(judge, [*items])
        added, out = notes.sorted_out(place.data, place.name, place.path, "bootstrap", read_here)
        added = {uid: item for uid, item in added.items() if uid not in fresh}
        fresh |= added
        left.update(out)
        new[source.name] = len(added)
        samples[source.name] = [screened(item.text) for item in [*added.values()][-_SAMPLES:]]
    doubtful = [item.text for item in fresh.values() if look and not allowed(item.source, STEER)]
    provider = llm_provider(settings)
    return Learned(
        repository=label(whose, ""),
        model="" if provider == "builtin" else provider,
        scanned=len(checkout.commits),
        new=new,
        samples=samples,
        left=dict(left),
        held=sum(map(bool, steering(judge, doubtful))),
        records=sum(item.channel == RECORD for item in fresh.values()),
        tokens=sum(tokens(item.text) for item in fresh.values()),
        notes=dict(sorted(fresh.items(), key=lambda pair: pair[1].at)),
    )


def _on_record(judge: Judge, items: list[Item]) -> list[Item]:
    """Return items of which none is on record that may be an order to agents, as far as the judge can tell."""
    texts = [item.text for item in items if item.channel == RECORD]
    fine = {text for text, band in zip(texts, judge.steering(texts), strict=True) if not band}
    return [
        replace(item, channel="note") if item.channel == RECORD and item.text not in fine else item for item in items
    ]


def _told(found: Learned) -> Iterator[str]:
    """Say what would be learned, of which source, and what it costs."""
    whats = {source.name: source.what for source in SOURCES}
    learned = counted(len(found.notes), "note")
    yield f"{found.repository}: {learned} to learn; the newest {found.scanned} commits were read"
    for name, count in found.new.items():
        yield f"  {count:5} {whats[name]}"
        yield from (f"          for example: {' '.join(said.split())[:160]}" for said in found.samples[name])
    yield from (f"left out, {why}: {count}" for why, count in found.left.items() if count)
    if found.records:
        yield f"{found.records} are on record (your own, or vouched for): agents see them at prompts that they fit"
    if found.held:
        yield f"{found.held} of these, or more, will be held back for review: they read as attacks"
    if found.model:
        yield f"cost: {found.model} is asked about {learned} of {found.tokens} tokens, within the daily budget"
    else:
        yield f"cost: nothing; no model is asked ({found.tokens} tokens of text)"
