"""Whether a model does what each line of a prompt asks: a small question for each, and what a right answer holds.

`python -m bench.prompts` asks the model that the settings choose; `--sheet FILE` writes the questions down for somebody
to answer instead, a JSON line each, and `--answers FILE` grades what came back ({"id": ..., "reply": {...}} a line).
`--bare` asks with nothing but a prompt's first sentence: what is right all the same, a model does unasked.
"""

import argparse
import asyncio
import calendar
import json
import re
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memman.config.env import Settings
from memman.config.places import data_dir
from memman.model.errors import ProviderError
from memman.model.records import Candidate, Fact, Note, Provenance, Request
from memman.pipeline import extract, reconcile
from memman.pipeline.capture import Heard
from memman.pipeline.plan import Plan
from memman.providers.pool import Providers

CASES = Path(__file__).parent / "data" / "prompts" / "cases.jsonl"


@dataclass(frozen=True, slots=True)
class Case:
    """One question and what is asked of its answer.

    `lines` are the parts of the prompt of `task` that it is for; whoever was never told them may well give `wrong`.
    """

    id: str
    task: str
    lines: tuple[str, ...]
    given: Mapping[str, Any]
    right: Mapping[str, Any]
    wrong: Mapping[str, Any]
    checks: Mapping[str, Any]

    def request(self) -> Request:
        """Return the question as the product puts it."""
        return _REQUESTS[self.task](self.given)

    def accepts(self, reply: Mapping[str, Any]) -> bool:
        """Whether a reply is right."""
        try:
            return (_compared if self.task == "reconcile" else _found)(self.checks, reply)
        except (KeyError, TypeError, AttributeError):
            return False


def cases() -> list[Case]:
    """Read all of them."""
    rows = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    own = ("id", "task", "lines", "right", "wrong", "checks")
    return [
        Case(
            given={name: value for name, value in row.items() if name not in own},
            lines=tuple(row["lines"]),
            **{name: row[name] for name in own if name != "lines"},
        )
        for row in rows
    ]


def bare(request: Request) -> str:
    """Return the first sentence of a question's prompt."""
    return request.system.split(". ")[0].split("\n")[0].rstrip(".") + "."


def _noted(given: Mapping[str, Any]) -> Request:
    note = Note("n", "default", given["text"], 0, provenance=Provenance(given["source"]))
    return extract._request(note)  # noqa: SLF001 - the product's own question


def _turn(given: Mapping[str, Any]) -> Request:
    note = Note("n", "default", given["user"], 0, channel="turn", reply=given["agent"])
    return Heard.of(note).request(note)


def _pair(given: Mapping[str, Any]) -> Request:
    offered = [
        Candidate(f"m{n}", memory["text"], "fact", (), _moment(memory["day"]), 1.0)
        for n, memory in enumerate(given["memories"])
    ]
    facts = tuple(map(Fact, given["facts"]))
    note = Note("n", "default", " ".join(given["facts"]), _moment(given["day"]))
    plan = Plan(note, facts=facts, candidates=(tuple(offered),) * len(facts))
    return reconcile._request(plan, offered)  # noqa: SLF001 - the same


def _moment(day: str) -> int:
    return calendar.timegm(time.strptime(day, "%Y-%m-%d")) * 1000


_REQUESTS = {"extract": _noted, "turn": _turn, "reconcile": _pair}


def _found(checks: Mapping[str, Any], reply: Mapping[str, Any]) -> bool:
    """Whether the facts of a reply are those asked for."""
    facts = reply["facts"]
    least, most = checks.get("count", (0, len(facts)))
    unsaid = any(_has(pattern, fact["text"]) for pattern in checks.get("unsaid", ()) for fact in facts)
    wanted = all(any(_meets(fact, item) for fact in facts) for item in checks.get("found", ()))
    return least <= len(facts) <= most and not unsaid and wanted


