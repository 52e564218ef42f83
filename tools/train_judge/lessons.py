"""What the judge is taught: the writers' texts as tokens and labels, split by writer."""

import json
import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memman.embed.wordpiece import words

DATA = Path(__file__).parent / "data"
# Writers of whom nothing is trained on: thresholds and stopping are chosen on them.
KEPT_ASIDE = ("03", "11")
RELATIONS = ("apart", "supersedes", "retracts", "same", "refines")
KINDS = ("preference", "correction", "rule", "decision", "fact")
# Pairs of a writer that have nothing to do with each other, for each pair that was written: those with the most words
# in common, and some at random.
NEAR, RANDOM = 1, 1


@dataclass(frozen=True, slots=True)
class Pair:
    """An older statement, a newer one, and what that does to it."""

    old: str
    new: str
    relation: int
    kind: str
    writer: str
    lang: str


@dataclass(frozen=True, slots=True)
class Text:
    """What somebody typed, and the spans worth keeping as (first character, one behind the last, kind)."""

    text: str
    spans: tuple[tuple[int, int, int], ...]
    form: str
    writer: str
    lang: str


@dataclass(slots=True)
class Lessons:
    """Pairs and texts of some writers."""

    pairs: list[Pair] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)


def read(data: Path = DATA, seed: int = 1) -> tuple[Lessons, Lessons]:
    """Return what to train on, and what is kept aside."""
    taught, aside = Lessons(), Lessons()
    for folder in sorted(path for path in data.iterdir() if path.is_dir()):
        into = aside if folder.name in KEPT_ASIDE else taught
        groups = list(_lines(folder, "pairs"))
        into.pairs += (pair for group in groups for pair in _pairs(group, folder.name))
        into.pairs += _unrelated(groups, folder.name, random.Random(f"{seed}/{folder.name}"))
        for form in ("turns", "notes"):
            into.texts += (_text(line, form, folder.name) for line in _lines(folder, form))
    return taught, aside


def _lines(folder: Path, form: str) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.glob(f"{form}-*.jsonl")):
        with path.open(encoding="utf-8") as lines:
            yield from (json.loads(line) for line in lines if line.strip())


def _pairs(group: Mapping[str, Any], writer: str) -> Iterator[Pair]:
    for new in group["news"]:
        relation = RELATIONS.index(new["label"])
        yield Pair(group["old"], new["new"], relation, new["kind"], writer, group["lang"])


def _unrelated(groups: list[dict[str, Any]], writer: str, chance: random.Random) -> Iterator[Pair]:
    """Put each new statement beside other memories of the same writer: the likest, as a store offers them, and any."""
    olds = [(group["old"], frozenset(_stems(group["old"]))) for group in groups]
    common: dict[str, int] = {}
    for _, held in olds:
        for stem in held:
            common[stem] = common.get(stem, 0) + 1
    for n, group in enumerate(groups):
        others = olds[:n] + olds[n + 1 :]
        for new in group["news"]:
            said = frozenset(_stems(new["new"]))
            near = sorted(others, key=lambda old: -sum(1 / common[stem] for stem in said & old[1]))[: 2 * NEAR]
            for old, _ in [*chance.sample(near, NEAR), *chance.sample(others, RANDOM)]:
                yield Pair(old, new["new"], 0, "elsewhere", writer, group["lang"])


def _stems(text: str) -> Iterable[str]:
    return (word[:5] for word in words(text) if word.isalnum())


def _text(line: Mapping[str, Any], form: str, writer: str) -> Text:
    spans = []
    for kept in line["keep"]:
        start = line["text"].index(kept["span"])
        spans.append((start, start + len(kept["span"]), KINDS.index(kept["type"])))
    return Text(line["text"], tuple(sorted(spans)), form, writer, line["lang"])
