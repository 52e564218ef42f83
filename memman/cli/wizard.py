"""What install asks a person on a terminal, and what it takes from the shell: the model provider and its key."""

import os
from collections.abc import Callable

import click

from memman.cli.config import masked
from memman.cli.person import confirm
from memman.config.env import Settings
from memman.config.keys import KEYS
from memman.model.errors import BadConfig

_PROVIDERS = {
    "none": ("", "no model: the built-in rules and vectors, nothing leaves this machine"),
    "openrouter": ("openai", "OpenRouter"),
    "openai": ("openai", "any endpoint compatible with OpenAI's"),
    "anthropic": ("anthropic", "Anthropic"),
}
_PROVIDER, _ENDPOINT, _KEY = "MEMMAN_LLM_PROVIDER", "MEMMAN_LLM_ENDPOINT", "MEMMAN_LLM_API_KEY"


def from_shell(data: str) -> dict[str, str]:
    """Return the settings that the shell has and the env file has not: they are read at install and never after."""
    said = Settings.load(data).said
    found = {name: os.environ.get(name, "") for name in KEYS}
    return {name: value for name, value in found.items() if value and said.get(name) != value}


def asked(data: str, settings: dict[str, str]) -> dict[str, str]:
    """Ask which model provider to use, unless that is known; return the settings that follow."""
    if any(name in settings or name in Settings.load(data).said for name in (_PROVIDER, _KEY, _ENDPOINT)):
        return {}
    for name, (_, what) in _PROVIDERS.items():
        click.echo(f"  {name:<11} {what}", err=True)
    choice = click.prompt("Model provider", type=click.Choice(list(_PROVIDERS)), default="none", err=True)
    if choice == "none":
        return {}
    answers = {_PROVIDER: _PROVIDERS[choice][0]}
    if choice == "openai":
        answers[_ENDPOINT] = click.prompt("Base address", value_proc=_valid(_ENDPOINT), err=True)
    key = click.prompt(
        "Key (not shown)", hide_input=True, default="", show_default=False, value_proc=_valid(_KEY), err=True
    )
    return answers | ({_KEY: key} if key else {})


def admit(name: str, value: str) -> None:
    """Raise BadConfig for a value that will not do."""
    Settings({}).replaced({name: value})


def agreed(settings: dict[str, str]) -> None:
    """Have a person agree to where text is sent and with whose key, as the shell says it. Raises ForPeople."""
    said = [f"{name}={shown(name, value)}" for name, value in settings.items()]
    confirm(f"Use {', '.join(settings)} from this shell?", listed=said)


def shown(name: str, value: str) -> str:
    """Return a value for the plan: a secret is masked."""
    return masked(value) if KEYS[name].secret else value


def _valid(name: str) -> Callable[[str], str]:
    def check(value: str) -> str:
        try:
            admit(name, value.strip())
        except BadConfig as error:
            raise click.UsageError(str(error)) from error
        return value.strip()

    return check
