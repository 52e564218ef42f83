"""The measurements: each takes a bench and returns figures by the key of their target."""

import json
import os
import shutil
import statistics
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from bench import corpus, drains, machine, process, sizes
from bench.machine import Machine
from bench.process import Case, Timing
from bench.targets import EXTENSIONS, SIZES, Figure, recall_key, size_name
from memman.config.places import queue_path

# A log of this size is what a queue has when nothing was drained for a long while.
LOG_BYTES = 8 * 1024 * 1024
ASKED = 24
LONG_WORDS = 380
# Notes from this number on are in no store.
UNSEEN = 1_000_000
SLOW_SECONDS = 1.5
SLOW_NOTES = 100


@dataclass
class Bench:
    """One run of the bench: where it works, how long it may take, and all it has seen for the JSON."""

    work: str
    quick: bool = False
    raw: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def machines(self) -> dict[str, Machine]:
        """An installation as a user's, and one in which sqlite-vec is not found."""
        self.say("installing the wheel")
        built = machine.wheel(self.work)
        return {
            "": machine.install(self.work, "installed", built),
            "plain": machine.install(self.work, "without-vec", built, ("sqlite_vec",)),
        }

    @cached_property
    def stores(self) -> dict[int, dict[str, float]]:
        """The stores at hand; a quick run builds no large one."""
        wanted = [size for size in SIZES if not self.quick or size < SIZES[-1] or sizes.there(self.grown, size)]
        self.raw["stores"] = sizes.build(self.grown, wanted, self.say, fresh=False)
        return {int(size): info for size, info in self.raw["stores"].items()}

    @property
    def grown(self) -> str:
        """The folder of the stores, kept between runs."""
        return f"{self.work}/scale/{sizes.version()}"

    def data(self, name: str, size: int = 0) -> str:
        """Make a data folder, with a store of `size` memories in it unless that is 0."""
        data = f"{self.work}/data/{name}"
        shutil.rmtree(data, ignore_errors=True)
        os.makedirs(data, mode=0o700)
        if size:
            sizes.place(self.grown, size, data)
        return data

    def say(self, what: str) -> None:
        """Tell a person what goes on."""
        sys.stderr.write(f"bench: {what}\n")

    @property
    def drains(self) -> tuple[int, int]:
        """How many drains a median is taken of, and their notes."""
        return (1, 200) if self.quick else (3, 300)


def starts(bench: Bench) -> dict[str, Figure]:
    """Time the hot verbs as whole processes, beside a bare Python and the floor script."""
    cases = dict(_verbs(bench, rounds := 12 if bench.quick else 60))
    bench.say(f"running {len(cases)} commands {rounds} times each")
    timings = process.measure(cases, rounds, bench.machines[""].project)
    bare = timings["bare"].cpu
    bench.raw["processes"] = {
        name: timing.record() | {"cpu_x_bare": round(timing.cpu / bare, 2)} for name, timing in timings.items()
    }
    figures = {name: _figure(timing, timings) for name, timing in timings.items()}
    late = figures["remember-log"]
    figures["remember-log"] = Figure(timings["remember-log"].late, late.bare, late.floor, late.peak)
    return figures


def _figure(timing: Timing, timings: Mapping[str, Timing]) -> Figure:
    return Figure(timing.wall, timing.wall / timings["bare"].wall, timing.wall / timings["floor"].wall, timing.peak)


def _verbs(bench: Bench, rounds: int) -> Iterator[tuple[str, Case]]:
    user = bench.machines[""]
    empty, long = bench.data("empty"), bench.data("log")
    drains.queue(empty, 0, 1)
    _lengthen(long)
    texts = [sample.text for sample in corpus.notes(UNSEEN, rounds + process.WARM_UP)]
    yield "bare", ([[user.python, "-c", "pass"]], user.env(empty))
    script = machine.floor(bench.work)
    yield "floor", ([[user.python, script, queue_path(empty), text] for text in texts], user.env(empty))
    launcher = user.launcher(empty)
    for name, program, data in (
        ("remember", user.memman, empty),
        ("remember-launcher", launcher, empty),
        ("remember-log", user.memman, long),
    ):
        yield name, ([[program, "remember", text] for text in texts], user.env(data))
    turns = _turns(empty, texts)
    yield "hook-stop-launcher", ([[launcher, "hook", "stop", "--host", "codex"]], user.env(empty), turns)
    for size in bench.stores:
        data = bench.data(f"recall-{size_name(size)}", size)
        for query, asked in (("selective", corpus.selective(ASKED)), ("common", corpus.common(ASKED))):
            for extension in EXTENSIONS:
                there = bench.machines[extension]
                commands = [[there.memman, "recall", question] for question in asked]
                yield recall_key(size, query, extension), (commands, there.env(data))


