"""Drains of an installed memman, timed inside a process of their own."""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench import corpus
from bench.machine import Machine
from memman.config.places import write_file
from memman.queue.append import append

ROOT = Path(__file__).parents[1]
# `steady` is seconds a note between the first note's end and the last one's: start-up and tidying-up left out.
_DRAIN = """
import json, os, time
from memman.drain.run import drain
marks = []
began, worked = time.perf_counter(), time.process_time()
report = drain(started=lambda queue: lambda: marks.append(time.perf_counter()))
seconds = time.perf_counter() - began
cpu = time.process_time() - worked
steady = (marks[-1] - marks[0]) / (len(marks) - 1) if len(marks) > 1 else 0.0
peak = 0
if os.path.exists("/proc/self/status"):
    peak = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps({"seconds": seconds, "steady": steady, "cpu": cpu, "peak_kib": peak, "notes": len(marks),
                  "done": report.done, "added": report.added, "errors": report.errors}))
"""


@dataclass(frozen=True, slots=True)
class Drained:
    """What one drain did and took: `seconds` and processor `cpu` of the drain itself, `whole` of its process."""

    notes: int
    added: int
    seconds: float
    steady: float
    cpu: float
    whole: float
    peak_mib: float

    @property
    def rate(self) -> float:
        """Notes a second, everything the drain does included."""
        return self.notes / self.seconds


def queue(data: str, first: int, count: int, visibility: str = "") -> None:
    """Queue notes number `first` to `first + count - 1` of the corpus, as `remember` does."""
    for sample in corpus.notes(first, count):
        note: dict[str, str | int | None] = dict.fromkeys(
            ("entities", "replaces", "cwd", "repository", "revision", "host", "user"), ""
        )
        note |= {"store": "default", "text": sample.text, "category": None, "importance": None}
        note |= {"source": "agent", "agent": "claude-code", "session": sample.session, "visibility": visibility}
        append(data, note)


def drain(machine: Machine, data: str) -> Drained:
    """Drain everything that waits. Raises RuntimeError when a note did not go through."""
    began = time.perf_counter()
    done = subprocess.run(
        [machine.python, "-c", _DRAIN],
        env=machine.env(data),
        cwd=machine.project,
        capture_output=True,
        text=True,
        check=False,
    )
    whole = time.perf_counter() - began
    if done.returncode:
        raise RuntimeError(done.stderr)
    said = json.loads(done.stdout)
    if said["done"] != said["notes"] or said["errors"]:
        raise RuntimeError(f"{said['done']} of {said['notes']} notes went through: {said['errors']}")
    figures = (said[name] for name in ("notes", "added", "seconds", "steady", "cpu"))
    return Drained(*figures, whole, said["peak_kib"] / 1024)


@contextmanager
def provider(latency: float, log: str) -> Iterator[str]:
    """Serve the scripted provider from another process; yield its address. `log` gets one line per request."""
    command = [sys.executable, "-m", "tests.support.providers", "--latency", str(latency), "--log", log]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as server:
        assert server.stdout is not None  # noqa: S101 - a pipe was asked for
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


def configure(data: str, url: str, *, embeds: bool = False) -> None:
    """Point the data folder at the provider at `url`, and with `embeds` at its embeddings too."""
    keys = {"MEMMAN_LLM_PROVIDER": "openai", "MEMMAN_LLM_ENDPOINT": url + "/v1", "MEMMAN_LLM_API_KEY": "none"}
    if embeds:
        keys |= {
            "MEMMAN_EMBED_PROVIDER": "openai",
            "MEMMAN_EMBED_ENDPOINT": url + "/v1",
            "MEMMAN_EMBED_API_KEY": "none",
        }
    write_file(data + "/env", "".join(f"{name}={value}\n" for name, value in keys.items()))


def calls(log: str) -> Mapping[str, int]:
    """Count the requests in a provider's log as 'model' and 'embedding' calls."""
    if not os.path.exists(log):
        return Counter()
    with open(log, encoding="utf-8") as lines:
        paths = [json.loads(line)["path"] for line in lines]
    return Counter("embedding" if path.endswith("/embeddings") else "model" for path in paths)
