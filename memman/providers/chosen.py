"""What the settings choose: which model and embedder, and what a day may cost."""

from typing import TYPE_CHECKING

from memman.config.env import Settings
from memman.config.keys import host, in_local_network
from memman.config.providers import AGENTS, AUTO, EMBEDDERS, LLMS, TELLS_COST, Provider

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from memman.providers.meter import Budget


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
        return {"provider": provider, "fast": "judge", "slow": "judge", "endpoint": ""}
    row, small = LLMS.get(provider, Provider("")), _small(provider)
    fast, slow = (row.models[0], row.models[-1]) if row.by_http else (small, small)
    return {
        "provider": provider,
        "fast": settings["MEMMAN_LLM_MODEL_FAST"] or fast,
        "slow": settings["MEMMAN_LLM_MODEL_SLOW"] or slow,
        "endpoint": settings["MEMMAN_LLM_ENDPOINT"] or row.endpoint,
    }


# What is said of a model provider, and means nothing to another one.
_OF_PROVIDER = (
    "MEMMAN_LLM_ENDPOINT",
    "MEMMAN_LLM_MODEL_FAST",
    "MEMMAN_LLM_MODEL_SLOW",
    "MEMMAN_LLM_PRICE",
)
# How the settings of a purpose begin, who serves it, and which setting names the provider.
_PURPOSES = (
    ("MEMMAN_LLM", LLMS, "MEMMAN_LLM_PROVIDER"),
    ("MEMMAN_EMBED", EMBEDDERS, "MEMMAN_EMBED_PROVIDER"),
)


def outdated(before: Settings, said: "Mapping[str, str | None]") -> list[str]:
    """Return which settings were for the provider before what is now `said`, None for a default.

    `builtin` leaves all as it is. A key goes where the host changes that it would be sent to.
    """
    found = (*_of_the_former(before, said), *_keys(before, said))
    return [name for name in found if name in before.said and name not in said]


def _of_the_former(before: Settings, said: "Mapping[str, str | None]") -> tuple[str, ...]:
    old, new = (one.get("MEMMAN_LLM_PROVIDER") or "" for one in (before.said, said))
    to_agent = new in {*AGENTS, AUTO} and "MEMMAN_LLM_ENDPOINT" in before.said
    if new in {"", "builtin", old} or (old in {"", "builtin"} and not to_agent):
        return ()
    return (*_OF_PROVIDER, "MEMMAN_LLM_COMMAND") if old in AGENTS else _OF_PROVIDER


def _keys(before: Settings, said: "Mapping[str, str | None]") -> "Iterator[str]":
    after = before.replaced({**dict.fromkeys(_of_the_former(before, said)), **said})
    for purpose, rows, provider in _PURPOSES:
        was, now = (_address(settings, purpose, rows, provider) for settings in (before, after))
        if now and now != was and (was or provider in before.said):
            yield f"{purpose}_API_KEY"


def _address(settings: Settings, purpose: str, rows: "Mapping[str, Provider]", provider: str) -> str:
    """Return the host that is asked for a purpose, '' for none."""
    named = llm_provider(settings) if purpose == "MEMMAN_LLM" else settings[provider]
    row = rows.get(named, Provider(""))
    return host(settings[f"{purpose}_ENDPOINT"] or row.endpoint) if row.by_http else ""


def _small(agent: str) -> str:
    from memman.llm.agent.clients import CLIENTS

    return CLIENTS[agent].model or "default" if agent in CLIENTS else "of each agent"


def in_force(settings: Settings) -> dict[str, dict[str, str]]:
    """Say which providers and models the settings mean; opens no connection."""
    from memman.embed.static import StaticTable

    vectors = settings["MEMMAN_EMBED_PROVIDER"]
    row = EMBEDDERS[vectors]
    model, endpoint = row.models[0] if row.models else StaticTable().model, row.endpoint
    if row.by_http:
        model, endpoint = settings["MEMMAN_EMBED_MODEL"] or model, settings["MEMMAN_EMBED_ENDPOINT"] or endpoint
    return {
        "llm": llm_in_force(settings),
        "embed": {"provider": vectors, "model": model, "endpoint": endpoint},
    }


def unfit(garbles: str, record: "Mapping[str, str]") -> str:
    """Return what the queue's setting GARBLES says of the model in force, '' where it is about another."""
    named = tuple(f"{record['provider']} {record[role]} for " for role in ("fast", "slow"))
    return garbles if garbles.startswith(named) else ""


def budget(settings: Settings) -> "Budget":
    """Return what a day of the model may cost: of an agent within bounds where the settings say none."""
    from memman.providers.meter import OF_AGENTS, Budget

    default = OF_AGENTS if by_agent(settings) else Budget()
    tokens, calls = _whole(settings, "TOKENS"), _whole(settings, "CALLS")
    return Budget(
        settings.number("MEMMAN_BUDGET_USD"),
        default.tokens if tokens is None else tokens,
        default.calls if calls is None else calls,
        unpriced=unpriced(settings).get("llm", ""),
    )


def embed_budget(settings: Settings) -> "Budget":
    """Return what a day of the embedder may cost: only what the settings say."""
    from memman.providers.meter import Budget

    dollars, tokens = settings.number("MEMMAN_BUDGET_USD"), _whole(settings, "TOKENS")
    return Budget(dollars, tokens, unpriced=unpriced(settings).get("embed", ""))


def unpriced(settings: Settings) -> dict[str, str]:
    """Say why calls of `llm` and `embed`, of unknown price, are refused under a budget in dollars."""
    if settings.number("MEMMAN_BUDGET_USD") is None:
        return {}
    found = {}
    for family, record in in_force(settings).items():
        price, at = f"MEMMAN_{family.upper()}_PRICE", host(record["endpoint"])
        free = at == TELLS_COST or (in_local_network(at) and record["provider"] == "ollama")
        if at and not free and not settings[price]:
            found[family] = (
                f"{record['provider']} is not asked: MEMMAN_BUDGET_USD is set, and the price of its calls is unknown; "
                f"set {price} ({'0,0' if family == 'llm' else '0'} if they are free), or "
                "MEMMAN_BUDGET_TOKENS in place of MEMMAN_BUDGET_USD"
            )
    return found


def _whole(settings: Settings, unit: str) -> int | None:
    said = settings.number(f"MEMMAN_BUDGET_{unit}")
    return None if said is None else int(said)
