"""What install asks a person on a terminal, and what it takes from the shell: the model provider and its key."""

import os
from collections.abc import Iterable, Mapping

import click

from memman.commands.config import abbreviated
from memman.commands.person import confirm
from memman.config.env import NETWORK, Settings, shell_only
from memman.config.keys import KEYS
from memman.config.providers import LLMS
from memman.config.stores import names
from memman.llm.agent.clients import CLIENTS
from memman.llm.agent.offer import here, sentence
from memman.llm.agent.program import find
from memman.model.errors import BadConfig

_PROVIDERS = {
    "none": ("", LLMS["builtin"].help),
    "openrouter": ("openai", "OpenRouter"),
    **{name: (name, row.help) for name, row in LLMS.items() if row.by_http},
}
# Keys that memman 0.15 took: variable -> (who is asked with it, what it is for, the provider as a setting). Each names
# the one address that it goes to.
_VENDORS = {
    "OPENROUTER_API_KEY": ("OpenRouter", "MEMMAN_LLM_", "openai"),
    "VOYAGE_API_KEY": ("Voyage", "MEMMAN_EMBED_", "voyage"),
}
_TRIES = 3  # answers that will not do
_PROVIDER, _ENDPOINT, _KEY = "MEMMAN_LLM_PROVIDER", "MEMMAN_LLM_ENDPOINT", "MEMMAN_LLM_API_KEY"
_FAST, _SLOW = "MEMMAN_LLM_MODEL_FAST", "MEMMAN_LLM_MODEL_SLOW"
_COMMAND = "MEMMAN_LLM_COMMAND"


def from_shell(data: str) -> dict[str, str]:
    """Return the settings that the shell has and the env file has not: they are read at install and never after."""
    said = Settings.load(data).said
    found = {name: os.environ.get(name, "") for name in KEYS}
    return {name: value for name, value in found.items() if value and said.get(name) != value}


def offered(data: str, shell: Mapping[str, str]) -> dict[str, str]:
    """Return what else the shell has that may be used: variable -> what is done with it.

    Vendors' keys, but not where anything is said of their purpose already, nor for the vectors of a store that there
    is; and where a provider is chosen, a proxy and certificates.
    """
    settings, found = Settings.load(data), {}
    said = {*settings.said, *shell}
    for variable, (vendor, purpose, _) in _VENDORS.items():
        spoken_for = any(name.startswith(purpose) for name in said) or (vendor == "Voyage" and names(data))
        if os.environ.get(variable) and not spoken_for:
            found[variable] = f"from the next drain on, notes and memories are sent to {vendor}"
    if found or said & {_PROVIDER, _KEY, _ENDPOINT, "MEMMAN_EMBED_PROVIDER"}:
        found |= dict.fromkeys(shell_only(settings).values(), "drains reach the provider by it")
    return found


def taken_over(variables: Iterable[str]) -> dict[str, str]:
    """Return the settings that these variables of the shell make."""
    settings: dict[str, str] = {}
    for variable in variables:
        value = os.environ[variable].strip()
        if variable in _VENDORS:
            _, purpose, provider = _VENDORS[variable]
            settings |= {f"{purpose}PROVIDER": provider, f"{purpose}API_KEY": value}
        else:
            settings |= {name: value for name, variables_ in NETWORK.items() if variable in variables_}
    return settings


def asked(data: str, settings: dict[str, str]) -> dict[str, str]:
    """Ask which model provider to use, unless that is known; return the settings that follow."""
    if any(name in settings or name in Settings.load(data).said for name in (_PROVIDER, _KEY, _ENDPOINT)):
        return {}
    agents = {client.name: sentence(client) for client in here()}
    for name, what in ({name: what for name, (_, what) in _PROVIDERS.items()} | agents).items():
        click.echo(f"  {name:<11} {what}", err=True)
    choice = click.prompt("Model provider", type=click.Choice([*_PROVIDERS, *agents]), default="none", err=True)
    if choice == "none":
        return {}
    if choice in agents:
        return by_agent(choice)
    answers = {_PROVIDER: _PROVIDERS[choice][0]}
    if choice == "openai":
        answers[_ENDPOINT] = _typed("Base URL (empty: no model)", _ENDPOINT)
        if not answers[_ENDPOINT]:
            return {}
    key = _typed("Key (not shown)", _KEY, hide=True)
    # The usual models are OpenRouter's; another endpoint has its own.
    model = _typed(f"Model (empty: {', '.join(LLMS[choice].models)})", _FAST) if choice == "openai" else ""
    return answers | ({_KEY: key} if key else {}) | ({_FAST: model, _SLOW: model} if model else {})


def by_agent(name: str) -> dict[str, str]:
    """Return the settings that make an agent the model, its program as it is found now."""
    program = find(CLIENTS[name].program) if name in CLIENTS else ""
    return {_PROVIDER: name} | ({_COMMAND: program} if program else {})


def admit(name: str, value: str) -> None:
    """Raise BadConfig for a value that will not do."""
    Settings({}).replaced({name: value})


def agreed(settings: dict[str, str]) -> None:
    """Have a person agree to where text is sent and with whose key, as the shell says it. Raises ForPeople."""
    said = [f"{name}={shown(name, value)}" for name, value in settings.items()]
    confirm(f"Use {', '.join(settings)} from this shell?", listed=said)


def shown(name: str, value: str) -> str:
    """Return a value for the plan: of a secret its last characters, or the variable of the shell that holds it."""
    variable = next((one for one in (*_VENDORS, *NETWORK.get(name, ())) if os.environ.get(one) == value), "")
    return (f"${variable}" if variable else abbreviated(value)) if KEYS[name].secret else value


def _typed(question: str, name: str, *, hide: bool = False) -> str:
    """Ask for the value of a setting; '' for no answer, and for answers that will not do."""
    for _ in range(_TRIES):
        value: str = click.prompt(question, default="", show_default=False, hide_input=hide, err=True).strip()
        try:
            if value:
                admit(name, value)
        except BadConfig as error:
            click.echo(str(error), err=True)
        else:
            return value
    return ""
