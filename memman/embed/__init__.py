"""Embedders behind one Protocol, loaded on first use: numpy costs 57 ms."""

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
