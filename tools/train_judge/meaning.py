"""What texts mean to MiniLM itself, before it is taught anything: finds the memories that a store would offer."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from model import Judge
from rows import batches, padded
from torch import Tensor

from memman.embed.bert import CLS, SEP
from memman.judge.judge import LONGEST_PAIR, tokens


class Meaning:
    """MiniLM's vectors in torch: the normalised mean of its last hidden states."""

    def __init__(self, weights: dict[str, Tensor], vocabulary: dict[str, int]) -> None:
        layers = len([name for name in weights if name.endswith("attention.self.query.weight")])
        self._model = Judge(weights, layers, len(vocabulary), 1, 1).eval()
        self._vocabulary = vocabulary

    @torch.no_grad()
    def __call__(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return unit vectors: (texts, width)."""
        rows = [([CLS, *(n for n, _, _ in tokens(text, self._vocabulary, LONGEST_PAIR)), SEP], []) for text in texts]
        found = torch.zeros(len(rows), self._model.words.shape[1])
        for batch in batches(rows):
            some = padded([rows[n][0] for n in batch])
            with torch.autocast("cpu", torch.bfloat16):
                states = self._model.states(some, torch.zeros_like(some)).float()
            there = (some > 0).float()[..., None]
            found[batch] = torch.nn.functional.normalize((states * there).sum(1) / there.sum(1), dim=1)
        array: npt.NDArray[np.float32] = found.numpy()
        return array
