"""Embedders behind one Protocol: one file per provider, a built-in one among them.

The names live in `memman.embed.base` and are fetched on first use, so that the
hot path can import `memman.embed.static` without paying for numpy (57 ms).
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.embed.base import Embedder, Embedding, LocalEmbedder, Vectors

__all__ = ["Embedder", "Embedding", "LocalEmbedder", "Vectors"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from memman.embed import base

    value: object = getattr(base, name)
    globals()[name] = value
    return value
