"""`memman providers`: list, compare."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from memman.cli.group import Group
from memman.cli.options import json_option, place, store_option
from memman.cli.person import confirm
from memman.cli.progress import Progress, bar
from memman.cli.show import as_data, table, text
from memman.config.env import Settings
from memman.config.places import data_dir
from memman.model.errors import ProviderError, UsageError
from memman.model.plural import counted

if TYPE_CHECKING:
    from memman.trial.notes import Graded
    from memman.trial.run import Trial

_KEPT = "what was spent so far counts in the ledger; nothing else was kept"


@click.group(cls=Group)
@store_option
def providers() -> None:
    """Show which providers are set up, and compare the model's with the built-in one."""


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


@providers.command()
@click.option("--only", metavar="NAME", default="", help="Try only this provider: the one that is set up, or builtin.")
@json_option
def compare(only: str, as_json: bool) -> int:
    """Have the model's provider and the built-in model work on 40 graded notes, and judge each.

    A provider is billed for it; the calls count in the ledger and within the daily budget. Nothing of your memory is
    read or sent. Exit code 20 to 25 means that a provider could not be tried to the end; a bad verdict leaves it at 0.
    """
    from memman.trial.notes import graded
    from memman.trial.run import accounted, estimate, measure

    settings, notes = Settings.load(data_dir()), graded()
    names = _chosen(settings, only)
    billed = [name for name in names if name != "builtin"]
    if billed:
        calls, tokens = estimate(notes)
        work = f"{counted(len(notes), 'note')}: about {calls} calls and {tokens:,} tokens"
        confirm(f"Have {', '.join(billed)} work on {work}?")
    records, code = [], 0
    with bar("comparing", _KEPT) as progress, accounted(data_dir()) as ledger:
        for place, name in enumerate(names):
            shown = _shifted(progress, place * len(notes), len(names) * len(notes))
            try:
                trial = measure(settings.replaced({"MEMMAN_LLM_PROVIDER": name}), ledger, notes, shown)
                records.append(_record(trial, notes))
            except ProviderError as error:
                records.append({"provider": name, "error": str(error)})
                code = code or error.exit_code
    if as_json:
        as_data(records)
    else:
        _show([record for record in records if "error" not in record])
        for record in records:
            text(f"{record['provider']}: " + (record.get("verdict") or f"not tried to the end: {record['error']}"))
    return code


def _chosen(settings: Settings, only: str) -> tuple[str, ...]:

    from memman.providers import llm_candidates

    names = llm_candidates(settings)
    if only and only not in names:
        raise UsageError(f"{only[:40]!a} is not set up as the model's provider: try {' or '.join(names)}")
    return (only,) if only else names


def _shifted(progress: Progress, before: int, total: int) -> Progress:
    return lambda done, _: progress(before + done, total)


def _record(trial: "Trial", notes: "Sequence[Graded]") -> dict[str, Any]:
    from memman.trial.grade import FAULTS
    from memman.trial.verdict import verdict

    counts = Counter(fault for found in trial.faults for fault in found)
    says = verdict(notes, trial.faults)
    return {
        "provider": trial.provider,
        "model": _models(trial.models),
        "notes": len(notes),
        "right": sum(not found for found in trial.faults),
        **{fault: counts[fault] for fault in FAULTS},
        "calls": trial.calls,
        "tokens_in": trial.tokens_in,
        "tokens_out": trial.tokens_out,
        "usd": trial.cost,
        "seconds": round(trial.seconds, 1),
        "level": says.level,
        "verdict": says.says,
        "wrong": {note.id: list(found) for note, found in zip(notes, trial.faults, strict=True) if found},
    }


def _show(records: Sequence[dict[str, Any]]) -> None:
    """Print a line of figures for each, under a common head."""
    from memman.trial.grade import FAULTS

    if records:
        head = ("provider", "model", "right", *FAULTS, "calls", "tokens", "cost", "seconds")
        table([tuple(name.replace("_", " ") for name in head), *(_row(record, FAULTS) for record in records)])


def _row(record: dict[str, Any], faults: Iterable[str]) -> tuple[object, ...]:
    usd, tokens = record["usd"], record["tokens_in"] + record["tokens_out"]
    return (
        record["provider"],
        record["model"],
        f"{record['right']} of {record['notes']}",
        *(record[fault] for fault in faults),
        record["calls"],
        tokens,
        "unknown" if usd is None else f"{usd:.4f} USD",
        record["seconds"],
    )


def _models(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))
