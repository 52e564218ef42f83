"""The stems of texts that a drain meets again and again."""

from functools import lru_cache

from memman.model import terms

# Texts kept: the candidates of a few hundred notes.
KEPT = 4_096

stems = lru_cache(KEPT)(terms.stems)
