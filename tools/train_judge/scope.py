"""Fit what tells a person's own wishes from what is about one repository, on the judge's early vectors of statements.

A logistic regression with an L2 penalty, by Newton's method (Bishop, Pattern Recognition and Machine Learning, 4.3.3).
The threshold is where a share WRONG of what is about a repository would be taken for personal, by models that have not
seen the writer of it.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import numpy.typing as npt

from memman.judge.judge import FOLDER, SCOPE, Judge

HERE = Path(__file__).parent
PENALTY, STEPS = 0.05, 30
# The share of statements about a repository that may be taken for personal.
WRONG = 0.002
Array = npt.NDArray[np.float64]


def fitted(vectors: Array, personal: Array) -> Array:
    """Return the weight of each element, and the bias behind them."""
    inputs = np.c_[vectors, np.ones(len(vectors))]
    weights = np.zeros(inputs.shape[1])
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-inputs @ weights))
        curvature = (inputs.T * (p * (1 - p))) @ inputs + PENALTY * np.eye(len(weights))
        weights -= np.linalg.solve(curvature, inputs.T @ (p - personal) + PENALTY * weights)
    return weights


def shares(vectors: Array, weights: Array) -> Array:
    """Return how probably each statement is personal."""
    return 1 / (1 + np.exp(-(vectors @ weights[:-1] + weights[-1])))


def main() -> None:
    """Write memman/judge/scope.json, and print what the threshold does to writers that were not seen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(FOLDER) / SCOPE)
    out = parser.parse_args().out
    judge = Judge()
    writers = []
    for path in sorted((HERE / "scopes").glob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        personal = np.array([row["scope"] == "personal" for row in rows], np.float64)
        writers.append((judge.early([row["text"] for row in rows]).astype(np.float64), personal))
    unseen, labels = [], []
    for n, (vectors, personal) in enumerate(writers):
        others = [one for m, one in enumerate(writers) if m != n]
        weights = fitted(np.concatenate([v for v, _ in others]), np.concatenate([p for _, p in others]))
        unseen.append(shares(vectors, weights))
        labels.append(personal)
    found, truth = np.concatenate(unseen), np.concatenate(labels)
    bar = float(np.quantile(found[truth == 0], 1 - WRONG))
    print(f"personal from {bar:.3f} on: {np.mean(found[truth == 1] > bar):.1%} of what is, {WRONG:.0%} of what is not")
    weights = fitted(np.concatenate([v for v, _ in writers]), np.concatenate([p for _, p in writers]))
    said = {"judge": judge.name, "personal": round(bar, 3), "weights": [round(float(one), 4) for one in weights]}
    out.write_text(json.dumps(said) + "\n")


if __name__ == "__main__":
    main()
