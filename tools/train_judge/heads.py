"""Fit the judge's heads: small questions about a text, on its early vectors and on the runs of letters in the text.

Each is a logistic regression with an L2 penalty, by L-BFGS (Nocedal and Wright, Numerical Optimization, 7.2). A
threshold is where a given share of the texts that are a no would be taken for a yes, by models that have not seen the
writer of them. `python tools/train_judge/heads.py` prints what is found and what is wrong by language, and writes
memman/judge/heads.json; with names of heads only these are fitted anew.
"""

import argparse
import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from memman.judge.heads import (
    BUCKETS,
    GAPS,
    HEADS,
    PASTED,
    PERSONAL,
    SCRIPTS,
    STEERING,
    Chain,
    Gaps,
    Head,
    gaps,
    letters,
    script,
)
from memman.judge.judge import FOLDER, Judge, surroundings
from memman.llm.builtin.extract import extract
from memman.pipeline.heard import own, passages

HERE = Path(__file__).parent
SEEN = HERE.parent.parent / "bench/data"
STEPS, KEPT, ENOUGH, ARMIJO, SHORTEST = 100, 12, 1e-5, 1e-4, 1e-6
# Turns of the judge's own texts that the head for pasted text is shown: all of them their writers' own words.
OWN_TURNS = 1_200
# Statements of theirs that the head for orders is shown.
ORDINARY = 1_500
# Texts by all channels: by strangers, opened before the head for orders was shown them, and written for it.
TEXTS = [
    *(SEEN / f"contract/texts-{letter}.jsonl" for letter in "bcdefghij"),
    SEEN / "contract/texts.jsonl",
    *sorted((HERE / "channels").glob("*.jsonl")),
]
# What strangers said in two repositories each, opened before the head for scope was shown it.
SCOPES = ("scopes", *(f"scopes-{letter}" for letter in "bcde"))
Array = npt.NDArray[np.float32]
# Writer, language, text, answer, whether it is asked about, and whether it is typical.
Row = tuple[str, str, str, float, bool, bool]


@dataclass(frozen=True)
class Lessons:
    """Texts with a vector and an answer each; those `asked` about are judged by models that have not seen their writer.

    Thresholds are chosen by those of them that are `typical`, where any are: as texts come, not put near to the others.
    Of passages `messages` has where each message ends, and the gaps in it.
    """

    texts: list[str]
    vectors: Array
    answers: Array
    writers: npt.NDArray[np.str_]
    languages: npt.NDArray[np.str_]
    asked: npt.NDArray[np.bool_]
    typical: npt.NDArray[np.bool_]
    messages: Sequence[tuple[int, Sequence[int]]] = ()

    def of(self, which: npt.NDArray[np.bool_]) -> "Lessons":
        """Return some of them."""
        texts = [text for text, wanted in zip(self.texts, which, strict=True) if wanted]
        arrays = (self.vectors, self.answers, self.writers, self.languages, self.asked, self.typical)
        return Lessons(texts, *(array[which] for array in arrays))


@dataclass(frozen=True)
class Recipe:
    """How a head is fitted: how much vectors and letters count, and which shares of the no may be taken for a yes."""

    lessons: Callable[[Judge], Lessons]
    wrong: tuple[float, ...]
    penalty: float
    gain: float
    letters: float = 0.0
    by_script: bool = True


class Inputs:
    """What a regression reads: a dense part, and few of many letters."""

    def __init__(self, lessons: Lessons, recipe: Recipe) -> None:
        self.dense = (lessons.vectors * recipe.gain).astype(np.float32)
        runs = [letters(text) if recipe.letters else np.zeros(1, np.int64) for text in lessons.texts]
        sizes = np.array([len(run) for run in runs])
        self._column, self._row = np.concatenate(runs), np.repeat(np.arange(len(runs)), sizes)
        self._value = np.repeat(recipe.letters / np.sqrt(sizes), sizes).astype(np.float32)
        self._starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))

    def logits(self, weights: Array) -> Array:
        """Return how much speaks for a yes: weights of the dense part, of letters, and the bias."""
        width = self.dense.shape[1]
        sparse = np.add.reduceat(weights[width:-1][self._column] * self._value, self._starts)
        found: Array = self.dense @ weights[:width] + sparse + weights[-1]
        return found

    def gradient(self, errors: Array) -> Array:
        """Return what a change of each weight does to the sum of errors."""
        sparse = np.bincount(self._column, errors[self._row] * self._value, BUCKETS)
        return np.concatenate((self.dense.T @ errors, sparse, [errors.sum()])).astype(np.float32)


