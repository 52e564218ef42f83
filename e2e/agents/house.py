"""A HOME in which memman is installed and wired to the real clients."""

import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from clients import Desk, Turn

from tests.support.terminal import attended

Said = TypeVar("Said")


@dataclass(frozen=True)
class House:
    """A HOME in which memman is installed and wired to every client, each with its desk."""

    home: Path
    program: Path
    desks: dict[str, Desk]

    def memman(self, *args: str, folder: str = ".", environ: Mapping[str, str] = MappingProxyType({})) -> str:
        """Run the installed memman as this user, by itself in no repository: what is said there holds everywhere."""
        done = subprocess.run(
            [self.program, *args],
            env=self.environ | environ,
            cwd=self.home / folder,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, f"{' '.join(args)}: {done.stderr}"
        return done.stdout

    def person(self, *args: str, folder: str = ".", environ: Mapping[str, str] = MappingProxyType({})) -> str:
        """Run what only a person may, at a terminal where they agree."""
        done = attended([str(self.program), *args], self.environ | environ, self.home / folder)
        assert done.returncode == 0, f"{' '.join(args)}: {done.stderr}"
        return done.stdout

    def repository(self, name: str, files: Mapping[str, str] = MappingProxyType({})) -> None:
        """Make a repository of git with one commit."""
        folder = self.home / name
        folder.mkdir()
        for path, text in files.items():
            (folder / path).write_text(text)
        who = ("-c", "user.name=x", "-c", "user.email=x@example.com")
        for args in (("init", "-q"), ("add", "."), (*who, "commit", "-q", "--allow-empty", "-m", f"Begin {name}")):
            subprocess.run(["git", *args], cwd=folder, env=self.environ, check=True)

    @property
    def environ(self) -> dict[str, str]:
        """What this user's shell has."""
        return {"HOME": str(self.home), "PATH": "/usr/bin:/bin"}

    def each(self, prompts: Mapping[str, Sequence[str]]) -> dict[tuple[str, str], Turn]:
        """Have clients asked their prompts in turn."""
        turns = self.at_desks(prompts, lambda desk: [desk.ask(prompt) for prompt in prompts[desk.client.name]])
        return {(name, turn.prompt): turn for name in turns for turn in turns[name]}

    def at_desks(self, names: Iterable[str], do: Callable[[Desk], Said]) -> dict[str, Said]:
        """Do something at the desks of these clients, two at a time: the machine may have two cores."""
        with ThreadPoolExecutor(2) as pool:
            return dict(zip(names, pool.map(do, (self.desks[name] for name in names)), strict=True))

    def wire(self) -> None:
        """Tell the clients of their models, then install as a user does."""
        for desk in self.desks.values():
            desk.prepare()
        targets = [word for name in self.desks for word in ("--target", name)]
        self.memman("install", "--no-wizard", "--allow-conversation-access", *targets)


def installed(bin: Path, home: Path) -> Path:  # noqa: A002
    """Copy the environment the wheel was installed into, so that it can be broken; return its memman."""
    venv = shutil.copytree(bin.parent, home / "venv", symlinks=True)
    program = venv / "bin/memman"
    program.write_text(program.read_text().replace(str(bin.parent), str(venv)))
    return program
