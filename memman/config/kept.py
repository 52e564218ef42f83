"""The copy of memman that `install` keeps in the data folder where what runs it vanishes: `uvx`, `pipx run`."""

import os
import shutil
import sys
import sysconfig
from contextlib import suppress
from hashlib import blake2b
from itertools import accumulate
from typing import NoReturn

from memman.config.filesystem import ensure_safe_folder
from memman.config.places import FOLDER_MODE, make_folder
from memman.model.errors import CannotWrite

# What a cache's folder holds (https://bford.info/cachedir), and how those are called that lack it.
_TAG = "CACHEDIR.TAG"
_CACHES = frozenset((".cache", "Caches"))
_DIGEST_BYTES = 8
_LEFT_OUT = shutil.ignore_patterns("*.pth", "pip", "pip-*", "setuptools", "setuptools-*")
_SCRIPT = """\
#!/bin/sh
'''exec' "$(dirname -- "$(realpath -- "$0")")"/python "$0" "$@"
' '''
from memman._entry import leave, main

leave(main())
"""


def kept_path(data: str) -> str:
    """Return the folder of the copies."""
    return data + "/program"


def in_cache(path: str) -> bool:
    """Whether a path is below the folder of a cache, which may be cleared at any time."""
    above = list(accumulate(os.path.dirname(path).split("/"), lambda one, name: f"{one}/{name}"))
    return any(os.path.basename(one) in _CACHES or os.path.isfile(f"{one}/{_TAG}") for one in above if one)


def stay(data: str) -> None:
    """Where the environment that runs us vanishes, keep a copy of it, and have that do in our place what we are to do.

    Raises CannotWrite.
    """
    if in_cache(sys.prefix):
        _go_on(_kept(data))


def forget_others(data: str) -> None:
    """Remove the copies but the one that runs us, if one does."""
    folder = kept_path(data)
    with suppress(OSError):
        for name in os.listdir(folder):
            if not os.path.samefile(f"{folder}/{name}", sys.prefix):
                shutil.rmtree(f"{folder}/{name}", ignore_errors=True)


def _go_on(copy: str) -> NoReturn:
    """Become the copy, in the environment that we would have without `uvx`."""
    own = sysconfig.get_path("scripts")
    path = ":".join(one for one in os.environ.get("PATH", "").split(":") if one != own)
    environ = {name: value for name, value in os.environ.items() if name not in {"VIRTUAL_ENV", "PYTHONPATH"}}
    sys.stdout.flush()
    os.execve(f"{copy}/bin/memman", ["memman", *sys.argv[1:]], environ | {"PATH": path})  # noqa: S606 - our own copy


def _kept(data: str) -> str:
    """Copy the environment, unless that was done, and return where it is."""
    from venv import EnvBuilder

    if in_cache(os.path.realpath(sys._base_executable)):  # type: ignore[attr-defined]  # noqa: SLF001 - as venv does
        raise CannotWrite(f"{sys.executable} is in a cache that may be cleared: install memman with pipx or uv tool")
    copy = f"{kept_path(data)}/{_digest()}"
    if os.path.isdir(copy):
        return copy
    ensure_safe_folder(data)
    draft = f"{copy}.{os.getpid()}.new"
    try:
        make_folder(kept_path(data))
        EnvBuilder(symlinks=True, with_pip=False).create(draft)
        version = "python{}.{}".format(*sys.version_info)
        for folder in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
            shutil.copytree(folder, f"{draft}/lib/{version}/site-packages", ignore=_LEFT_OUT, dirs_exist_ok=True)
        script = f"{draft}/bin/memman"
        with open(script, "w", encoding="utf-8") as file:
            file.write(_SCRIPT)
        os.chmod(script, FOLDER_MODE)
        os.rename(draft, copy)
    except (OSError, shutil.Error) as error:
        if os.path.isdir(copy):  # another install was as fast
            return copy
        raise CannotWrite(f"no copy of memman could be kept in {kept_path(data)}: {error}") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return copy


def _digest() -> str:
    """Tell this environment from others: by its Python, what is installed, and memman's own files."""
    from importlib.metadata import distributions

    parts = [sys.version, sys._base_executable]  # type: ignore[attr-defined]  # noqa: SLF001 - as venv does
    for one in distributions():
        own = one.read_text("RECORD") if one.name == "memman" else ""
        parts.append(f"{one.name} {one.version} {own}")
    return blake2b("\n".join(sorted(parts)).encode(), digest_size=_DIGEST_BYTES).hexdigest()
