"""The judge in torch: the first layers of MiniLM, and a head for each question."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional

from memman.embed.bert import EPSILON, HEAD, Weights
from memman.judge.encoder import EARLY
from memman.judge.judge import ABOUT

# Elements of the hidden layer of the head that looks early.
EARLY_WIDE = 128


class Layer(nn.Module):
    """One layer of BERT."""

    def __init__(self, width: int, wide: int) -> None:
        super().__init__()
        self.query, self.key, self.value, self.mix = (nn.Linear(width, width) for _ in range(4))
        self.widen, self.narrow = nn.Linear(width, wide), nn.Linear(wide, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width, float(EPSILON)) for _ in range(2))

    def forward(self, x: Tensor, hidden: Tensor, drop: float) -> Tensor:
        """Map (rows, tokens, width) to the same; `hidden` is added to what each token pays to each."""
        rows, tokens, width = x.shape
        query, key, value = (
            part(x).view(rows, tokens, width // HEAD, HEAD).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        scores = query @ key.transpose(2, 3) / HEAD**0.5 + hidden
        mixed = scores.softmax(-1) @ value
        mixed = self.mix(mixed.transpose(1, 2).reshape(rows, tokens, width))
        x = self.norms[0](x + mixed)
        wide = self.narrow(functional.gelu(self.widen(x)))
        return self.norms[1](x + functional.dropout(wide, drop, self.training))


class Judge(nn.Module):
    """Encoder and heads. Token ids (rows, tokens), 0 where there is none; `second` is 1 for the newer of two texts."""

    def __init__(self, weights: Mapping[str, Tensor], layers: int, tokens: int, relations: int, kinds: int) -> None:
        super().__init__()
        table = weights["embeddings.word_embeddings.weight"]
        width = table.shape[1]
        extra = table[1000:].mean(0) + table[1000:].std(0) * torch.randn(tokens - len(table), width)
        self.words = nn.Parameter(torch.cat([table, extra]))
        self.places = nn.Parameter(weights["embeddings.position_embeddings.weight"][:256].clone())
        self.types = nn.Parameter(weights["embeddings.token_type_embeddings.weight"].clone())
        self.norm = nn.LayerNorm(width, float(EPSILON))
        self.layers = nn.ModuleList(Layer(width, 4 * width) for _ in range(layers))
        self.relate = nn.Sequential(
            nn.Linear(4 * width, width), nn.GELU(), nn.Dropout(0.1), nn.Linear(width, relations)
        )
        self.keep = nn.Linear(width, 1)
        self.kind = nn.Linear(width, kinds)
        self.about = nn.Linear(width, ABOUT)
        self.early = nn.Sequential(nn.Linear(4 * width, EARLY_WIDE), nn.GELU(), nn.Linear(EARLY_WIDE, 1))
        self._load(weights)

    def _load(self, weights: Mapping[str, Tensor]) -> None:
        named = dict(self.named_parameters())
        with torch.no_grad():
            for ours, theirs in names(len(self.layers)).items():
                if ours in named and ours.startswith(("norm", "layers")):
                    named[ours].copy_(weights[theirs])

    def states(self, ids: Tensor, second: Tensor, drop: float = 0.1) -> Tensor:
        """Last hidden states: (rows, tokens, width)."""
        return self._layered(ids, second, drop)[1]

    def _layered(self, ids: Tensor, second: Tensor, drop: float = 0.1) -> tuple[Tensor, Tensor]:
        """Return the hidden states after EARLY layers and after all: (rows, tokens, width) each."""
        x = self.words[ids] + self.places[: ids.shape[1]] + self.types[second]
        x = early = functional.dropout(self.norm(x), drop, self.training)
        hidden = torch.where(ids == 0, -1e9, 0.0)[:, None, None, :]
        for n, layer in enumerate(self.layers, 1):
            x = layer(x, hidden, drop)
            early = x if n == EARLY else early
        return early, x

    def relations(self, ids: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
        """Logits of what newer texts do to older ones (rows, relations), early ones of whether they bear on them."""
        early, last = self._layered(ids, second)
        return self.relate(_both(last, ids, second)), self.early(_both(early, ids, second))[:, 0]

    def vectors(self, ids: Tensor) -> Tensor:
        """Return unit vectors of what statements speak of: (rows, ABOUT)."""
        x = self.states(ids, torch.zeros_like(ids))
        there = (ids > 0).float()[..., None]
        return functional.normalize(self.about((x * there).sum(1) / there.sum(1)), dim=1)

    def spans(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Logits of keeping each token (rows, tokens), and of the kinds (rows, tokens, kinds)."""
        x = self.states(ids, torch.zeros_like(ids))
        return self.keep(x)[..., 0], self.kind(x)


def _both(x: Tensor, ids: Tensor, second: Tensor) -> Tensor:
    """Put the first state of each row and the means of its two texts side by side: (rows, 4 * width)."""
    there = (ids > 0).float()
    old, new = (
        (x * part[..., None]).sum(1) / part.sum(1, keepdim=True).clamp(min=1)
        for part in (there * (1 - second), there * second)
    )
    return torch.cat([x[:, 0], old, new, (old - new).abs()], 1)


def names(layers: int) -> dict[str, str]:
    """Name MiniLM's tensors after ours."""
    found = {"norm.weight": "embeddings.LayerNorm.weight", "norm.bias": "embeddings.LayerNorm.bias"}
    parts = {
        "query": "attention.self.query", "key": "attention.self.key", "value": "attention.self.value",
        "mix": "attention.output.dense", "norms.0": "attention.output.LayerNorm",
        "widen": "intermediate.dense", "narrow": "output.dense", "norms.1": "output.LayerNorm",
    }  # fmt: skip
    for layer in range(layers):
        for ours, theirs in parts.items():
            for end in ("weight", "bias"):
                found[f"layers.{layer}.{ours}.{end}"] = f"encoder.layer.{layer}.{theirs}.{end}"
    return found


def minilm(weights: Weights) -> dict[str, Tensor]:
    """Turn MiniLM's arrays into tensors."""
    return {name: torch.tensor(array) for name, array in weights.items()}
