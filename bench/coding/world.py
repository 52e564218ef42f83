"""A user's home with memman and repositories: talks are played through the hooks, commits made, histories learned."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import apsw

from bench.coding.tasks import Past, Task
from memman.config.places import store_path
from memman.config.stores import DEFAULT
from tests.support.terminal import attended

HOST = "claude-code"
# The first commit, and what lies between two commits, in seconds.
_BEGAN, _STEP = 1_772_323_200, 3_600
_MEMORIES = (
    "SELECT m.text, m.status, r.session, r.revision FROM memory m JOIN receipt r ON r.note = m.note"
    " WHERE m.status IN ('current', 'superseded') ORDER BY m.id"
)
_NAME, _EMAIL = "Dev", "dev@example.org"


class World:
    """A home folder; nothing of this machine's user gets in."""

    def __init__(self, home: str) -> None:
        self.home, self._commits, self._talks = Path(home), 0, 0
        self.environ = {
            "HOME": home,
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "MEMMAN_DRAIN": "off",
        }
        self.home.mkdir(parents=True, exist_ok=True)
        (self.home / ".gitconfig").write_text(f"[user]\n\tname = {_NAME}\n\temail = {_EMAIL}\n", encoding="utf-8")
        # Which commits and which sessions say what a task needs.
        self.said: dict[str, list[str]] = {}

    @property
    def memman(self) -> list[str]:
        """The command."""
        return [sys.executable, "-m", "memman"]

    def run(self, *args: str, repository: str = "", said: str = "") -> str:
        """Run memman as this user; return what it prints."""
        done = subprocess.run(
            [*self.memman, *args],
            input=said,
            env=self.environ,
            cwd=self.folder(repository) if repository else self.home,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def folder(self, repository: str) -> Path:
        """Return a repository's folder; made where there is none."""
        path = self.home / "src" / repository
        if not path.exists():
            path.mkdir(parents=True)
            self._git(path, "init", "--quiet", "--initial-branch=main")
            self._git(path, "remote", "add", "origin", f"https://example.org/dev/{repository}.git")
            self.commit(Past(repository, commit=("Begin", ""), path="README.md"), "")
        return path

    def _git(self, folder: Path, *args: str, **more: str) -> str:
        command = ("git", "-C", str(folder), *args)
        environ = self.environ | more
        return subprocess.run(command, env=environ, capture_output=True, text=True, check=True).stdout.strip()

    def commit(self, past: Past, task: str) -> None:
        """Make a commit that changes a file."""
        folder = self.folder(past.repository)
        self._commits += 1
        file = folder / past.path
        file.parent.mkdir(parents=True, exist_ok=True)
        with open(file, "a", encoding="utf-8") as text:
            text.write(f"{self._commits}\n")
        self._git(folder, "add", "--all")
        when = f"{_BEGAN + self._commits * _STEP} +0000"
        subject, body = past.commit
        dates = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
        self._git(folder, "commit", "--quiet", "--message", f"{subject}\n\n{body}", **dates)
        self.said.setdefault(task, []).append(self._git(folder, "rev-parse", "HEAD"))

    def play(self, past: Past, task: str) -> None:
        """Play a talk through the hooks, as a session of its own."""
        self._talks += 1
        session = f"talk-{self._talks}"
        self.said.setdefault(task, []).append(session)
        for n, (user, agent) in enumerate(past.turns):
            self.hook("UserPromptSubmit", session, past.repository, prompt_id=f"p{n}", prompt=user)
            self.hook("Stop", session, past.repository, prompt_id=f"p{n}", last_assistant_message=agent)
        self.hook("SessionEnd", session, past.repository)

    def hook(self, event: str, session: str, repository: str, **fields: Any) -> str:
        """Call a hook as Claude Code does; return the context that it gives."""
        said = {"session_id": session, "cwd": str(self.folder(repository)), "hook_event_name": event} | fields
        printed = self.run("hook", _EVENTS[event], "--host", HOST, repository=repository, said=json.dumps(said))
        if not printed.strip():
            return ""
        context: str = json.loads(printed)["hookSpecificOutput"]["additionalContext"]
        return context

    def drain(self) -> None:
        """Make memories of all that waits."""
        self.run("scheduler", "drain")

    def learn(self, repositories: Iterable[str], *args: str) -> None:
        """Run bootstrap in each, as a person who agrees."""
        for repository in repositories:
            command = [*self.memman, "bootstrap", *args]
            done = attended(command, self.environ, self.folder(repository))
            if done.returncode:
                raise RuntimeError(done.stdout + done.stderr)

    def build(self, tasks: Iterable[Task], before: Iterable[Past] = ()) -> None:
        """Make all that happened: first what nobody asks for, then each step of every task, a drain behind it."""
        tasks = [*tasks]
        self.run("scheduler", "start")
        for past in before:
            self.play(Past(tasks[0].repository, past.turns), "")
        self.drain()
        commits = [(past, task) for task in tasks for past in task.past if past.commit[0]]
        for past, task in sorted(commits, key=lambda one: one[1].past.index(one[0])):
            self.commit(past, task.id)
        self.learn(dict.fromkeys(past.repository for past, _ in commits), "--only", "commits", "--only", "reverts")
        self.drain()
        for step in range(max(len(task.past) for task in tasks)):
            for task in tasks:
                if task.past[step:] and task.past[step].turns:
                    self.play(task.past[step], task.id)
            self.drain()

    def asked(self, task: Task) -> tuple[str, str, float]:
        """Begin a session with a task's prompt: what stands before the model at its start, beside it, and seconds."""
        session, began = f"new-{task.id}", time.monotonic()
        start = self.hook("SessionStart", session, task.repository, source="startup")
        beside = self.hook("UserPromptSubmit", session, task.repository, prompt_id="q", prompt=task.prompt)
        return start, beside, time.monotonic() - began

    def alone(self, task: Task) -> str:
        """Return what a task's prompt alone brings before the model, in a session that has nothing of its start."""
        session = f"alone-{task.id}"
        self.hook("PreCompact", session, task.repository)
        return self.hook("UserPromptSubmit", session, task.repository, prompt_id="q", prompt=task.prompt)

    def memories(self) -> list[Mapping[str, str]]:
        """Return all that was ever kept, the oldest first."""
        path = store_path(f"{self.home}/.memman", DEFAULT)
        db = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
        rows = [dict(zip(("text", "status", "session", "revision"), row, strict=True)) for row in db.execute(_MEMORIES)]
        db.close()
        return rows

    def copied(self, name: str) -> "World":
        """Return a copy of this world with memories of its own."""
        other = World(str(self.home.with_name(name)))
        shutil.copytree(self.home, other.home, dirs_exist_ok=True, symlinks=True)
        return other


_EVENTS = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "user-prompt",
    "PreCompact": "pre-compact",
    "Stop": "stop",
    "SessionEnd": "session-end",
}
