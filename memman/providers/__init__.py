"""Models and embedders: what the settings choose, how each is built, and what stands around it in a drain."""

from memman.providers.build import (
    agent_llm,
    builtin_embedder,
    builtin_llm,
    embedder,
    fallback_llm,
    llm,
)
from memman.providers.chosen import (
    agent_budgets,
    budget,
    by_agent,
    capture,
    fallback_in_force,
    in_force,
    llm_in_force,
    llm_provider,
    outdated,
    said_budget,
    unpriced,
    without_role,
)

__all__ = [
    "agent_budgets",
    "agent_llm",
    "budget",
    "builtin_embedder",
    "builtin_llm",
    "by_agent",
    "capture",
    "embedder",
    "fallback_in_force",
    "fallback_llm",
    "in_force",
    "llm",
    "llm_in_force",
    "llm_provider",
    "outdated",
    "said_budget",
    "unpriced",
    "without_role",
]
