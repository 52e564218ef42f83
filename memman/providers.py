"""Providers by the settings: which model and embedder they mean, what a day may cost, and how each is built."""

import asyncio
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from memman.config.env import Settings
from memman.config.keys import AGENTS, AUTO, BUILTIN_LAST
from memman.config.places import data_dir
from memman.model.vocabulary import LOCAL, MINILM

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from memman.drain.meter import Budget
    from memman.embed import Embedder, LocalEmbedder
    from memman.http import Http
    from memman.llm import LLM
    from memman.llm.builtin import BuiltinLLM
    from memman.model.records import Fingerprint

# Read when numpy is first imported: a drain's matrices are small, and beside an agent at work, threads that wait for
# each other make MiniLM six times slower.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Provider -> (endpoint, fast model, slow model).
_LLM_DEFAULTS = {
    "openai": ("https://openrouter.ai/api/v1", "anthropic/claude-haiku-4.5", "anthropic/claude-sonnet-4.5"),
    "anthropic": ("https://api.anthropic.com", "claude-haiku-4-5", "claude-sonnet-4-5"),
}
_FALLBACK = "fallback "
# Provider -> (endpoint, model).
EMBED_DEFAULTS = {
    "openai": ("https://api.openai.com/v1", "text-embedding-3-small"),
    "voyage": ("https://api.voyageai.com/v1", "voyage-3.5-lite"),
    "ollama": ("http://127.0.0.1:11434", "nomic-embed-text"),
    MINILM: ("", "all-MiniLM-L6-v2"),
}


def llm_provider(settings: Settings) -> str:
    """Return which model provider the settings mean."""
    reachable = settings["MEMMAN_LLM_API_KEY"] or settings["MEMMAN_LLM_ENDPOINT"]
    return settings["MEMMAN_LLM_PROVIDER"] or ("openai" if reachable else "builtin")


def by_agent(settings: Settings) -> bool:
    """Whether the user's own agent is the model."""
    return llm_provider(settings) in {*AGENTS, AUTO}


def capture(settings: Settings) -> str:
    """Return what the settings keep of an agent's turns."""
    by_default = "corrections" if llm_provider(settings) == "builtin" or by_agent(settings) else "turns"
    return settings["MEMMAN_CAPTURE"] or by_default


def llm_in_force(settings: Settings) -> dict[str, str]:
    """Say which provider, models and endpoint the settings mean."""
    provider = llm_provider(settings)
    if provider == "builtin":
        model = "structure" if settings["MEMMAN_JUDGE"] == "off" else "judge"
        return {"provider": provider, "fast": model, "slow": model, "endpoint": ""}
    endpoint, fast, slow = _LLM_DEFAULTS.get(provider) or ("", _small(provider), _small(provider))
    return {
        "provider": provider,
        "fast": settings["MEMMAN_LLM_MODEL_FAST"] or fast,
        "slow": settings["MEMMAN_LLM_MODEL_SLOW"] or slow,
        "endpoint": settings["MEMMAN_LLM_ENDPOINT"] or endpoint,
    }


def _small(agent: str) -> str:
    from memman.llm.agent.clients import CLIENTS

    return CLIENTS[agent].model or "default" if agent in CLIENTS else "of each agent"


def _as_fallback(provider: str) -> str:
    return _FALLBACK + provider


def without_role(provider: str) -> str:
    """Return a provider's name without what marks it as the fallback."""
    return provider.removeprefix(_FALLBACK)


def fallback_in_force(settings: Settings) -> dict[str, str]:
    """Say the same of the provider that stands in for the first, if there is one."""
    provider = settings["MEMMAN_LLM_FALLBACK"].removesuffix(BUILTIN_LAST)
    first = llm_provider(settings)
    if provider not in {*_LLM_DEFAULTS, *AGENTS} or first == "builtin" or (first == provider and first in AGENTS):
        return {}
    endpoint, fast, slow = _LLM_DEFAULTS.get(provider) or ("", _small(provider), _small(provider))
    named = settings["MEMMAN_LLM_FALLBACK_MODEL"]
    return {
        "provider": _as_fallback(provider),
        "fast": named or fast,
        "slow": named or slow,
        "endpoint": settings["MEMMAN_LLM_FALLBACK_ENDPOINT"] or endpoint,
    }


def llm(settings: Settings, http: "Callable[[], Http]") -> "LLM":
    """Build the configured model."""
    record, price = llm_in_force(settings), settings["MEMMAN_LLM_PRICE"]
    if record["provider"] == "builtin":
        return builtin_llm(settings)
    if by_agent(settings):
        return agent_llm(settings)
    return _remote_llm(record, http, settings["MEMMAN_LLM_API_KEY"], price)


def fallback_llm(settings: Settings, http: "Callable[[], Http]") -> "LLM | None":
    """Build the model that stands in for the first, None where the settings name none but the built-in one."""
    record = fallback_in_force(settings)
    if not record:
        return None
    if record["endpoint"]:
        return _remote_llm(record, http, settings["MEMMAN_LLM_FALLBACK_API_KEY"])
    named = settings["MEMMAN_LLM_FALLBACK_MODEL"]
    return _agent(without_role(record["provider"]), {"fast": named, "slow": named}, provider=record["provider"])


def _remote_llm(record: dict[str, str], http: "Callable[[], Http]", key: str, price: str = "") -> "LLM":
    from memman.llm.anthropic import AnthropicMessages
    from memman.llm.openai import OpenAICompatible
    from memman.llm.remote import Price

    kind = {"openai": OpenAICompatible, "anthropic": AnthropicMessages}[without_role(record["provider"])]
    models = {role: record[role] for role in ("fast", "slow")}
    costs = Price(*map(float, price.split(","))) if price else None
    return kind(http(), record["endpoint"], key, models, costs, provider=record["provider"])


