"""One run of a program that answers on standard output: bounded in time and size, its whole process group ended."""

import asyncio
import os
import shutil
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from memman.model.errors import ProviderUnavailable

# Bytes of either stream that are kept: an answer is far shorter.
_KEPT = 1 << 20
# Seconds that a program has between being asked and being made to end.
_NOTICE = 2.0
# What drains and hooks are told apart by; none of it is the program's.
_OURS = "MEMMAN_"


@dataclass(frozen=True, slots=True)
class Ran:
    """How a program ended, and what it wrote."""

    code: int
    out: str
    err: str


async def run(
    argv: Sequence[str], given: str, *, folder: str, environ: Mapping[str, str], limit: float, name: str
) -> Ran:
    """Run `argv` in `folder` with `given` on standard input for at most `limit` seconds.

    Raises ProviderUnavailable where it cannot be started or does not end in time. However this ends, so does every
    process that it started in its group.
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
    try:
        async with asyncio.timeout(limit):
            out, err, _ = await asyncio.gather(
                _read(process.stdout), _read(process.stderr), _give(process.stdin, given.encode())
            )
            return Ran(await process.wait(), out, err)
    except TimeoutError:
        raise ProviderUnavailable(f"{name} did not answer within {limit:.0f} s") from None
    finally:
        await _end(process)


def _own() -> dict[str, str]:
    """Return this process's environment without what is memman's; its hooks stay silent in what is started so."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_OURS)} | {"MEMMAN_HOOKS": "off"}


def _apart(argv: Sequence[str], folder: str, environ: Mapping[str, str], limit: float) -> list[str]:
    """Return a command that has systemd run `argv` outside of the drain's sandbox; none where there is no sandbox.

    What compiles as it runs cannot do so within, nor write what it keeps of its login.
    """
    if not _confined():
        return []
    systemd = shutil.which("systemd-run")
    if not systemd:
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
    """Whether this process may gain no privileges, as memman's units have it."""
    with suppress(OSError):
        return "\nNoNewPrivs:\t1\n" in Path("/proc/self/status").read_text(encoding="ascii")
    return False


async def _read(stream: asyncio.StreamReader | None) -> str:
    kept = bytearray()
    while stream and (piece := await stream.read(1 << 16)):
        kept += piece[: _KEPT - len(kept)]
    return kept.decode("utf-8", "replace")


async def _give(stream: asyncio.StreamWriter | None, given: bytes) -> None:
    if stream:
        with suppress(OSError):  # what ends without reading says why otherwise
            stream.write(given)
            await stream.drain()
        stream.close()


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the group, asked first, then made to."""
    for number, patience in ((signal.SIGTERM, _NOTICE), (signal.SIGKILL, _NOTICE)):
        if process.returncode is None or number == signal.SIGKILL:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, number)
        if process.returncode is None:
            with suppress(TimeoutError):
                async with asyncio.timeout(patience):
                    await process.wait()