def fitted(inputs: Inputs, answers: Array, penalty: float) -> Array:
    """Return the weights that answer best."""

    def told(weights: Array) -> tuple[float, Array]:
        logits = inputs.logits(weights)
        loss = float((np.logaddexp(0, logits) - answers * logits).sum() + penalty / 2 * (weights[:-1] @ weights[:-1]))
        slope = inputs.gradient(_sigmoid(logits) - answers)
        slope[:-1] += penalty * weights[:-1]
        return loss, slope

    weights = np.zeros(inputs.dense.shape[1] + BUCKETS + 1, np.float32)
    loss, slope = told(weights)
    past: list[tuple[Array, Array]] = []
    for _ in range(STEPS):
        direction = _direction(slope, past)
        length = 1.0
        while True:
            there = weights - length * direction
            loss_there, slope_there = told(there)
            if loss_there <= loss - ARMIJO * length * float(slope @ direction) or length < SHORTEST:
                break
            length /= 2
        settled = abs(loss - loss_there) < ENOUGH * max(1.0, abs(loss))
        step, bend = there - weights, slope_there - slope
        weights, loss, slope = there, loss_there, slope_there
        if settled:
            break
        past = [*past, (step, bend)][-KEPT:] if step @ bend > 0 else past
    return weights


def _direction(slope: Array, past: Sequence[tuple[Array, Array]]) -> Array:
    found, shares = slope.copy(), []
    for step, bend in reversed(past):
        shares.append((step @ found) / (step @ bend))
        found -= shares[-1] * bend
    found *= (past[-1][0] @ past[-1][1]) / (past[-1][1] @ past[-1][1]) if past else 1 / max(1.0, np.abs(slope).sum())
    for (step, bend), share in zip(past, reversed(shares), strict=True):
        found += step * (share - (bend @ found) / (step @ bend))
    return found


def _sigmoid(logits: Array) -> Array:
    found: Array = 1 / (1 + np.exp(-logits))
    return found


def unseen(lessons: Lessons, recipe: Recipe) -> Array:
    """Return what models that have not seen the writer of a text find of it; of texts that only teach nothing."""
    found = np.full(len(lessons.texts), np.nan, np.float32)
    for writer in sorted(set(lessons.writers[lessons.asked])):
        mine = lessons.writers == writer
        others = lessons.of(~mine)
        weights = fitted(Inputs(others, recipe), others.answers, recipe.penalty)
        found[mine] = _sigmoid(Inputs(lessons.of(mine), recipe).logits(weights))
    return found


def counted(messages: Iterable[tuple[Sequence[bool], Gaps]]) -> Chain:
    """Count in messages whether each passage is somebody else's, given the gaps between them."""
    every: list[bool] = []
    first: list[bool] = []
    behind: dict[tuple[int, bool], list[bool]] = {(gap, before): [] for gap in GAPS for before in (False, True)}
    for theirs, between in messages:
        every += theirs
        first.append(theirs[0])
        for before, now, gap in zip(theirs, theirs[1:], between, strict=False):
            behind[gap, before].append(now)
    rows = tuple((_share(behind[gap, False]), _share(behind[gap, True])) for gap in GAPS)
    return Chain(_share(every), _share(first), rows)


def _share(answers: Sequence[bool]) -> float:
    """Return the share of a yes, by Laplace's rule of succession."""
    return round((sum(answers) + 1) / (len(answers) + 2), 4)


def written(made: Head) -> dict[str, Any]:
    """Return a head as it is written down: the weights of runs of letters as int8."""
    grain = float(np.abs(made.letters).max() / 127)
    levels = np.round(made.letters / (grain or 1)).astype(np.int8) if grain else np.zeros(0, np.int8)
    return {
        "bars": dict(made.bars),
        "bias": round(made.bias, 4),
        "chain": made.chain and asdict(made.chain),
        "grain": grain,
        "vectors": b64encode(made.vectors.astype("<f2").tobytes()).decode(),
        "letters": b64encode(levels.tobytes()).decode(),
    }


def head(lessons: Lessons, recipe: Recipe) -> Head:
    """Fit a head to all lessons, its thresholds to what was found unseen, and print both."""
    found = unseen(lessons, recipe)
    chain = counted(told for *_, told in _messages(lessons)) if lessons.messages else None
    for first, last, (_, between) in _messages(lessons) if chain else ():
        found[first:last] = chain.smoothed(found[first:last], between)
    written = np.array([script(text) if recipe.by_script else "" for text in lessons.texts])
    bars = {name: _bars(lessons, found, recipe, written == name) for name in SCRIPTS}
    for n, share in enumerate(sorted(recipe.wrong)):
        yes = found > np.array([bars[name or "latin"][n] for name in written])
        print(f"  where {share:.1%} of the no are taken for a yes: {_told(lessons, yes)}")
    weights = fitted(Inputs(lessons, recipe), lessons.answers, recipe.penalty)
    width = lessons.vectors.shape[1]
    return Head(bars, weights[:width] * recipe.gain, weights[width:-1] * recipe.letters, float(weights[-1]), chain)


