"""Settings become providers: how each is built."""

import asyncio
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from memman.config.env import Settings
from memman.config.places import data_dir
from memman.config.providers import AGENTS, AUTO, EMBEDDERS, LLMS, Provider
from memman.model.vocabulary import BUILTIN
from memman.providers.chosen import by_agent, fallback_in_force, llm_in_force, llm_provider, without_role

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from memman.embed import Embedder, LocalEmbedder
    from memman.http import Http
    from memman.llm import LLM
    from memman.llm.builtin import BuiltinLLM


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
    from memman.llm.remote import Price

    kind = adapter(LLMS[without_role(record["provider"])])
    models = {role: record[role] for role in ("fast", "slow")}
    costs = Price(*map(float, price.split(","))) if price else None
    model: LLM = kind(http(), record["endpoint"], key, models, costs, provider=record["provider"])
    return model


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


def builtin_llm(settings: Settings) -> "BuiltinLLM":
    """Build what answers without a key, with the trained judge unless the settings turn it off."""
    from memman.judge.judge import Judge
    from memman.llm.builtin import BuiltinLLM

    return BuiltinLLM(None if settings["MEMMAN_JUDGE"] == "off" else Judge())


@contextmanager
def builtin_embedder() -> "Iterator[LocalEmbedder]":
    """Open the built-in embedder, for what needs no other and no settings."""
    from memman.judge.embedder import BuiltinEmbedder

    local = BuiltinEmbedder()
    try:
        yield local
    finally:
        asyncio.run(local.close())


def embedder(settings: Settings, http: "Callable[[], Http]", local: "Embedder") -> "Embedder":
    """Build the embedder that links and reconciles; `local` is the built-in one."""
    provider = settings["MEMMAN_EMBED_PROVIDER"]
    if provider == BUILTIN:
        return local
    row = EMBEDDERS[provider]
    vectors: Embedder = adapter(row)(
        http(),
        provider,
        settings["MEMMAN_EMBED_ENDPOINT"] or row.endpoint,
        settings["MEMMAN_EMBED_API_KEY"],
        settings["MEMMAN_EMBED_MODEL"] or row.models[0],
        int(settings["MEMMAN_EMBED_DIMENSION"] or 0),
        settings.number("MEMMAN_EMBED_PRICE"),
    )
    return vectors


def adapter(row: Provider) -> Any:
    """Return the class that speaks to a provider."""
    module, _, name = row.adapter.partition(":")
    return getattr(import_module(module), name)
