"""What the judge is taught: the writers' texts as tokens and labels, split by writer."""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from texts import DATA, KEPT_ASIDE, read_lines

from memman.embed.wordpiece import words
from memman.judge.judge import KINDS, RELATIONS

# Of so many memories of the same writer that are nearest in meaning, or in words, one is put beside each statement.
NEAR = 3


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


# Unit vectors of texts by what they mean: (texts, elements).
Meaning = Callable[[Sequence[str]], npt.NDArray[np.float32]]


def read(meaning: Meaning, data: Path = DATA, seed: int = 1) -> tuple[Lessons, Lessons]:
    """Return what to train on, and what is kept aside."""
    taught, aside = Lessons(), Lessons()
    for folder in sorted(path for path in data.iterdir() if path.is_dir()):
        into = aside if folder.name in KEPT_ASIDE else taught
        groups = list(read_lines(folder.name, "pairs", data))
        into.pairs += (pair for group in groups for pair in _pairs(group, folder.name))
        into.pairs += _unrelated(groups, folder.name, meaning, random.Random(f"{seed}/{folder.name}"))
        for form in ("turns", "notes"):
            into.texts += (_text(line, form, folder.name) for line in read_lines(folder.name, form, data))
    return taught, aside


def _pairs(group: Mapping[str, Any], writer: str) -> Iterator[Pair]:
    for new in group["news"]:
        relation = RELATIONS.index(new["label"])
        yield Pair(group["old"], new["new"], relation, new["kind"], writer, group["lang"])


def _unrelated(groups: list[dict[str, Any]], writer: str, meaning: Meaning, chance: random.Random) -> Iterator[Pair]:
    """Put each new statement beside other memories of the same writer, such as a store would offer: it changes none."""
    olds = [group["old"] for group in groups]
    held = [frozenset(_stems(old)) for old in olds]
    common = Counter(stem for one in held for stem in one)
    if not groups:
        return
    vectors = meaning(olds)
    meant = iter(meaning([new["new"] for group in groups for new in group["news"]]))
    for n, group in enumerate(groups):
        for new in (new["new"] for new in group["news"]):
            cosines = vectors @ next(meant)
            cosines[n] = -2
            said = frozenset(_stems(new))
            shared = [sum(1 / common[stem] for stem in sorted(said & one)) for one in held]
            shared[n] = -1
            by_meaning = np.argsort(-cosines)[:NEAR].tolist()
            by_words = sorted(range(len(olds)), key=lambda k: -shared[k])[:NEAR]
            first = chance.choice(by_meaning)
            second = chance.choice([k for k in {*by_words, *by_meaning} if k not in {first, n}])
            for k in (first, second):
                yield Pair(olds[k], new, 0, "elsewhere", writer, group["lang"])


def _stems(text: str) -> Iterable[str]:
    return (word[:5] for word in words(text) if word.isalnum())


def _text(line: Mapping[str, Any], form: str, writer: str) -> Text:
    spans = []
    for kept in line["keep"]:
        start = line["text"].index(kept["span"])
        spans.append((start, start + len(kept["span"]), KINDS.index(kept["type"])))
    return Text(line["text"], tuple(sorted(spans)), form, writer, line["lang"])