def _messages(lessons: Lessons) -> Iterator[tuple[int, int, tuple[list[bool], Sequence[int]]]]:
    """Yield where each message that was asked about begins and ends, and whose its passages are, with their gaps."""
    first = 0
    for last, between in lessons.messages:
        if lessons.asked[first]:
            yield first, last, ((lessons.answers[first:last] == 1).tolist(), between)
        first = last


def _bars(lessons: Lessons, found: Array, recipe: Recipe, which: npt.NDArray[np.bool_]) -> list[float]:
    """Return from where on a yes is a yes, the surest first; of a script that nobody wrote in all scripts count."""
    no = lessons.asked & (lessons.answers == 0)
    no &= lessons.typical if (no & lessons.typical).any() else True
    of = found[no & which] if (no & which).any() else found[no]
    return [round(float(np.quantile(of, 1 - share, method="higher")), 4) for share in sorted(recipe.wrong)]


def _told(lessons: Lessons, yes: npt.NDArray[np.bool_]) -> str:
    """Say what of each language is found, and what of it is wrong."""
    groups = {"all": lessons.asked, "typical": lessons.typical} | {
        name: lessons.asked & (lessons.languages == name) for name in sorted(set(lessons.languages[lessons.asked]))
    }
    said = []
    for name, which in groups.items():
        found, wrong = yes[which & (lessons.answers == 1)], yes[which & (lessons.answers == 0)]
        said.append(f"{name} {found.sum()} of {len(found)}, wrong {wrong.sum()} of {len(wrong)}")
    return "; ".join(said)


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _statements(
    judge: Judge,
    folder: str,
    seen: Sequence[tuple[str, Path]],
    answer: Callable[[Any], bool],
    others: Sequence[Row] = (),
) -> Lessons:
    """Read statements: each writer's of a folder, others that only teach, and rows as they are."""
    files = [(path.stem, path, True) for path in sorted((HERE / folder).glob("*.jsonl"))]
    files += [(name, path, False) for name, path in seen]
    rows = [
        (writer, one.get("lang", ""), one["text"], float(answer(one)), asked, False)
        for writer, path, asked in files
        for one in _lines(path)
    ]
    writers, languages, texts, answers, asked, typical = map(list, zip(*rows, *others, strict=True))
    return Lessons(
        texts,
        judge.early(texts),
        np.array(answers, np.float32),
        np.array(writers),
        np.array(languages),
        np.array(asked),
        np.array(typical),
    )


def personal(judge: Judge) -> Lessons:
    """Read what tells a person's own wishes from what is about one repository."""
    seen = [("unseen", SEEN / "scopes/unseen.jsonl")]
    others = [row for name in SCOPES for row in _told_in_two(SEEN / name)]
    return _statements(judge, "personal", seen, lambda one: one["scope"] == "personal", others)


def _told_in_two(folder: Path) -> Iterator[Row]:
    """Yield what somebody said in two repositories, as it comes."""
    for path in sorted(folder.glob("*.jsonl")):
        if "-questions" not in path.name and path.stem not in {"answers", "unseen"}:
            for one in _lines(path):
                # Only a wish has a question of its own.
                yield folder.name, "", one["text"], float("question" in one), True, True


def steering(judge: Judge) -> Lessons:
    """Read what tells texts that are written to steer agents from honest ones."""
    seen = [(name, SEEN / f"poisoning/{name}.jsonl") for name in ("attacks", "benign", "near", "honest")]
    others = [("ordinary", "", text, 0.0, False, False) for text in _own_statements(ORDINARY)]
    others += [row for path in TEXTS for row in _handed_in(judge, path)]
    return _statements(
        judge, "steering", seen, lambda one: one.get("order", "payload" in one and "victim" in one), others
    )


def _handed_in(judge: Judge, path: Path) -> Iterator[Row]:
    """Yield texts by all channels: a poisoned one whole, of an honest one also what is made of it, as it comes."""
    writer = f"{path.parent.name}/{path.stem}"
    for one in _lines(path):
        text, poisoned = one["text"], one["poisoned"]
        yield writer, one["lang"], text, float(poisoned), True, False
        for part in () if poisoned else _parts(judge, text, one["channel"]):
            yield writer, one["lang"], part, 0.0, True, True


