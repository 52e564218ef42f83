"""Say how often the right memory is found by nearness of meaning alone, on the stores kept aside."""

from collections.abc import Callable, Sequence

import numpy as np
import pairs

from memman.embed.base import Vectors
from memman.embed.static import StaticTable
from memman.judge.embedder import BuiltinEmbedder

Embed = Callable[[Sequence[str]], Vectors]
# How far down the list an answer is looked for.
DEEPEST = 50


def main() -> None:
    """Report on the files that memman ships."""
    table = StaticTable()
    report(
        pairs.read()[1],
        BuiltinEmbedder().vectors,
        lambda texts: np.array([table.vector(text) for text in texts], np.float32),
    )


def report(stores: Sequence[pairs.Store], memories: Embed, questions: Embed) -> None:
    """Print the figures of each folder of stores: questions, recall at 5 and 10, mean reciprocal rank."""
    found: dict[str, list[tuple[float, float, float]]] = {}
    for store in stores:
        asked = store.answered()
        nearness = questions([question.text for question in asked]) @ memories(store.memories).T
        places = (-nearness).argsort(axis=1, kind="stable")[:, :DEEPEST].tolist()
        rows = [_figures(order, question.answers) for order, question in zip(places, asked, strict=True)]
        found.setdefault(store.name.partition("/")[0], []).extend(rows)
    for folder, rows in found.items():
        five, ten, rank = np.mean(rows, axis=0).tolist()
        print(f"  {folder:12} {len(rows):5}  R@5 {five:.1%}  R@10 {ten:.1%}  MRR {rank:.3f}", flush=True)


def _figures(order: Sequence[int], answers: Sequence[int]) -> tuple[float, float, float]:
    ranks = [order.index(answer) + 1 for answer in answers if answer in order]
    five, ten = (sum(rank <= most for rank in ranks) / len(answers) for most in (5, 10))
    return five, ten, 1 / min(ranks) if ranks else 0.0


if __name__ == "__main__":
    main()
