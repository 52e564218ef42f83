"""Fit what tells whether a new statement ends an old one, to statements as they come, and write it into heads.json.

Of what somebody said of one project hardly anything ends anything: each statement is compared, as in a drain, with the
six earlier ones that are nearest in what they speak of, and what would be retired is wrong. What does end is from sets
of changes by other strangers and from the writers that the judge was not taught by. A logistic regression with an L2
penalty, by Newton's method; each set and writer is judged by one that has not seen it, and by these the thresholds are
chosen. `python tools/train_judge/retirement.py` prints what is found and what is wrong, before and after.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from memman.judge.heads import ENOUGH, HEADS, LEAST, RETIREMENT, Retirement
from memman.judge.judge import FOLDER, Judge
from memman.llm.builtin.reconcile import BEARS

HERE = Path(__file__).parent
SEEN = HERE.parent.parent / "bench/data"
# Sets by strangers, opened before this was fitted to them.
SCOPES, STRANGERS = ("scopes", *(f"scopes-{letter}" for letter in "bcdef")), ("g", "h", "i")
# One system whose parts have names that are alike, by somebody who knew what goes wrong there.
NAMES = "names"
# Writers whose pairs the judge was not taught by, and how many earlier statements a drain compares one with.
ASIDE, COMPARED = ("03", "11", "65"), 6
ENDING = {"supersedes", "retracts"}
PENALTY, STEPS, SETTLED = 3.0, 60, 1e-6
# Of statements as they come, which share may wrongly retire an older one, and which mark one.
RETIRES, MARKS = 0.0045, 0.1
TYPICAL, LIKE, CHANGES, NEAR = "as they come", "of names that are alike", "changes", "near misses"
Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Said:
    """A statement, the older ones it is compared with, and which of them it ends, '' for none."""

    by: str
    kind: str
    new: str
    olds: tuple[str, ...]
    ends: str = ""


def said(judge: Judge) -> Iterator[Said]:
    """Yield everything that is learned from."""
    for folder in SCOPES:
        for path in sorted((SEEN / folder).glob("*.jsonl")):
            if "-questions" not in path.name and path.stem not in {"answers", "unseen"}:
                yield from _together(judge, folder, [one["text"] for one in _lines(path)])
    yield from _together(judge, NAMES, [one["text"] for one in _lines(HERE / NAMES / "facts.jsonl")], LIKE)
    for name, folder in ((NAMES, HERE), *((name, SEEN / "unseen") for name in STRANGERS)):
        changed, alike = (_lines(folder / name / f"{part}.jsonl") for part in ("changed", "alike"))
        yield from _changes(judge, name, changed + alike, len(changed))
    for writer in ASIDE:
        for path in sorted((HERE / "data" / writer).glob("pairs-*.jsonl")):
            for one in _lines(path):
                for other in one["news"]:
                    ends = other["label"] in ENDING
                    kind, ended = (CHANGES, one["old"]) if ends else (NEAR, "")
                    yield Said(writer, kind, other["new"], (one["old"],), ended)


def _together(judge: Judge, by: str, texts: list[str], kind: str = TYPICAL) -> Iterator[Said]:
    """Yield each statement with the earlier ones that a drain compares it with."""
    about = judge.about(texts)
    for n in range(1, len(texts)):
        nearest = np.argsort(-(about[:n] @ about[n]), kind="stable")[:COMPARED]
        yield Said(by, kind, texts[n], tuple(texts[i] for i in nearest))


def _changes(judge: Judge, by: str, lines: list[dict[str, Any]], changed: int) -> Iterator[Said]:
    """Yield what was said later, with the nearest of what was said before, the changed or unchanged one among them."""
    befores, afters = [one["before"] for one in lines], [one["after"] for one in lines]
    nearness = judge.about(afters) @ judge.about(befores).T
    for n, (before, after) in enumerate(zip(befores, afters, strict=True)):
        others = [befores[i] for i in np.argsort(-nearness[n], kind="stable") if i != n][: COMPARED - 1]
        kind, ended = (CHANGES, before) if n < changed else (NEAR, "")
        yield Said(by, kind, after, (before, *others), ended)


def fitted(shown: Array, answers: Array) -> Array:
    """Return the weights that answer best, and the bias behind them."""
    middle, spread = shown.mean(0), shown.std(0) + SETTLED
    scaled = np.c_[(shown - middle) / spread, np.ones(len(shown))]
    penalty = PENALTY * np.diag([*[1] * shown.shape[1], 0])
    weights = np.zeros(scaled.shape[1])
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-scaled @ weights))
        bend = scaled.T @ (scaled * (likely * (1 - likely))[:, None]) + penalty
        step = np.linalg.solve(bend, scaled.T @ (answers - likely) - penalty @ weights)
        weights += step
        if np.abs(step).max() < SETTLED:
            break
    found = weights[:-1] / spread
    return np.r_[found, weights[-1] - found @ middle]


def main() -> None:
    """Fit, print, and write."""
    judge = Judge()
    told = list(said(judge))
    judged = judge.compared([(one.new, one.olds) for one in told], BEARS)
    every = [
        (row, (n, old, relation))
        for n, one in enumerate(told)
        if any(relation.ends >= LEAST for relation in judged[n])
        for row, old, relation in zip(judge.shown(one.new, one.olds, judged[n]), one.olds, judged[n], strict=True)
        if relation.ends >= LEAST
    ]
    pairs = [pair for _, pair in every]
    shown = np.array([row for row, _ in every], float)
    answers = np.array([float(told[n].ends == old) for n, old, _ in pairs])
    by = np.array([told[n].by for n, _, _ in pairs])
    unseen = np.zeros(len(pairs))
    for writer in sorted(set(by)):
        weights = fitted(shown[by != writer], answers[by != writer])
        unseen[by == writer] = 1 / (1 + np.exp(-(shown[by == writer] @ weights[:-1] + weights[-1])))
    alone = np.array([relation.ends for *_, relation in pairs])
    bars = []
    for what, share, least, before in (("retired", RETIRES, ENOUGH, 0.9), ("retired or marked", MARKS, LEAST, LEAST)):
        found = _surest(told, pairs, np.where(alone >= least, unseen, 0.0))
        bars.append(round(float(np.quantile(found[TYPICAL], 1 - share, method="higher")), 4))
        for name, of, bar in (("the judge alone", _surest(told, pairs, alone), before), ("with this", found, bars[-1])):
            counts = (f"{kind} {(some >= bar).sum()} of {len(some)}" for kind, some in of.items())
            print(f"{name}, {what}:", "; ".join(counts))
    weights = fitted(shown, answers)
    made = Retirement(weights[:-1].astype(np.float32), round(float(weights[-1]), 4), (bars[0], bars[1]))
    path = Path(FOLDER) / HEADS
    weights = [round(float(one), 4) for one in made.weights]
    kept = json.loads(path.read_text("utf-8")) | {
        RETIREMENT: {"weights": weights, "bias": made.bias, "bars": made.bars}
    }
    path.write_text(json.dumps(kept, indent=1) + "\n")


def _surest(told: list[Said], pairs: list[Any], shares: Any) -> Mapping[str, Array]:
    """Return of each kind how surely each statement ends what it ends, or else anything."""
    found = np.zeros(len(told))
    for (n, old, _), share in zip(pairs, shares, strict=True):
        if told[n].ends in {"", old}:
            found[n] = max(found[n], share)
    return {
        f"{kind}{where}": found[[one.kind == kind and (one.by in ASIDE) is aside for one in told]]
        for kind, aside, where in (
            (TYPICAL, False, ""),
            (LIKE, False, ""),
            (CHANGES, False, ""),
            (NEAR, False, ""),
            (CHANGES, True, " by writers aside"),
            (NEAR, True, " by them"),
        )
    }


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


if __name__ == "__main__":
    main()
