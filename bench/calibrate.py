"""Fits the numbers of recall's confidence to labelled questions, and shows on stores kept aside what they are worth.

`python -m bench.calibrate` prints numbers and figures as JSON; `--write` puts the numbers into recall as well. Run it
after every change of the embedder's table, of how vectors are made or of the ranking: docs/adr/0014-confidence.md.
"""

import argparse
import json
import math
import re
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.intervals import auc
from bench.labelled import ANSWERABLE, ASIDE, FITTED, OFF_TOPIC, UNANSWERABLE, Answers, Asked, Evidence, ask, by_kind
from memman.embed.static import StaticTable
from memman.recall import confidence

# Share of answerable questions that SILENT may cost their answer, and share of answers that FLOOR may cost.
LOST = 0.01
# Share of questions about something else that show nothing but what is marked low.
MARKED = 0.95
_STEPS, _RATE, _RIDGE = 6_000, 0.02, 1e-3

Floats = NDArray[np.float64]
Numbers = dict[str, Any]


def main() -> int:
    """Fit, print, and write if asked to."""
    parser = argparse.ArgumentParser(prog="python -m bench.calibrate", description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the numbers into memman/recall/confidence.py")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        halves = {half: ask(half, work) for half in (FITTED, ASIDE)}
    numbers = fitted(halves[FITTED])
    print(
        json.dumps(
            {"numbers": numbers, **{half: figures(numbers, said.asked) for half, said in halves.items()}}, indent=2
        )
    )
    if given.write:
        write(numbers, Path(confidence.__file__))
    return 0


def fitted(answers: Answers) -> Numbers:
    """Return every number that `memman.recall.confidence` takes from here."""
    table = StaticTable()
    asked = [one for one in answers.asked if one.evidence]
    worded = [one for one in answers.asked if one.worded and one.worded[0][0]]
    numbers: Numbers = {
        "TABLE": f"{table.model}-v{table.version}",
        "BOTH": logistic([one.evidence[0] for one in asked], asked),
        "WORDS": logistic([(one.worded[0][0], one.worded[0][2]) for one in worded], worded),
        "USUAL": tuple(round(sum(column) / len(column), 3) for column in zip(*answers.usual, strict=True)),
    }
    found = [one for one in asked if any(one.gold)]
    return numbers | {
        "SILENT": cut((surest(numbers, one) for one in found), LOST),
        "FLOOR": cut((best_gold(numbers, one) for one in found), LOST),
        "LOW": cut((surest(numbers, one) for one in by_kind(asked)[OFF_TOPIC]), MARKED) + 0.001,
    }


def logistic(evidence: Sequence[Sequence[float | None]], asked: Sequence[Asked]) -> tuple[float, ...]:
    """Fit weights, none below 0, and what is added to their sum, by which the first hits tell the answerable apart.

    Every way to have no answer counts the same, and all together as much as the answerable questions.
    """
    values = np.array(evidence, float)
    wanted = np.array([one.kind == ANSWERABLE for one in asked], float)
    counts = {kind: len(some) for kind, some in by_kind(asked).items()}
    share = np.array([(1 if one.kind == ANSWERABLE else 1 / len(UNANSWERABLE)) / counts[one.kind] for one in asked])
    share /= share.sum()
    mean, scale = values.mean(axis=0), values.std(axis=0)
    terms = np.column_stack(((values - mean) / scale, np.ones(len(values))))
    weights = np.zeros(terms.shape[1])
    for _ in range(_STEPS):
        missed = (1 / (1 + np.exp(-terms @ weights)) - wanted) * share
        weights -= 10 * _RATE * (terms.T @ missed + _RIDGE * np.append(weights[:-1], 0))
        weights[:-1] = np.maximum(weights[:-1], 0)
    own = weights[:-1] / scale
    return tuple(round(float(value), 3) for value in (*own, weights[-1] - own @ mean))


def sure(numbers: Numbers, evidence: Evidence) -> float:
    """Return the confidence that some evidence gives under `numbers`."""
    used, values = ("WORDS", (evidence[0], evidence[2])) if evidence[1] is None else ("BOTH", evidence)
    *weights, bias = numbers[used]
    return 1 / (1 + math.exp(-bias - sum(weight * value for weight, value in zip(weights, values, strict=True))))


def surest(numbers: Numbers, one: Asked) -> float:
    """Return the confidence in an answer: that in its surest hit."""
    return max((sure(numbers, evidence) for evidence in one.evidence), default=0.0)


def best_gold(numbers: Numbers, one: Asked) -> float:
    """Return the highest confidence in a hit that answers."""
    return max(sure(numbers, evidence) for evidence, gold in zip(one.evidence, one.gold, strict=True) if gold)


def cut(values: Iterable[float], share: float) -> float:
    """Return the highest of `values` below which no more than `share` of them lie, in thousandths, rounded down."""
    ordered = sorted(values)
    return math.floor(1000 * ordered[min(int(share * len(ordered)), len(ordered) - 1)]) / 1000


def figures(numbers: Numbers, asked: Sequence[Asked]) -> Mapping[str, Any]:
    """Return what the numbers are worth on some questions: AUC, answers kept, what is silent, what is marked low."""
    kinds = by_kind(asked)
    known = [surest(numbers, one) for one in kinds[ANSWERABLE]]
    unknown = {kind: [surest(numbers, one) for one in kinds[kind]] for kind in UNANSWERABLE}
    labelled = [value for kind in UNANSWERABLE[:-1] for value in unknown[kind]]
    found = [one for one in kinds[ANSWERABLE] if any(one.gold)]
    kept = [surest(numbers, one) >= numbers["SILENT"] and best_gold(numbers, one) >= numbers["FLOOR"] for one in found]
    return {
        "auc": {kind: round(auc(known, values), 3) for kind, values in {**unknown, "labelled": labelled}.items()},
        "kept": round(sum(kept) / len(kept), 3),
        "silent": _below(numbers["SILENT"], {ANSWERABLE: known, **unknown}),
        "silent or low": _below(numbers["LOW"], {ANSWERABLE: known, **unknown}),
    }


def _below(cut: float, values: Mapping[str, Sequence[float]]) -> dict[str, float]:
    return {kind: round(sum(value < cut for value in some) / len(some), 3) for kind, some in values.items()}


def write(numbers: Numbers, path: Path) -> None:
    """Replace the numbers in the module's source."""
    text = path.read_text(encoding="utf-8")
    for name, value in numbers.items():
        said = json.dumps(value) if isinstance(value, str) else repr(value)
        text, count = re.subn(rf"^{name} = .*$", f"{name} = {said}", text, flags=re.MULTILINE)
        if count != 1:
            raise ValueError(f"{path} has no line for {name}")
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