def _lengthen(data: str) -> None:
    """Queue notes until the log has its size; nobody drains, so nobody checkpoints."""
    first = 0
    while first == 0 or os.path.getsize(queue_path(data) + "-wal") < LOG_BYTES:
        drains.queue(data, first, 20)
        first += 20


def hooks(bench: Bench) -> dict[str, Figure]:
    """Time the hook that answers a prompt beside a recall of the same words, as whole processes."""
    size, rounds = SIZES[1], 200
    if size not in bench.stores:
        return {}
    user, data = bench.machines[""], bench.data("hooks", size)
    asked = corpus.selective(ASKED)
    long = [_long(question, n) for n, question in enumerate(asked)]
    cases: dict[str, Case] = {
        "recall": ([[user.memman, "recall", question] for question in asked], user.env(data)),
        "hook": (
            [[user.memman, "hook", "user-prompt", "--host", "codex"]],
            user.env(data),
            _payloads(data, "payload", asked, rounds),
        ),
        "recall-long": ([[user.memman, "recall", prompt] for prompt in long], user.env(data)),
        "hook-long": (
            [[user.memman, "hook", "user-prompt", "--host", "codex"]],
            user.env(data),
            _payloads(data, "long", long, rounds),
        ),
    }
    bench.say(f"answering {rounds} prompts")
    timings = process.measure(cases, rounds, user.project)
    bench.raw["hooks"] = {name: timing.record() for name, timing in timings.items()}
    hook = timings["hook"]
    return {
        "hook-prompt": Figure(hook.wall / timings["recall"].wall, peak=hook.peak),
        "hook-prompt-wall": Figure(hook.wall, peak=hook.peak),
        "hook-prompt-last": Figure(hook.last / hook.wall),
        "hook-prompt-long": Figure(
            timings["hook-long"].wall / timings["recall-long"].wall, peak=timings["hook-long"].peak
        ),
    }


def _long(question: str, n: int) -> str:
    """Write a prompt of some 380 words around a question, every other one without it."""
    texts = [sample.text for sample in corpus.notes(UNSEEN + 100 * n, 100)]
    half = LONG_WORDS // 2
    words = " ".join(texts).split()
    return " ".join([*words[:half], *(f"{question}?".split() if n % 2 else ()), *words[half:LONG_WORDS]])


def _payloads(data: str, name: str, asked: Sequence[str], rounds: int) -> list[str]:
    """Write a payload for each run, each of another session, so that all of them have something to show."""
    runs = range(rounds + process.WARM_UP)
    return _written(data, name, [{"prompt": asked[n % len(asked)]} for n in runs])


def _turns(data: str, texts: Sequence[str]) -> list[str]:
    """Write the end of a turn for each text."""
    return _written(data, "turn", [{"prompt": text, "last_assistant_message": "Understood."} for text in texts])


def _written(data: str, name: str, payloads: Sequence[dict[str, str]]) -> list[str]:
    paths = []
    for n, payload in enumerate(payloads):
        paths.append(f"{data}/{name}-{n}.json")
        with open(paths[-1], "w", encoding="utf-8") as out:
            json.dump({"session_id": f"{name}-{n}", "cwd": "/"} | payload, out)
    return paths