def agent_llm(settings: Settings, wrapped: "Callable[[LLM], LLM]" = lambda agent: agent) -> "LLM":
    """Build the user's own agent as the model; with `auto` one of them for each note. Each is `wrapped`."""
    from memman.llm.agent.auto import WhicheverAgent

    provider = llm_provider(settings)
    if provider == AUTO:
        return WhicheverAgent({name: wrapped(_agent(name, {})) for name in AGENTS})
    models = {"fast": settings["MEMMAN_LLM_MODEL_FAST"], "slow": settings["MEMMAN_LLM_MODEL_SLOW"]}
    return wrapped(_agent(provider, models, settings["MEMMAN_LLM_COMMAND"]))


def _agent(name: str, models: dict[str, str], command: str = "", provider: str = "") -> "LLM":
    from memman.llm.agent.clients import CLIENTS
    from memman.llm.agent.model import AgentModel

    return AgentModel(CLIENTS[name], f"{data_dir()}/agent/{name}", models, command, provider=provider)


def llm_candidates(settings: Settings) -> tuple[str, ...]:
    """Return the model providers that can be compared under these settings, the one in force first."""
    return tuple(dict.fromkeys((llm_provider(settings), "builtin")))


def budget(settings: Settings) -> "Budget":
    """Return what a day of the model may cost: of an agent within bounds where the settings say none."""
    from memman.drain.meter import OF_AGENTS, Budget

    default = OF_AGENTS if by_agent(settings) else Budget()
    tokens, calls = _whole(settings, "TOKENS"), _whole(settings, "CALLS")
    return Budget(
        settings.number("MEMMAN_BUDGET_USD"),
        default.tokens if tokens is None else tokens,
        default.calls if calls is None else calls,
    )


def agent_budgets(settings: Settings) -> "tuple[Budget, Budget]":
    """Return what bounds an agent: what the settings say of all providers, and of what they do not, the defaults."""
    from memman.drain.meter import OF_AGENTS, Budget

    said = Budget(settings.number("MEMMAN_BUDGET_USD"), _whole(settings, "TOKENS"), _whole(settings, "CALLS"))
    tokens = OF_AGENTS.tokens if said.tokens is None else None
    calls = OF_AGENTS.calls if said.calls is None else None
    return said, Budget(tokens=tokens, calls=calls, of=(*AGENTS, *map(_as_fallback, AGENTS)))


def said_budget(settings: Settings) -> "Budget":
    """Return what a day may cost of what is no agent's: only what the settings say."""
    from memman.drain.meter import Budget

    return Budget(settings.number("MEMMAN_BUDGET_USD"), _whole(settings, "TOKENS"))


def _whole(settings: Settings, unit: str) -> int | None:
    said = settings.number(f"MEMMAN_BUDGET_{unit}")
    return None if said is None else int(said)


def builtin_llm(settings: Settings) -> "BuiltinLLM":
    """Build what answers without a key, with the trained judge unless the settings turn it off."""
    from memman.judge.judge import Judge
    from memman.llm.builtin import BuiltinLLM

    return BuiltinLLM(None if settings["MEMMAN_JUDGE"] == "off" else Judge())


@contextmanager
def builtin_embedder() -> "Iterator[LocalEmbedder]":
    """Open the built-in embedder, for what needs no other and no settings."""
    from memman.embed.builtin import BuiltinEmbedder

    local = BuiltinEmbedder()
    try:
        yield local
    finally:
        asyncio.run(local.close())


def embedder(settings: Settings, http: "Callable[[], Http]", local: "Embedder") -> "Embedder":
    """Build the embedder that links and reconciles; `local` is the built-in one, and does it for MiniLM too."""
    provider = settings["MEMMAN_EMBED_PROVIDER"]
    if provider in LOCAL:
        return local
    from memman.embed.remote import RemoteEmbedder

    endpoint, model = EMBED_DEFAULTS[provider]
    return RemoteEmbedder(
        http(),
        provider,
        settings["MEMMAN_EMBED_ENDPOINT"] or endpoint,
        settings["MEMMAN_EMBED_API_KEY"],
        settings["MEMMAN_EMBED_MODEL"] or model,
        int(settings["MEMMAN_EMBED_DIMENSION"] or 0),
        settings.number("MEMMAN_EMBED_PRICE"),
    )


def check_installed(settings: Settings) -> None:
    """Raise ProviderMisconfigured where the settings name an embedder of this machine that is not installed."""
    if settings["MEMMAN_EMBED_PROVIDER"] == MINILM:
        from memman.embed.minilm import installed

        installed()


def embedded_by(settings: Settings, http: "Callable[[], Http]", local: "Embedder") -> "Fingerprint":
    """Name what the settings have stored memories embedded by; asks nothing, and needs nothing installed."""
    if settings["MEMMAN_EMBED_PROVIDER"] == MINILM:
        from memman.embed.minilm import FINGERPRINT

        return FINGERPRINT
    return embedder(settings, http, local).fingerprint


def in_force(settings: Settings) -> dict[str, dict[str, str]]:
    """Say which providers and models the settings mean; opens no connection."""
    from memman.embed.static import StaticTable

    vectors = settings["MEMMAN_EMBED_PROVIDER"]
    endpoint, model = EMBED_DEFAULTS.get(vectors, ("", StaticTable().model))
    if vectors not in LOCAL:
        endpoint, model = settings["MEMMAN_EMBED_ENDPOINT"] or endpoint, settings["MEMMAN_EMBED_MODEL"] or model
    return {
        "llm": llm_in_force(settings),
        "fallback": fallback_in_force(settings),
        "embed": {"provider": vectors, "model": model, "endpoint": endpoint},
    }
