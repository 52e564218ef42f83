"""Add the vectors of a configured embedder; the built-in ones exist already."""

from dataclasses import replace

from memman.embed import Embedder, Vectors
from memman.model.records import Fingerprint
from memman.pipeline.plan import Plan, Tools


def version(tools: Tools) -> str:
    """Name what made the vectors."""
    return f"{tools.embedder.fingerprint.provider}/{tools.embedder.fingerprint.model}"


async def embed(tools: Tools, plan: Plan) -> Plan:
    """Embed all facts of the note in one call."""
    if tools.embedder is tools.local or not plan.facts:
        return replace(plan, vectors=plan.local)
    embedding = await tools.embedder.embed([fact.text for fact in plan.facts])
    return replace(plan, vectors=embedding.vectors)


def made_by(embedder: Embedder, vectors: Vectors) -> Fingerprint:
    """Return the fingerprint of `vectors`: journaled ones know their dimension before the embedder has learned it."""
    return replace(embedder.fingerprint, dimension=vectors.shape[1])