def throughput(bench: Bench) -> dict[str, Figure]:
    """Drain with the built-in model, and with a provider that answers at once; small and large store in turn."""
    sizes = [size for size in (SIZES[0], SIZES[-1]) if size in bench.stores]
    turns = [(kind, size) for kind in ("builtin", "zero") for size in sizes]
    folders = {turn: bench.data(f"{turn[0]}-{size_name(turn[1])}", turn[1]) for turn in turns}
    ran: dict[str, list[drains.Drained]] = {}
    with drains.provider(0.0, f"{bench.work}/throughput.log") as url:
        for size in sizes:
            drains.configure(folders["zero", size], url)
        for n in range(bench.drains[0]):
            for (kind, size), data in folders.items():
                bench.say(f"drain {n + 1} of {bench.drains[0]}: {kind}, {size_name(size)} stored")
                drains.queue(data, UNSEEN + n * bench.drains[1], bench.drains[1])
                for name in (kind, "idle"):  # the second finds an empty queue
                    ran.setdefault(f"{name}-{size_name(size)}", []).append(drains.drain(bench.machines[""], data))
    bench.raw["drains"] = {name: [vars_of(one) for one in some] for name, some in ran.items()}
    return _rates(ran)


def _rates(ran: Mapping[str, Sequence[drains.Drained]]) -> dict[str, Figure]:
    def middle(name: str, figure: Callable[[drains.Drained], float]) -> float:
        return statistics.median(map(figure, ran[name]))

    def rate(kind: str) -> Figure:
        return Figure(middle(kind, lambda one: one.rate), peak=middle(kind, lambda one: one.peak_mib))

    figures = {"drain-zero": rate("zero-1k"), "drain-builtin": rate("builtin-1k")}
    if "zero-100k" in ran:
        figures |= {"drain-zero-100k": rate("zero-100k"), "drain-builtin-100k": rate("builtin-100k")}
        for kind in ("zero", "builtin"):
            small, large = (middle(f"{kind}-{size}", lambda one: one.steady) for size in ("1k", "100k"))
            figures["drain-growth" if kind == "zero" else "drain-growth-builtin"] = Figure(large / small)
    for name in (name for name in ran if name.startswith("idle")):
        figures["drain-" + name] = Figure(
            middle(name, lambda one: one.seconds), peak=middle(name, lambda one: one.peak_mib)
        )
    return figures


def vars_of(one: drains.Drained) -> dict[str, float]:
    """Return a drain's figures for the JSON."""
    names = ("notes", "added", "seconds", "steady", "cpu", "whole", "peak_mib", "rate")
    return {name: round(getattr(one, name), 5) for name in names}


def slow(bench: Bench) -> dict[str, Figure]:
    """Drain a hundred notes with a provider that takes 1.5 s per call."""
    user, data = bench.machines[""], bench.data("slow")
    bench.say(f"draining {SLOW_NOTES} notes at {SLOW_SECONDS} s a call")
    with drains.provider(SLOW_SECONDS, f"{bench.work}/slow.log") as url:
        drains.configure(data, url)
        drains.queue(data, 0, SLOW_NOTES)
        drained = drains.drain(user, data)
    bench.raw["slow"] = vars_of(drained)
    return {"drain-slow": Figure(drained.whole, peak=drained.peak_mib)}


def calls(bench: Bench) -> dict[str, Figure]:
    """Count the provider's requests, with the built-in embedder and with a remote one."""
    user, size = bench.machines[""], SIZES[0]
    figures: dict[str, Figure] = {}
    for embeds in (False, True):
        data, log = (
            bench.data(f"calls-{embeds}", size if size in bench.stores else 0),
            f"{bench.work}/calls-{embeds}.log",
        )
        if os.path.exists(log):
            os.remove(log)
        with drains.provider(0.0, log) as url:
            drains.configure(data, url, embeds=embeds)
            drains.queue(data, UNSEEN, 100)
            notes = drains.drain(user, data).notes
        made = {name: count / notes for name, count in drains.calls(log).items()}
        figures["calls-model"] = Figure(max(made["model"], figures["calls-model"].value if figures else 0.0))
        figures["calls-embedding" if embeds else "calls-embedding-builtin"] = Figure(made.get("embedding", 0.0))
    return figures


def disk(bench: Bench) -> dict[str, Figure]:
    """Weigh the stores: bytes of the file after its checkpoint, for each memory."""
    return {
        f"disk-{size_name(size)}": Figure(info["bytes"] / info["memories"] / 1000)
        for size, info in bench.stores.items()
    }


# Left out of a quick run: it mostly waits.
LONG = ("slow",)

MEASURES: dict[str, Callable[[Bench], dict[str, Figure]]] = {
    "starts": starts,
    "hooks": hooks,
    "throughput": throughput,
    "slow": slow,
    "calls": calls,
    "disk": disk,
}
