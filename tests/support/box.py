"""A data folder of a test's own, and short ways to remember, drain, recall and look inside.

Nothing is patched by name: notes go through the real queue, drains are real drains (in this process with `drain`, in
one of their own with `start_drain`), providers are real servers on loopback.
"""

import gc
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from unittest.mock import patch

import apsw
import pytest

from memman.config.env import NETWORK
from memman.drain import run
from memman.drain.worklog import Worklog
from memman.hot.recall import found
from memman.model.verbs import ASKED
from memman.model.vocabulary import AGENT_MARKS
from memman.queue.append import append
from memman.store.filters import Filters
from memman.store.sqlite.store import SqliteStore
from tests.support.clocks import PRELOADED
from tests.support.nursery import PATIENCE, Nursery
from tests.support.providers import ScriptedProvider
from tests.support.terminal import Attended, attended, obliging

# What stamps a note's provenance or chooses a store; a developer's own must not leak into a test.
SCRUBBED = (
    *("MEMMAN_", "AI_AGENT", "CLAUDE", "CODEX_", "GEMINI_", "COPILOT_", "QWEN_"),
    *(name for name, _ in AGENT_MARKS),
    *(name for names in NETWORK.values() for name in names),
)
NOTE = dict.fromkeys(
    ("entities", "replaces", "agent", "session", "cwd", "repository", "revision", "host", "user"), ""
) | {"store": "default", "category": None, "importance": None, "source": "user"}
# What a process heeds only as it starts.
STARTS = ("PYTHONIOENCODING", "PYTHONUTF8", "LANG", "LC_ALL", "LC_CTYPE", "PYTHONPATH")
# How verbs begin that ask a person; install does only where the shell says where text goes.
ASKING = tuple(ASKED.keys() - {"install"})
# Tests say themselves when a drain runs, those without a box too.
os.environ["MEMMAN_DRAIN"] = "off"
# What continuous integration sets says that nobody is there; tests that mean it set it themselves.
os.environ.pop("CI", None)
MORTAL = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")


