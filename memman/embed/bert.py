"""The forward pass of a BERT sentence encoder in plain numpy, over weights read from a safetensors file.

As sentence-transformers does it: exact GELU, layer norm epsilon 1e-12, and a text's vector is the normalised
mean of its last hidden states, [CLS] and [SEP] included.
"""

import json
import mmap
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from memman.embed.base import Vectors

CLS, SEP = 101, 102
# Elements of an attention head: 12 of them make MiniLM's 384.
HEAD = 32
EPSILON = np.float32(1e-12)
# Tokens of one forward pass: large enough to keep BLAS busy, small enough for the cache.
BATCH_TOKENS = 1024
# Abramowitz and Stegun 7.1.26; its error, 1.5e-7, is below what float32 keeps.
_ERF_P, _ERF_A = np.float32(0.3275911), (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)

Weights = dict[str, Vectors]


def load(path: str) -> Weights:
    """Map the float32 tensors of a safetensors file: 8 bytes of header length, a JSON header, then raw data."""
    with open(path, "rb") as file:
        raw = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    start = 8 + int.from_bytes(raw[:8], "little")
    tensors = {}
    for name, entry in json.loads(raw[8:start]).items():
        if entry.get("dtype") == "F32":
            low, high = entry["data_offsets"]
            flat = np.frombuffer(raw, np.float32, (high - low) // 4, start + low)
            tensors[name] = flat.reshape(entry["shape"])
    return tensors


class Bert:
    """Encodes rows of token ids."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self.width = weights["embeddings.word_embeddings.weight"].shape[1]
        self._layers = len([name for name in weights if name.endswith("attention.self.query.weight")])

    def encode(self, rows: Sequence[Sequence[int]]) -> Vectors:
        """Embed `rows` (token ids without [CLS] and [SEP]): float32 (rows, width), unit length."""
        vectors = np.empty((len(rows), self.width), np.float32)
        for batch in _batches(rows):
            ids = np.array([[CLS, *rows[i], SEP] for i in batch])
            vectors[batch] = self._forward(ids).mean(axis=1)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors

    def _forward(self, ids: npt.NDArray[np.int64]) -> Vectors:
        """Last hidden states of same-length rows: (rows, tokens) to (rows, tokens, width)."""
        w = self._weights
        x = w["embeddings.word_embeddings.weight"][ids]
        x = x + w["embeddings.position_embeddings.weight"][: ids.shape[1]]
        x = self._norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings")
        for layer in range(self._layers):
            name = f"encoder.layer.{layer}"
            mixed = self._dense(self._attend(x, f"{name}.attention.self"), f"{name}.attention.output.dense")
            x = self._norm(x + mixed, f"{name}.attention.output")
            wide = _gelu(self._dense(x, f"{name}.intermediate.dense"))
            x = self._norm(x + self._dense(wide, f"{name}.output.dense"), f"{name}.output")
        return x

    def _attend(self, x: Vectors, name: str) -> Vectors:
        rows, tokens, width = x.shape
        query, key, value = (
            self._dense(x, f"{name}.{part}").reshape(rows, tokens, width // HEAD, HEAD).transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 1, 3, 2) / np.float32(HEAD**0.5)
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        heads: Vectors = scores @ value
        return heads.transpose(0, 2, 1, 3).reshape(x.shape)

    def _dense(self, x: Vectors, name: str) -> Vectors:
        flat = x.reshape(-1, x.shape[-1]) @ self._weights[f"{name}.weight"].T
        flat += self._weights[f"{name}.bias"]
        return flat.reshape(*x.shape[:-1], -1)

    def _norm(self, x: Vectors, name: str) -> Vectors:
        normal: Vectors = x - x.mean(axis=-1, keepdims=True)
        normal /= np.sqrt(np.square(normal).mean(axis=-1, keepdims=True) + EPSILON)
        normal *= self._weights[f"{name}.LayerNorm.weight"]
        normal += self._weights[f"{name}.LayerNorm.bias"]
        return normal


def _batches(rows: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Row numbers grouped by equal length, so that nothing is padded."""
    by_length: dict[int, list[int]] = {}
    for number, row in enumerate(rows):
        by_length.setdefault(len(row), []).append(number)
    for length, numbers in sorted(by_length.items()):
        size = max(1, BATCH_TOKENS // (length + 2))
        for start in range(0, len(numbers), size):
            yield numbers[start : start + size]


def _gelu(x: Vectors) -> Vectors:
    """Exact GELU, x / 2 * (1 + erf(x / sqrt 2)), with the error function by polynomial."""
    z = np.abs(x) * np.float32(0.5**0.5)
    t = 1 / (1 + _ERF_P * z)
    series = np.zeros_like(t)
    for coefficient in _ERF_A:
        series = (series + np.float32(coefficient)) * t
    erf = np.copysign(1 - series * np.exp(-z * z), x)
    gelu: Vectors = x * np.float32(0.5) * (1 + erf)
    return gelu
