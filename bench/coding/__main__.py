"""Does memory help? Tasks whose decision was made earlier, under five conditions, with a model that only obeys.

`python -m bench.coding` plays the project's own tasks through memman's hooks and prints what stands before the model:
nothing, MEMORY.md kept by hand, the newest ten memories, everything, and what memman's hooks give. `--sde FOLDER` adds
the tasks of sde-bench, half by half; `--client claude-code` runs some as real sessions of it against a loopback model,
`--model` asks the model that memman's settings choose. It prints where decisions get lost, too.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.coding import models
from bench.coding import tasks as data
from bench.coding.tasks import Task
from bench.coding.world import World
from bench.tables import markdown
from memman.bootstrap import history
from memman.bootstrap.checkout import Checkout
from memman.config.repository import repository
from memman.judge.judge import Judge
from memman.recall.render import tokens

_NEWEST, _RECALLED, _COMMITS = 10, "24", 10_000
CONDITIONS = ("nothing", "MEMORY.md by hand", "newest ten", "everything", "memman")
STAGES = ("said", "learned", "kept", "recalled", "shown")
_TITLES = ("tasks", "condition", "n", "decision stands", "by chance", "superseded unmarked", "foreign", "tokens", "ms")

_CLIENT = ("real client", "n", "obeyed the decision", "superseded unmarked", "foreign", "a turn")
_FIRST = ("first prompt alone", "n", "decision stands", "lines", "tokens")


@dataclass(frozen=True)
class Outcome:
    """What stood before the model at a task in each condition, how long it took, and how far its decision came.

    `prompt` came beside the first prompt, behind a session's start; `alone` comes without one.
    """

    task: Task
    contexts: Mapping[str, str]
    prompt: str
    alone: str
    seconds: float
    stages: Mapping[str, bool]


def outcomes(world: World, tasks: Sequence[Task]) -> Iterator[Outcome]:
    """Ask the prompt of every task, each in a session of its own."""
    learned = _learned(world, {one.repository for task in tasks for one in task.past if one.commit[0]})
    rows = world.memories()
    for task in tasks:
        start, beside, seconds = world.asked(task)
        by_hand = "\n".join(one.by_hand for one in tasks if one.repository == task.repository)
        every = [row["text"] for row in rows]
        contexts = ("", by_hand, "\n".join(every[-_NEWEST:]), "\n".join(every), f"{start}\n{beside}")
        said = world.said.get(task.id, ())
        of_it = [row for row in rows if {row["session"], row["revision"]} & {*said}]
        recalled = world.run("recall", "--all", "--limit", _RECALLED, task.prompt, repository=task.repository)
        texts = {
            "said": "\n".join(past.text for past in task.past),
            "learned": "\n".join([*filter(None, map(learned.get, said)), *(row["text"] for row in of_it)]),
            "kept": "\n".join(row["text"] for row in of_it if row["status"] == "current"),
            "recalled": recalled,
            "shown": contexts[-1],
        }
        stages = {name: task.stands(text) for name, text in texts.items()}
        told = dict(zip(CONDITIONS, contexts, strict=True))
        yield Outcome(task, told, beside, world.alone(task), seconds, stages)


def _learned(world: World, repositories: set[str]) -> dict[str, str]:
    """Return what bootstrap makes of each commit."""
    found: dict[str, str] = {}
    judge = Judge()
    for name in repositories:
        place = repository(str(world.folder(name)))
        if place is not None:
            for item in history.reasons(Checkout(place, _COMMITS), judge):
                found[item.revision] = f"{found.get(item.revision, '')}\n{item.text}"
    return found


def table(kind: str, found: Sequence[Outcome]) -> Iterator[list[str]]:
    """Yield a line for each condition."""
    for name in CONDITIONS:
        texts = [one.contexts[name] for one in found]
        stands = sum(one.task.stands(text) for one, text in zip(found, texts, strict=True))
        others = [
            one.task.stands(text)
            for one in found
            for other, text in zip(found, texts, strict=True)
            if one.task.by_hand != other.task.by_hand
        ]
        stale = sum(bool(one.task.unmarked(text)) for one, text in zip(found, texts, strict=True))
        abroad = sum(bool(one.task.abroad(text)) for one, text in zip(found, texts, strict=True))
        cost = f"{median(tokens(text) if text else 0 for text in texts):.0f}"
        late = f"{median(one.seconds for one in found) * 1000:.0f}" if name == "memman" else "0"
        chance = f"{100 * sum(others) / max(1, len(others)):.0f} %"
        yield [kind, name, str(len(found)), _share(stands, len(found)), chance, str(stale), str(abroad), cost, late]


def first_prompts(kind: str, found: Sequence[Outcome]) -> list[str]:
    """Return a line of what the first prompts alone were told, and how many lines and tokens that took at most."""
    stands = sum(one.task.stands(one.alone) for one in found)
    lines = max(max(0, one.alone.count("\n") - 2) for one in found)
    most = max(tokens(one.alone) for one in found)
    return [kind, str(len(found)), _share(stands, len(found)), str(lines), str(most)]


def lost(kind: str, found: Sequence[Outcome]) -> list[str]:
    """Return a line of how many decisions came as far as each stage."""
    return [kind, str(len(found)), *(str(sum(one.stages[name] for one in found)) for name in STAGES)]


def in_client(name: str, world: World, tasks: Sequence[Task]) -> list[str]:
    """Return a line of what the loopback model behind a real client was given."""
    found = [*models.in_client(name, world, tasks)]
    knew = sum(known for _, known, _, _ in found)
    stale = sum(bool(task.unmarked(given)) for task, _, given, _ in found)
    abroad = sum(bool(task.abroad(given)) for task, _, given, _ in found)
    late = f"{median(seconds for *_, seconds in found):.1f} s"
    return [name, str(len(found)), _share(knew, len(found)), str(stale), str(abroad), late]


def answered(kind: str, found: Sequence[Outcome]) -> list[str]:
    """Return a line of how many answers of the configured model follow the decision, by condition."""
    counts = []
    for name in CONDITIONS:
        said = models.answers([(one.contexts[name], one.task.prompt) for one in found])
        counts.append(_share(sum(one.task.stands(text) for one, text in zip(found, said, strict=True)), len(found)))
    return [kind, str(len(found)), *counts]


def _share(count: int, of: int) -> str:
    return f"{count} ({100 * count / of:.0f} %)"


def by_kind(found: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    """Part outcomes by the kind of their tasks."""
    kinds: dict[str, list[Outcome]] = {}
    for one in found:
        kinds.setdefault(one.task.kind, []).append(one)
    return kinds


def _sde(work: str, folder: str, which: str) -> Iterator[tuple[str, list[Outcome]]]:
    """Yield the outcomes of sde-bench: talks and histories apart, for both decide the same; decoys are in both."""
    tasks = data.sde(folder, which)
    base = World(f"{work}/sde")
    base.run("scheduler", "start")
    for decoy in data.decoys(folder):
        base.play(data.Past(tasks[0].repository, decoy.turns), "")
    base.drain()
    for name, kinds in (("talks", ("conversation", "conversation-amended")), ("history", ("history",))):
        some = [task for task in tasks if task.kind in kinds]
        world = base.copied(name)
        world.build(some)
        yield f"sde {name}, {which}", [*outcomes(world, some)]


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m bench.coding", description=__doc__)
    parser.add_argument("--sde", metavar="FOLDER", help="a folder of sde-bench: tasks.jsonl and decoys.jsonl")
    parser.add_argument("--half", choices=("work", "aside", "all"), default="work", help="which half of sde-bench")
    parser.add_argument("--no-own", action="store_true", help="leave out the project's own tasks")
    parser.add_argument("--client", help="run some of the project's tasks in a client of e2e/agents, too")
    parser.add_argument("--sample", type=int, default=6, help="how many tasks are run so")
    parser.add_argument("--model", action="store_true", help="ask the configured model in every condition")
    parser.add_argument("--json", metavar="FILE", help="write what each task was told")
    args = parser.parse_args()
    if args.model and not models.configured():
        parser.error("no model is configured: `memman config` chooses one")
    runs: list[tuple[str, list[Outcome]]] = []
    with tempfile.TemporaryDirectory() as work:
        if not args.no_own:
            world, tasks = World(f"{work}/own"), data.own()
            world.build(tasks)
            runs += [(f"own {kind}", some) for kind, some in by_kind([*outcomes(world, tasks)]).items()]
            if args.client:
                print(markdown(_CLIENT, [in_client(args.client, world, tasks[:: len(tasks) // args.sample])]), "\n")
        if args.sde:
            runs += _sde(work, args.sde, args.half)
    print(markdown(_TITLES, [line for kind, found in runs for line in table(kind, found)]))
    print()
    print(markdown(_FIRST, [first_prompts(*one) for one in runs]))
    print()
    print(markdown(("decisions left after", "n", *STAGES), [lost(*one) for one in runs]))
    if args.model:
        print("\n" + markdown(("the model's answer", "n", *CONDITIONS), [answered(*one) for one in runs]))
    if args.json:
        Path(args.json).write_text(json.dumps([_record(one) for _, found in runs for one in found], indent=1), "utf-8")
    return 0


def _record(one: Outcome) -> dict[str, object]:
    """Return an outcome as it is written."""
    told = one.contexts["memman"]
    return {
        "id": one.task.id,
        "stages": one.stages,
        "superseded": one.task.unmarked(told),
        "foreign": one.task.abroad(told),
        "start": told.removesuffix(one.prompt),
        "prompt": one.prompt,
        "alone": one.alone,
    }


if __name__ == "__main__":
    sys.exit(main())
