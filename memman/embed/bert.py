"""BERT in numpy: its uncased tokenizer, and the forward pass as sentence-transformers does it."""

import json
import mmap
from collections.abc import Iterator, Mapping, Sequence
from unicodedata import category, normalize

import numpy as np

from memman.embed.base import Vectors
from memman.embed.static import spell

CLS, SEP = 101, 102
# Elements of an attention head: 12 of them make a state's 384.
HEAD = 32
EPSILON = np.float32(1e-12)
# Tokens of one forward pass: large enough to keep BLAS busy, small enough for the cache.
BATCH_TOKENS = 512
# Abramowitz and Stegun 7.1.26, halved and of x / sqrt 2; its error, 1.5e-7, is below what float32 keeps.
_ERF_P = np.float32(0.3275911 * 0.5**0.5)
_ERF_A = tuple(np.float32(a / 2) for a in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592))
# Rows at once, so that what is computed on the way stays in the cache.
_GELU_ROWS = 32

Weights = dict[str, Vectors]
_DTYPES = {"F32": np.float32, "I8": np.int8}


def load(path: str) -> Weights:
    """Map the float32 and int8 tensors of a safetensors file: 8 bytes of header length, a JSON header, raw data."""
    with open(path, "rb") as file:
        raw = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    start = 8 + int.from_bytes(raw[:8], "little")
    tensors = {}
    for name, entry in json.loads(raw[8:start]).items():
        kind = _DTYPES.get(entry.get("dtype"))
        if kind:
            low, high = entry["data_offsets"]
            flat = np.frombuffer(raw, kind, (high - low) // np.dtype(kind).itemsize, start + low)
            tensors[name] = flat.reshape(entry["shape"])
    return tensors


class Bert:
    """Turns rows of token ids into states, (tokens, width) each."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self.layers = len([name for name in weights if name.endswith("attention.self.query.weight")])

    def embedded(self, rows: Sequence[Sequence[int]], seconds: Sequence[int] | None = None) -> list[Vectors]:
        """Return what goes into the first layer; from `seconds` on a token is of the second of two texts."""
        w = self._weights
        x = w["embeddings.word_embeddings.weight"][np.concatenate([np.asarray(row) for row in rows])]
        x = x + np.concatenate([w["embeddings.position_embeddings.weight"][: len(row)] for row in rows])
        second = [np.arange(len(row)) >= (seconds[n] if seconds else len(row)) for n, row in enumerate(rows)]
        types = w["embeddings.token_type_embeddings.weight"][np.concatenate(second).astype(int)]
        return np.split(self._norm(x + types, "embeddings"), _ends(rows))

    def layered(self, rows: Sequence[Vectors], start: int, stop: int) -> list[Vectors]:
        """Send rows of states through layers `start` to `stop - 1`, end to end but for attention."""
        ends, x = _ends(rows), np.concatenate(rows)
        for layer in range(start, stop):
            name = f"encoder.layer.{layer}"
            mixed = self._dense(self._attend(x, ends, f"{name}.attention.self"), f"{name}.attention.output.dense")
            mixed += x
            x = self._norm(mixed, f"{name}.attention.output")
            wide = gelu(self._dense(x, f"{name}.intermediate.dense"))
            narrow = self._dense(wide, f"{name}.output.dense")
            narrow += x
            x = self._norm(narrow, f"{name}.output")
        return np.split(x, ends)

    def _attend(self, x: Vectors, ends: Sequence[int], name: str) -> Vectors:
        parts = [np.split(self._dense(x, f"{name}.{part}"), ends) for part in ("query", "key", "value")]
        return np.concatenate([_mixed(*row) for row in zip(*parts, strict=True)])

    def _dense(self, x: Vectors, name: str) -> Vectors:
        found: Vectors = x @ self._weights[f"{name}.weight"].T
        found += self._weights[f"{name}.bias"]
        return found

    def _norm(self, x: Vectors, name: str) -> Vectors:
        """Put the layer norm of `x` into its place and return it."""
        x -= x.mean(axis=-1, keepdims=True)
        x /= np.sqrt(np.square(x).mean(axis=-1, keepdims=True) + EPSILON)
        x *= self._weights[f"{name}.LayerNorm.weight"]
        x += self._weights[f"{name}.LayerNorm.bias"]
        return x


def _ends(rows: Sequence[Sequence[int] | Vectors]) -> list[int]:
    """Return where each row but the last ends when they lie end to end."""
    ends: list[int] = np.cumsum([len(row) for row in rows])[:-1].tolist()
    return ends


def _mixed(query: Vectors, key: Vectors, value: Vectors) -> Vectors:
    """Attend within one row: (tokens, width) each."""
    heads = [part.reshape(len(part), -1, HEAD).transpose(1, 0, 2) for part in (query, key, value)]
    scores: Vectors = heads[0] @ heads[1].transpose(0, 2, 1)
    scores *= np.float32(HEAD**-0.5)
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    mixed: Vectors = (scores @ heads[2]).transpose(1, 0, 2).reshape(query.shape)
    return mixed


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield row numbers, so many at once that their tokens keep BLAS busy and fit into the cache."""
    batch: list[int] = []
    tokens = 0
    for number, length in enumerate(lengths):
        if batch and tokens + length > BATCH_TOKENS:
            yield batch
            batch, tokens = [], 0
        batch.append(number)
        tokens += length
    if batch:
        yield batch


def gelu(x: Vectors) -> Vectors:
    """Put the exact GELU of `x`, x / 2 * (1 + erf(x / sqrt 2)), into its place and return it."""
    for start in range(0, len(x), _GELU_ROWS):
        part = x[start : start + _GELU_ROWS]
        size = np.abs(part)
        t = _ERF_P * size
        t += 1
        np.reciprocal(t, out=t)
        # How much of the normal distribution lies beyond `size`, by size.
        beyond = t * _ERF_A[0]
        for coefficient in _ERF_A[1:]:
            beyond += coefficient
            beyond *= t
        np.square(size, out=t)
        t *= np.float32(-0.5)
        beyond *= np.exp(t, out=t)
        beyond *= size
        np.maximum(part, 0, out=part)
        part -= beyond
    return x


UNKNOWN = "[UNK]"


def ids(word: str, vocabulary: Mapping[str, int]) -> list[int]:
    """Return the token ids of a word: in lower case, without accents and what cannot be seen."""
    seen = [char for char in normalize("NFD", word) if char != "\ufffd" and category(char)[0] != "C"]
    plain = "".join(char for char in seen if category(char) != "Mn").lower()
    return (spell(plain, vocabulary.get) or [vocabulary[UNKNOWN]]) if plain else []
