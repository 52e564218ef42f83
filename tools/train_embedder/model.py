"""The embedder in torch: a table of token vectors, and a matrix that the judge's states go through."""

import random
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

Rows = Sequence[Sequence[int]]


class Embedder(nn.Module):
    """A question is a sum of rows; a memory is the judge's mean state through a matrix, plus a share of its sum."""

    def __init__(self, table: Tensor) -> None:
        super().__init__()
        width = table.shape[1]
        self.table = nn.EmbeddingBag.from_pretrained(table, freeze=False, mode="sum")
        self.matrix = nn.Linear(width, width)
        # Weight of the sum of a memory's own tokens.
        self.share = nn.Parameter(torch.tensor(0.5))
        # The cosine that what answers a question reaches, and nothing else. Only the training needs it.
        self.least = nn.Parameter(torch.tensor(0.35))

    def start(self, means: Tensor, goals: Tensor, ridge: float) -> None:
        """Set the matrix by ridge regression from `means` to `goals`."""
        middle, goal = means.mean(0), goals.mean(0)
        spread = means - middle
        penalty = ridge * spread.var() * torch.eye(means.shape[1])
        weight = torch.linalg.solve(spread.T @ spread + penalty, spread.T @ (goals - goal))
        with torch.no_grad():
            self.matrix.weight.copy_(weight.T)
            self.matrix.bias.copy_(goal - middle @ weight)

    def questions(self, rows: Rows) -> Tensor:
        """Return unit vectors of texts by their tokens alone: (rows, width), zero for a text without tokens."""
        starts = torch.tensor([0, *(len(row) for row in rows[:-1])]).cumsum(0)
        return functional.normalize(self.table(torch.tensor([n for row in rows for n in row]), starts), dim=1)

    def memories(self, means: Tensor, rows: Rows, drop: float = 0.0) -> Tensor:
        """Return unit vectors of memories, from means of the judge's states and their tokens: (rows, width)."""
        told = functional.normalize(self.matrix(functional.dropout(means, drop, self.training)), dim=1)
        return functional.normalize(told + self.share * self.questions(rows), dim=1)


def thinned(rows: Rows, drop: float, chance: random.Random) -> Rows:
    """Drop tokens at random, but never all of a row."""
    return [[n for n in row if chance.random() > drop] or row for row in rows]
