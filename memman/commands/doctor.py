"""`memman doctor`."""

from collections import Counter
from dataclasses import asdict

import click

from memman.commands.printing import printed, text
from memman.commands.verb import json_option, verb
from memman.config.places import data_dir
from memman.doctor import CHECKS, examine
from memman.doctor.finding import Context, Finding
from memman.model.plural import counted

_MARKS = {"ok": "ok", "skipped": "-", "warn": "warn", "fail": "FAIL"}
_WIDTH = max(map(len, CHECKS))


@verb(store=False)
@click.option(
    "--check", "names", multiple=True, type=click.Choice(tuple(CHECKS)), help="Run only this check; may be repeated."
)
@click.option(
    "--billable",
    is_flag=True,
    help="Also ask the model and the embedder a few words, which is billed.",
)
@json_option
def doctor(names: tuple[str, ...], billable: bool, as_json: bool) -> int:
    """Check that everything works, and print how to fix what does not.

    Changes nothing. Exit code 1 means that a check failed; warnings leave it at 0.
    """
    findings = []
    for name, finding in examine(Context(data_dir(), billable=billable), names):
        findings.append((name, finding))
        if not as_json:
            _print(name, finding)
    counts = Counter(finding.status for _, finding in findings)
    healthy = not counts["fail"] and not counts["warn"]
    told = [{"check": name} | asdict(finding) for name, finding in findings]
    if not printed({"healthy": healthy, "findings": told}, as_json=as_json):
        text("healthy" if healthy else f"{counted(counts['fail'], 'failure')}, {counted(counts['warn'], 'warning')}")
    return 1 if counts["fail"] else 0


def _print(name: str, finding: Finding) -> None:
    text(f"{_MARKS[finding.status]:<5} {name:<{_WIDTH}}  {finding.says}")
    for label, more in (("note", finding.hint), ("fix", finding.mend)):
        if more:
            text(f"{'':<{_WIDTH + 6}}  {label}: {more}")
