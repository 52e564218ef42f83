"""Programs of agents: where they are, and one run, bounded in time and size, its whole process group ended."""

import asyncio
import os
import shutil
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from glob import glob
from pathlib import Path

from memman.model.errors import ProviderUnavailable

# Bytes of either stream that are kept: an answer is far shorter.
_KEPT = 1 << 20
# Seconds that a program has between being asked and being made to end, and its streams after it has ended.
_NOTICE, _LATE = 2.0, 1.0
# Waits until its input ends, as it does when this process is killed, and ends the group then.
_GUARD = 'read -r line; kill -s KILL -- "-$1"'
# What drains and hooks are told apart by; none of it is the program's.
_OURS = "MEMMAN_"
# How memman's unit stands in the name of its control group.
_UNIT = "memman-drain"


@dataclass(frozen=True, slots=True)
class Ran:
    """How a program ended, and what it wrote."""

    code: int
    out: str
    err: str


class TimedOut(ProviderUnavailable):
    """The program did not end in time; `out` is what it had written."""

    out = ""


async def run(
    argv: Sequence[str], given: str, *, folder: str, environ: Mapping[str, str], limit: float, name: str
) -> Ran:
    """Run `argv` in `folder` for at most `limit` seconds; its whole group ends with it, even if we are killed.

    Raises TimedOut, and ProviderUnavailable where it cannot be started.
    """
    apart = _apart(argv, folder, environ, limit)
    try:
        process = await asyncio.create_subprocess_exec(
            *(apart or argv),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=folder,
            env={**_own(), **environ},
            start_new_session=True,
        )
    except OSError as error:
        raise ProviderUnavailable(f"{name} could not be started: {error.strerror}") from error
    guard, streams = None, _Streams(process, given)
    try:
        guard = None if apart else await _guarded(process.pid)
        async with asyncio.timeout(limit):
            code = await process.wait()
        await streams.drained()
        return Ran(code, streams.out, streams.err)
    except TimeoutError:
        late = TimedOut(f"{name} did not answer within {limit:.0f} s")
        late.out = streams.out
        raise late from None
    finally:
        streams.abandon()
        await _end(process)
        if guard:
            guard.kill()
            await guard.wait()


def _own() -> dict[str, str]:
    """Return this process's environment without what is memman's; its hooks stay silent in what is started so."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_OURS)} | {"MEMMAN_HOOKS": "off"}


def _apart(argv: Sequence[str], folder: str, environ: Mapping[str, str], limit: float) -> list[str]:
    """Return a command that has systemd run `argv` outside of memman's unit and its sandbox; none elsewhere."""
    systemd = shutil.which("systemd-run")
    if not (systemd and _confined()):
        return []
    told = {**environ, "MEMMAN_HOOKS": "off"}
    return [
        *(systemd, "--user", "--pipe", "--wait", "--collect", "--quiet", "--service-type=exec"),
        f"--working-directory={folder}",
        f"--property=RuntimeMaxSec={limit:.0f}",
        *(f"--setenv={name}={value}" for name, value in told.items()),
        "--",
        *argv,
    ]


def _confined() -> bool:
    """Whether this process runs in memman's unit and may gain no privileges."""
    with suppress(OSError):
        held = "\nNoNewPrivs:\t1\n" in Path("/proc/self/status").read_text(encoding="ascii")
        return held and _UNIT in Path("/proc/self/cgroup").read_text(encoding="utf-8", errors="replace")
    return False


class _Streams:
    """What a process writes, read while it runs, and what it is given to read."""

    def __init__(self, process: asyncio.subprocess.Process, given: str) -> None:
        self._out, self._err = bytearray(), bytearray()
        work = (
            _read(process.stdout, self._out),
            _read(process.stderr, self._err),
            _give(process.stdin, given.encode()),
        )
        self._tasks = [asyncio.create_task(one) for one in work]

    @property
    def out(self) -> str:
        return self._out.decode("utf-8", "replace")

    @property
    def err(self) -> str:
        return self._err.decode("utf-8", "replace")

    async def drained(self) -> None:
        """Wait until all is read, but not for long: what the process has left running may hold its streams open."""
        await asyncio.wait(self._tasks, timeout=_LATE)

    def abandon(self) -> None:
        for task in self._tasks:
            task.cancel()


async def _read(stream: asyncio.StreamReader | None, kept: bytearray) -> None:
    while stream and (piece := await stream.read(1 << 16)):
        kept += piece[: _KEPT - len(kept)]


async def _give(stream: asyncio.StreamWriter | None, given: bytes) -> None:
    if stream:
        with suppress(OSError):  # what ends without reading says why otherwise
            stream.write(given)
            await stream.drain()
        stream.close()


async def _guarded(group: int) -> asyncio.subprocess.Process | None:
    """Start what ends a process group if this process is killed; without a shell nothing is started."""
    with suppress(OSError):
        return await asyncio.create_subprocess_exec(
            *("/bin/sh", "-c", _GUARD, "memman", str(group)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
    return None


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the group, asked first, then made to."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.returncode is None or number == signal.SIGKILL:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, number)
        if process.returncode is None:
            with suppress(TimeoutError):
                async with asyncio.timeout(_NOTICE):
                    await process.wait()


# Folders below HOME, newest version first where there are several.
_USUAL = (
    "~/.local/bin",
    "~/.claude/local",
    "~/.opencode/bin",
    "~/.npm-global/bin",
    "~/.npm/bin",
    "~/.bun/bin",
    "~/.volta/bin",
    "~/.local/share/pnpm",
    "~/.local/share/mise/shims",
    "~/.asdf/shims",
    "~/.nvm/versions/node/*/bin",
    "~/.local/share/fnm/node-versions/*/installation/bin",
    "/opt/homebrew/bin",
    "/usr/local/bin",
    "/usr/bin",
)


def find(name: str, named: str = "") -> str:
    """Return the path of a program: the one `named`, if it is there and of that name, else any; '' for none."""
    if name in os.path.basename(named) and _runs(named):
        return named
    return next((path for folder in folders() if _runs(path := os.path.join(folder, name))), "")


def folders() -> list[str]:
    """Return where programs are looked for, in order."""
    there = [folder for folder in os.environ.get("PATH", "").split(os.pathsep) if os.path.isabs(folder)]
    usual = (sorted(glob(os.path.expanduser(pattern)), reverse=True) for pattern in _USUAL)
    return list(dict.fromkeys([*there, *(folder for found in usual for folder in found)]))


def search_path(program: str) -> str:
    """Return a PATH for a program, its own folder first: what it is started by is often beside it."""
    return os.pathsep.join(dict.fromkeys([os.path.dirname(program), *folders(), "/bin"]))


def _runs(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)