@cache
def nursery(*preloaded: tuple[str, str]) -> Nursery:
    """Return the process that this one's runs of memman are forked from, preloaded so; it ends with us."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(SCRUBBED)}
    return Nursery(ours | dict(preloaded)).__enter__()


@dataclass(frozen=True)
class Box:
    """A data folder, and what a test does with it. `environ` is what its subprocesses get."""

    data: Path
    environ: dict[str, str]

    # --- settings ---

    def configure(self, **settings: str | float) -> None:
        """Write the env file (mode 0600); keys are written without MEMMAN_."""
        self.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self.data / "env"
        path.touch(mode=0o600)
        path.write_text("".join(f"MEMMAN_{key}={value}\n" for key, value in settings.items()))

    def use(self, provider: ScriptedProvider, shape: str = "openai", **more: str | float) -> None:
        """Configure `provider` for model and vectors, in the shape of openai, anthropic or ollama; no retries."""
        base, v1 = provider.url, f"{provider.url}/v1"
        llm, llm_at = ("anthropic", base) if shape == "anthropic" else ("openai", v1)
        embed, embed_at = ("ollama", base) if shape == "ollama" else ("openai", v1)
        settings: dict[str, str | float] = {
            "LLM_PROVIDER": llm,
            "LLM_ENDPOINT": llm_at,
            "LLM_API_KEY": "key-of-the-test",
            "EMBED_PROVIDER": embed,
            "EMBED_ENDPOINT": embed_at,
            "EMBED_MODEL": "scripted",
            "HTTP_TRIES": 1,
        }
        self.configure(**settings | more)

    # --- the verbs ---

    def memman(self, *args: str, before: tuple[str, ...] = (), **popen: object) -> subprocess.CompletedProcess[str]:
        """Run `memman` to its end as a person does, who agrees to what it asks.

        In a fork that has the imports done, where nothing is asked of how it is started.
        """
        plain = popen.keys() <= {"input", "cwd"} and all(isinstance(arg, str) for arg in args) and not before
        if popen.keys() <= {"input", "cwd"} and " ".join(map(str, args)).startswith(ASKING):
            return self.person(*args, before=before, stdin=popen.get("input", ""), cwd=popen.get("cwd"))
        if plain and self._forks():
            given = {"stdin": popen.get("input", ""), "cwd": popen.get("cwd", self.data.parent)}
            return self._nursery().run(*args, environ=self.environ, **given)
        given = {"capture_output": True, "text": True, "timeout": PATIENCE, "stdin": subprocess.DEVNULL}
        given |= {"cwd": self.data.parent} | popen
        if "input" in popen:
            del given["stdin"]
        return subprocess.run([*before, self.script, *args], env=self.environ, check=False, **given)

    def person(
        self,
        *args: str,
        answer: Callable[[str], str] = obliging,
        before: tuple[str, ...] = (),
        stdin: str = "",
        cwd: Path | None = None,
    ) -> Attended:
        """Run `memman` at a terminal of its own, where by default somebody agrees to all that it asks."""
        begin = self._nursery().attend if not before and self._forks() else None
        return attended([*before, self.script, *args], self.environ, cwd or self.data.parent, answer, stdin, begin)

    def _nursery(self) -> Nursery:
        """Return what to fork from: for a box with a clock of its own, something that was started with libfaketime."""
        return nursery(*((name, self.environ[name]) for name in PRELOADED if name in self.environ))

    def _forks(self) -> bool:
        """Whether a fork behaves as a program that is started anew would."""
        usual = all(self.environ.get(name) == os.environ.get(name) for name in STARTS)
        return usual and threading.current_thread() is threading.main_thread()

    def mortal(self, *args: str) -> subprocess.CompletedProcess[str]:
        """Run `memman` as somebody whom permissions bind: root is not."""
        if os.geteuid():
            return self.memman(*args)
        if not shutil.which(MORTAL[0]):
            pytest.skip("root needs setpriv to be bound by permissions")
        return self.memman(*args, before=MORTAL)

    @property
    def script(self) -> str:
        """The `memman` beside this interpreter."""
        return str(Path(sys.executable).parent / "memman")

    def remember(self, text: str, **columns: str | int) -> str:
        """Queue a note in this process and return its uid."""
        return append(str(self.data), NOTE | {"text": text} | columns)[0]

    def recall(self, query: str, store: str = "default", limit: int = 10, **filters: object) -> list[str]:
        """Return the texts that recall shows, in order."""
        return [hit.row.text for hit in self.hits(query, store, limit, **filters)]

    def hits(self, query: str, store: str = "default", limit: int = 10, **filters: object) -> list:
        """Return the hits of a recall in this process."""
        return found(str(self.data), store, query, Filters(**filters), limit, None)

    def drain(self, trace: Callable[..., None] | None = None, **limits: object) -> object:
        """Run one drain in this process and return its report; `trace` is told each stage and what it made."""
        heard = (lambda log, stage, plan: trace(stage, plan)) if trace else Worklog.stage  # noqa: ARG005 - a method
        try:
            with patch.object(Worklog, "stage", heard):
                return run.drain(**limits)
        finally:
            gc.unfreeze()  # a drain's process ends soon; this one has more to do

    def start_drain(self, code: str = "", **environ: str) -> subprocess.Popen:
        """Start `memman scheduler drain`, or Python code in its stead."""
        command = (sys.executable, "-c", code) if code else (self.script, "scheduler", "drain")
        return self.start(*command, **environ)

    def start(self, *command: str, **environ: str) -> subprocess.Popen:
        """Start a process with this box's environment, both its streams piped as text."""
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
        return subprocess.Popen(command, env=self.environ | environ, cwd=self.data.parent, text=True, **streams)

    # --- looking inside ---

    @property
    def queue_path(self) -> Path:
        """Where queue.db is."""
        return self.data / "queue.db"

    def store_path(self, store: str = "default") -> Path:
        """Where a store's database is."""
        return self.data / "data" / store / "memman.db"

    def queue(self, sql: str, *values: object) -> list:
        """Ask queue.db; one-column rows come as plain values."""
        return rows(self.queue_path, sql, values)

    def store(self, sql: str, *values: object, name: str = "default") -> list:
        """Ask a store's database; one-column rows come as plain values."""
        return rows(self.store_path(name), sql, values)

    def alter(self, sql: str, *values: object, name: str = "default") -> None:
        """Change memories behind memman's back."""
        store = SqliteStore(str(self.store_path(name)))
        store.db.execute(sql, values)
        store.db.close()

    def states(self) -> dict[str, int]:
        """Count notes by state."""
        return dict(self.queue("SELECT state, count(*) FROM note GROUP BY state"))


def no(asked: str) -> str:
    """Answer a question of memman's with no."""
    return "no\n" if obliging(asked) else ""


def rows(path: Path, sql: str, values: tuple[object, ...] = ()) -> list:
    """Run one statement on a connection of its own."""
    db = apsw.Connection(str(path))
    db.set_busy_timeout(10_000)
    db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    try:
        return [row[0] if len(row) == 1 else row for row in db.execute(sql, values)]
    finally:
        db.close()


def wait_until(condition, seconds: float = PATIENCE) -> None:
    """Wait until `condition()` holds; fail the test if it never does."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.005)


class Standin:
    """A program put in the place of one of the system's: it keeps what it was called with, and answers by a script."""

    def __init__(self, folder: Path, name: str, script: str) -> None:
        folder.mkdir(exist_ok=True)
        self.log = folder / f"{name}.log"
        path = folder / name
        path.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$*\" >>'{self.log}'\n{script}\n")
        path.chmod(0o755)

    def calls(self) -> list[str]:
        """Return what it was called with so far, and forget it."""
        said = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return said
