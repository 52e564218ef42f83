"""What an agent as the model costs a day: real drains of turns that people wrote, with the judge in front and without.

`python -m bench.days --days 60` lives through days of 150 turns, each drained as it comes. The turns are
those of bench/data by nine writers, one in ten of which says something that lasts (--lasting); every six days a new
store begins, for then the texts come again. The agent is a program that finds what the writers marked.
What a call costs besides the question differs by client: see OVERHEAD.
"""

import argparse
import json
import os
import random
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import apsw

from memman.drain import run
from memman.queue.append import append
from tests.support.agents import Agent, install

DATA = Path(__file__).parent / "data"
TURNS = 150
BLOCK = 6  # days
# Tokens (characters / 4) of a call's request that are not the question, as a loopback model saw them on 2026-11-22.
OVERHEAD = {"claude-code": 600, "codex": 5_600, "gemini": 450, "opencode": 130}
_NOTE = dict.fromkeys(("entities", "replaces", "cwd", "repository", "revision", "host", "user"), "")
_NOTE |= {"category": None, "importance": None, "source": "user", "agent": "claude-code", "session": "s"}


@dataclass(frozen=True, slots=True)
class Day:
    """Calls, questions and tokens of one day, without what a client adds to each call."""

    calls: int
    questions: int
    tokens: int


def days(count: int, work: Path, *, judge: str, lasting: float, bounded: bool, seed: int = 0) -> Iterator[Day]:
    """Live through days, one after the other, in a data folder below `work`; `bounded` by the default budget."""
    chance = random.Random(seed)
    agent = install("claude-code", work / "programs")
    os.environ |= {
        "PATH": f"{agent.folder}:/usr/bin:/bin",
        "MEMMAN_DATA_DIR": str(work / "data"),
        "MEMMAN_DRAIN": "off",
    }
    (work / "data").mkdir(mode=0o700)
    settings = work / "data/env"
    limits = "" if bounded else "MEMMAN_BUDGET_CALLS=100000\nMEMMAN_BUDGET_TOKENS=1000000000\n"
    settings.write_text(f"MEMMAN_LLM_PROVIDER=claude-code\nMEMMAN_JUDGE={judge}\n{limits}")
    settings.chmod(0o600)
    kept, others = _turns()
    (agent.folder / "lasting").write_text("\0".join(one for line in kept for one in line["keep"]), encoding="utf-8")
    for day in range(count):
        store = f"s{day // BLOCK}"
        said = [chance.choice(kept if chance.random() < lasting else others)["text"] for _ in range(TURNS)]
        for text in said:
            append(
                str(work / "data"),
                _NOTE | {"store": store, "text": text, "channel": "turn", "reply": "Done.", "shown": ""},
            )
            run.drain()
        _midnight(work / "data/queue.db")
        yield _spent(agent)


def _midnight(queue: Path) -> None:
    """Begin a new day: what was spent counts no more."""
    db = apsw.Connection(str(queue))
    db.execute("DELETE FROM ledger")
    db.close()


def _spent(agent: Agent) -> Day:
    """Count what was asked since it was last counted."""
    asked = agent.questions
    (agent.folder / "calls").unlink(missing_ok=True)
    tokens = sum(len(call["stdin"]) + sum(map(len, call["argv"])) for call in asked) // 4
    return Day(len(asked), sum(max(1, call["stdin"].count("<question ")) for call in asked), tokens)


def _turns() -> tuple[list[dict], list[dict]]:
    """Return the turns that say something which lasts, and the others."""
    lines = _lines("turns")
    return [line for line in lines if line["keep"]], [line for line in lines if not line["keep"]]


def _lines(part: str) -> list[dict]:
    paths = sorted(DATA.glob(f"*seen/*/{part}.jsonl"))
    return [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]


def _told(name: str, lived: Sequence[Day]) -> None:
    calls, asked, tokens = (sorted(getattr(day, field) for day in lived) for field in ("calls", "questions", "tokens"))
    mean = sum(calls) / len(lived)
    print(
        f"{name}: {len(lived)} days, {mean:.1f} calls a day ({mean / TURNS:.2f} a turn; {calls[0]} to {calls[-1]}), "
        f"{sum(asked) / len(lived):.1f} questions"
    )
    for client, more in OVERHEAD.items():
        print(f"    {client}: {(sum(tokens) / len(lived) + more * mean) / 1000:.0f},000 tokens a day")


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, default=60)
    parser.add_argument("--judge", choices=("on", "off"), default="on")
    parser.add_argument("--lasting", type=float, default=0.1, help="Share of turns that say something that lasts.")
    parser.add_argument("--bounded", action="store_true", help="Within the default budget.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        lived = []
        for day in days(given.days, Path(work), judge=given.judge, lasting=given.lasting, bounded=given.bounded):
            lived.append(day)
            print(f"  day {len(lived)}: {day}", flush=True)
    _told("the judge in front" if given.judge == "on" else "without the judge", lived)


if __name__ == "__main__":
    main()