def _meets(fact: Mapping[str, Any], item: Mapping[str, Any]) -> bool:
    low, high = item.get("importance", (1, 5))
    return (
        all(_has(pattern, fact["text"]) for pattern in item["text"])
        and fact["category"] in item.get("category", [fact["category"]])
        and low <= fact["importance"] <= high
        and all(item.get(name, fact.get(name)) == fact.get(name) for name in ("speaker", "scope"))
        and all(_has(item.get(name, ""), " ".join(fact[name])) for name in ("keywords", "entities"))
        and _has(item.get("summary", ""), fact["summary"])
    )


def _compared(checks: Mapping[str, Any], reply: Mapping[str, Any]) -> bool:
    """Whether the verdicts and causes of a reply are those asked for."""
    verdicts = {(one["fact"], one["action"], one["memory"]) for one in reply["verdicts"]}
    causes = {(one["cause"], one["effect"], one["kind"]) for one in reply["causes"]}
    rests = {str(one["memory"]): one["rest"] for one in reply["verdicts"] if one["action"] != "NONE"}
    return (
        _within(verdicts, checks, "verdicts", "may")
        and _within(causes, checks, "causes", "may_cause")
        and all(_rest(rests[memory], said) for memory, said in checks.get("rest", {}).items() if memory in rests)
        and not any(
            _has(pattern, rests.get(memory, ""))
            for memory, said in checks.get("not_in_rest", {}).items()
            for pattern in said
        )
    )


def _within(got: set[tuple[Any, ...]], checks: Mapping[str, Any], must: str, may: str) -> bool:
    if must not in checks:
        return True
    asked = set(map(tuple, checks[must]))
    return asked <= got <= asked | set(map(tuple, checks.get(may, ())))


def _rest(said: str, patterns: list[str]) -> bool:
    return all(_has(pattern, said) for pattern in patterns) if patterns else not said.strip()


def _has(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE) is not None


async def _asked(chosen: Iterable[Case], *, plain: bool) -> dict[str, Any]:
    """Ask the model that the settings choose; '' for what it could not answer."""
    providers = Providers(data_dir(), Settings.load(data_dir()))
    model, replies = providers.model(), {}
    try:
        for case in chosen:
            request = case.request()
            if plain:
                request = Request(
                    **{name: getattr(request, name) for name in request.__slots__} | {"system": bare(request)}
                )
            try:
                replies[case.id] = (await model.complete(request)).data
            except ProviderError as error:
                print(f"{case.id}: {error}", file=sys.stderr)
    finally:
        await providers.close()
    return replies


def graded(chosen: list[Case], replies: Mapping[str, Any]) -> dict[str, bool]:
    """Say of each case whether its reply is right."""
    return {case.id: case.id in replies and case.accepts(replies[case.id]) for case in chosen}


def main() -> None:
    """Ask or grade, and print one row per task and what was wrong."""
    parser = argparse.ArgumentParser(prog="python -m bench.prompts", description=__doc__.split("\n")[0])
    parser.add_argument("--bare", action="store_true", help="ask with the first sentence of each prompt alone")
    parser.add_argument("--sheet", type=Path, help="write the questions to this file and ask nobody")
    parser.add_argument("--answers", type=Path, help="grade the answers of this file and ask nobody")
    chosen, args = cases(), parser.parse_args()
    if args.sheet:
        rows = []
        for case in chosen:
            request = case.request()
            system = bare(request) if args.bare else request.system
            rows.append({"id": case.id, "task": case.task, "system": system, "user": request.user})
        args.sheet.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
        return
    if args.answers:
        rows = [json.loads(line) for line in args.answers.read_text(encoding="utf-8").splitlines() if line.strip()]
        replies = {row["id"]: row["reply"] for row in rows}
    else:
        replies = asyncio.run(_asked(chosen, plain=args.bare))
    right = graded(chosen, replies)
    for task in _REQUESTS:
        of_task = [right[case.id] for case in chosen if case.task == task]
        print(f"{task:<10} {sum(of_task):>3} of {len(of_task)}")
    for case in chosen:
        if not right[case.id]:
            print(f"wrong: {case.id:<12} {' / '.join(case.lines)[:90]}")


if __name__ == "__main__":
    main()
