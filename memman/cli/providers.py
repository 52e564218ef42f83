"""`memman providers list`."""

from collections.abc import Iterable

import click

from memman.cli.group import Group
from memman.cli.options import json_option, place, store_option
from memman.cli.show import as_data, table
from memman.config.env import Settings


@click.group(cls=Group)
@store_option
def providers() -> None:
    """Show which providers are set up."""


@providers.command("list")
@json_option
@store_option
def list_(as_json: bool) -> None:
    """Show which providers and models serve the store as language model, embedder and reranker."""
    where = place()
    settings = Settings.load(where.data, where.name)
    from memman.providers import in_force

    record = in_force(settings)
    llm, embed = record["llm"], record["embed"]
    rows = [
        {
            "for": "llm",
            "provider": llm["provider"],
            "model": _models((llm["fast"], llm["slow"])),
            "at": llm["endpoint"],
        },
        {"for": "embed", "provider": embed["provider"], "model": embed["model"], "at": embed["endpoint"]},
        {"for": "rerank"} | _reranker(settings),
    ]
    if as_json:
        as_data(rows)
    else:
        table([tuple(rows[0]), *(tuple(row.values()) for row in rows)])


def _reranker(settings: Settings) -> dict[str, str]:
    from memman.config.providers import RERANKERS

    provider = settings["MEMMAN_RERANK_PROVIDER"]
    if not provider:
        return {"provider": "none", "model": "", "at": ""}
    row = RERANKERS[provider]
    return {
        "provider": provider,
        "model": settings["MEMMAN_RERANK_MODEL"] or row.models[0],
        "at": settings["MEMMAN_RERANK_ENDPOINT"] or row.endpoint,
    }


def _models(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))
