"""What the judge is taught: the writers' texts as tokens and labels, split by writer."""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import documents
import numpy as np
import numpy.typing as npt
from texts import DATA, KEPT_ASIDE, read_lines

from memman.embed.static import words
from memman.judge.judge import RELATIONS, STATEMENT_KINDS
from memman.llm.builtin.split import sentences

# Of so many memories of the same writer that are nearest in meaning, or in words, one is put beside each statement.
NEAR = 3
# Of the lines of documents, and of what people typed, this part is put beside other statements of the same writer.
BESIDE = 0.5
# So often a turn is read without its last full stop.
BARE = 0.5


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
        chance = random.Random(f"{seed}/{folder.name}")
        groups = list(read_lines(folder.name, "pairs", data))
        into.pairs += (pair for group in groups for pair in _pairs(group, folder.name))
        into.pairs += _unrelated(groups, folder.name, meaning, chance)
        turns = [_turn(line, folder.name, chance) for line in read_lines(folder.name, "turns", data)]
        notes = [_note(line, folder.name) for line in read_lines(folder.name, "notes", data)]
        into.texts += turns + notes
        into.pairs += _typed(turns, [group["old"] for group in groups], meaning, chance)
        into.pairs += _told_together(notes, meaning, chance)
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


def _typed(turns: Sequence[Text], olds: Sequence[str], meaning: Meaning, chance: random.Random) -> Iterator[Pair]:
    """Put what was typed beside memories of the same writer: an order, a question or a rule of its own changes none."""
    said = [
        (piece, turn)
        for turn in turns
        for piece in ([turn.text[first:last] for first, last, _ in turn.spans] or sentences(turn.text))
        if chance.random() < BESIDE
    ]
    if said and olds:
        cosines = meaning([piece for piece, _ in said]) @ meaning(olds).T
        for (piece, turn), near in zip(said, np.argsort(-cosines)[:, :NEAR].tolist(), strict=True):
            yield Pair(olds[chance.choice(near)], piece, 0, "elsewhere", turn.writer, turn.lang)


def _told_together(notes: Sequence[Text], meaning: Meaning, chance: random.Random) -> Iterator[Pair]:
    """Put lines of documents beside one another: titles and half sentences say nothing, and what one tells holds."""
    told = {line: note for note in notes for line, _ in documents.lines(note.text, note.spans)}
    lines = list(told)
    if len(lines) <= NEAR:
        return
    vectors = meaning(lines)
    for n, line in enumerate(lines):
        if chance.random() < BESIDE:
            cosines = vectors @ vectors[n]
            cosines[n] = -2
            other = lines[chance.choice(np.argsort(-cosines)[:NEAR].tolist())]
            yield Pair(other, line, 0, "elsewhere", told[line].writer, told[line].lang)


def _stems(text: str) -> Iterable[str]:
    return (word[:5].lower() for word in words(text))


def _turn(line: Mapping[str, Any], writer: str, chance: random.Random) -> Text:
    """Read a turn; every second has no full stop at its end, which tells only in what mood it was typed."""
    text = line["text"]
    if chance.random() < BARE:
        text = text.rstrip(" .\u3002") or text
    spans = []
    for one in line["keep"]:
        start = line["text"].index(one["span"])
        spans.append((start, min(start + len(one["span"]), len(text)), STATEMENT_KINDS.index(one["type"])))
    return Text(text, tuple(sorted(spans)), "turns", writer, line["lang"])


def _note(line: Mapping[str, Any], writer: str) -> Text:
    text, spans = documents.read(line)
    kinds = ((first, last, STATEMENT_KINDS.index(kind)) for first, last, kind in spans)
    return Text(text, tuple(kinds), "notes", writer, line["lang"])