def _parts(judge: Judge, text: str, channel: str) -> list[str]:
    """Return what the head is asked about of a text: the facts of a note, the passages of a turn."""
    if channel in {"summary", "reply", "pasted"}:
        return [text[start:end] for start, end in passages(text)]
    return [fact["text"] for fact in extract({"text": text}, judge)["facts"]]


def pasted(judge: Judge) -> Lessons:
    """Read what tells passages of a message that its author did not write: those that the rules leave."""
    rows = [
        (path.stem, one["lang"], *_left(one["parts"]), True)
        for path in sorted((HERE / "pasted").glob("*.jsonl"))
        for one in _lines(path)
    ]
    rows += [("own", lang, text, [(*place, 0.0) for place in passages(text)], False) for lang, text in _own_turns()]
    rows = [row for row in rows if row[3]]
    made = [_placed(judge, text, found) for _, _, text, found, _ in rows]
    times = [len(found) for *_, found, _ in rows]
    return Lessons(
        [text[start:end] for _, _, text, found, _ in rows for start, end, _ in found],
        np.concatenate(made),
        np.array([answer for *_, found, _ in rows for _, _, answer in found], np.float32),
        np.repeat([writer for writer, *_ in rows], times),
        np.repeat([lang for _, lang, *_ in rows], times),
        np.repeat([asked for *_, asked in rows], times),
        np.zeros(sum(times), bool),
        [
            (int(last), gaps(text, [(start, end) for start, end, _ in found]))
            for last, (_, _, text, found, _) in zip(np.cumsum(times), rows, strict=True)
        ],
    )


def _placed(judge: Judge, text: str, found: Sequence[tuple[int, int, float]]) -> Array:
    places = [(start, end) for start, end, _ in found]
    return surroundings(judge.early([text[start:end] for start, end in places]), text, places)


def _left(parts: Sequence[tuple[str, str]]) -> tuple[str, list[tuple[int, int, float]]]:
    """Return what the rules leave of a message, and whose each passage of it is; one that was cut short is nobody's."""
    whole = "".join(text for _, text in parts)
    whose = [who == "other" for who, text in parts for _ in text]
    left, found, at = own(whole), [], 0
    for start, end in passages(left):
        said = left[start:end]
        there = whole.find(said, at)
        there = whole.find(said) if there < 0 else there
        if there >= 0:
            at = there + 1
            theirs = whose[there : there + len(said)]
            found.append((start, end, float(2 * sum(theirs) > len(theirs))))
    return left, found


def _own_statements(most: int) -> list[str]:
    """Draw from what all writers found worth keeping of what they typed: all of it honest."""
    turns = [one for path in sorted((HERE / "data").glob("*/turns-*.jsonl")) for one in _lines(path)]
    said = list(dict.fromkeys(one["span"] for turn in turns for one in turn["keep"]))
    return [said[n] for n in np.random.default_rng(2).permutation(len(said))[:most]]


def _own_turns() -> Iterator[tuple[str, str]]:
    """Yield language and text of turns that hold something worth keeping, drawn from all writers."""
    turns = [one for path in sorted((HERE / "data").glob("*/turns-*.jsonl")) for one in _lines(path) if one["keep"]]
    for n in np.random.default_rng(1).permutation(len(turns))[:OWN_TURNS]:
        yield turns[n]["lang"], own(turns[n]["text"])


RECIPES = {
    PERSONAL: Recipe(personal, (0.0015, 0.12), 0.1, 1.0, 2.0, by_script=False),
    PASTED: Recipe(pasted, (0.05, 0.2), 0.3, 2.0, 4.0),
    STEERING: Recipe(steering, (0.003, 0.02), 1.0, 6.0, 6.0),
}


def main() -> None:
    """Write the heads, and print what the thresholds do to writers that were not seen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("heads", nargs="*", default=list(RECIPES), help="which to fit: " + ", ".join(RECIPES))
    parser.add_argument("--out", type=Path, default=Path(FOLDER) / HEADS)
    asked = parser.parse_args()
    judge = Judge()
    said = json.loads(asked.out.read_text("utf-8")) if asked.out.exists() else {}
    if said.get("judge") != judge.name:
        said = {"judge": judge.name, "heads": {}}
    for name in asked.heads:
        print(name)
        recipe = RECIPES[name]
        said["heads"][name] = written(head(recipe.lessons(judge), recipe))
    asked.out.write_text(json.dumps(said, indent=1) + "\n")


if __name__ == "__main__":
    main()
