"""A memory is found by its own meaning first, and by a share of what stands beside it in its session."""

import asyncio

from memman.embed.base import cosines
from memman.judge.embedder import BuiltinEmbedder

OWN, BESIDE = "Petra owns the invoices.", "The nightly crane inspection starts at five."


def nearness(box):
    """Return the cosines of OWN's stored vector to OWN and to BESIDE."""
    row = box.store("SELECT memory, planes, squares FROM vector JOIN memory ON id = memory WHERE text = ?", OWN)[0]
    own, beside = asyncio.run(BuiltinEmbedder().embed([OWN, BESIDE])).vectors
    return [cosines(vector, [row])[row[0]] for vector in (own, beside)]


def test_a_memory_is_near_its_own_text_and_a_little_to_its_neighbours(box):
    """Once its session holds another memory it is nearer to that than before, and still nearest to what it says."""
    box.remember(OWN, session="s1")
    box.drain()
    _, before = nearness(box)
    box.remember(BESIDE, session="s1")
    box.drain()
    own, after = nearness(box)
    assert before < after < own
