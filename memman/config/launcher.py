"""The launcher: the one path that hooks and units call, whatever is upgraded behind it.

Where what runs memman vanishes (`uvx`, `pipx run`), `install` keeps a copy of it in the data folder.
"""

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from contextlib import suppress
from hashlib import blake2b
from itertools import accumulate
from typing import NamedTuple, NoReturn

import memman
from memman.config.command import launcher_path
from memman.config.places import FOLDER_MODE, ensure_safe_folder, make_folder, read_file, split_lines, write_file
from memman.model.errors import CannotWrite

_PATIENCE = 10.0  # seconds for an interpreter to answer
_PATHS = "import sys; print(*sys.path, sep='\\n')"
# Told the usual folders, says which of them it lacks, and where it finds memman with them.
_LACKS = """\
import sys
lacks = [folder for folder in sys.argv[1:] if folder not in sys.path]
sys.path += lacks
import apsw, click, memman
print(memman.__file__, *lacks, sep="\\n")
"""


class Interpreter(NamedTuple):
    """An interpreter, and its version and the folders it is to look into besides its own, parted by colons."""

    python: str = ""
    library: str = ""


NONE = Interpreter()


def quick() -> Interpreter:
    """Return how our interpreter starts memman without `site` and without PYTHONPATH; none where it cannot."""
    usual = _said("-E", "-P", "-c", _PATHS)
    found, *lacks = _said("-I", "-S", "-c", _LACKS, *usual) or [""]
    parts = ["{}.{}".format(*sys.version_info), *lacks]
    if found != memman.__file__ or any(":" in part for part in parts):
        return NONE
    return Interpreter(sys.executable, ":".join(parts))


def _said(*args: str) -> list[str]:
    """Return the lines that this interpreter prints, none where it fails."""
    try:
        done = subprocess.run(  # noqa: S603 - our own interpreter
            [sys.executable, *args],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return []
    return [] if done.returncode else done.stdout.splitlines()


_MODE = 0o700


def program() -> str:
    """Return the `memman` of the environment that runs us."""
    beside = os.path.join(sysconfig.get_path("scripts"), "memman")
    return beside if os.access(beside, os.X_OK) else os.path.abspath(sys.argv[0])


def moved(data: str) -> bool:
    """Whether the data folder is another than the usual one, so that who calls us must be told."""
    return data != os.path.abspath(os.path.expanduser("~/.memman"))


# The hot verbs, which are started without what `site` does; see docs/adr/0028-start-up.md.
_QUICK = "remember | recall | hook"
# Told the version and the folders of Interpreter.library, the program, and its words.
_START = """\
import sys
version, *library = sys.argv[1].split(":")
del sys.argv[:2]
if version == "{}.{}".format(*sys.version_info):
    sys.path += library
try:
    from memman._entry import leave, main
except ImportError:
    import os
    os.execv(sys.argv[0], sys.argv)
leave(main())
"""
# What the launcher does for a hook, told the folder in `data`: it must never fail an agent's turn.
#
# A program that has begun (SIGUSR2) ends within its own time; one that has more to keep then lets the launcher go
# (SIGUSR1), closes its output, and finishes behind the turn. One that has not begun when the agent ends the hook is
# ended too, since some agents wait for its output to close, and left alone for a minute; what hooks leave undone
# then is counted (memman.queue.late). Gemini CLI takes an empty output for a fault. Where there are no rules nothing is
# started for a command.
_HOOK = """\
    if [ "$named" = pre-command ] && ! [ -s "$data/rules" ]; then
        cat >/dev/null
        case "$*" in *--host?gemini*) echo "{}" ;; esac
        exit 0
    fi
    hung="$data/hung"
    lost() {
        case $1 in stop | post-compact) what=turn ;; user-prompt) what=prompt ;; *) what=answer ;; esac
        (umask 077; echo "$(date +%s) $what $1" >>"$data/late") 2>/dev/null
    }
    if [ -e "$hung" ]; then
        [ -z "$(find "$hung" -mmin -1 2>/dev/null)" ] || { program=; lost "$named"; }
        [ -z "$program" ] || rm -f "$hung"
    fi
    if ! [ -f "$program" ] || ! [ -x "$program" ]; then
        case "$*" in *--host?gemini*) echo "{}" ;; esac
        exit 0
    fi
    exec 3<&0
    begun=
    trap begun=1 USR2
    trap 'exit 0' USR1
    trap 'kill -KILL $! 2>/dev/null; exit 0' INT HUP
    gone() { kill -KILL $! 2>/dev/null; (umask 077; : >"$hung"); lost "$named"; }
    trap '[ "$begun" ] || gone; exit 0' TERM
    MEMMAN_LAUNCHER=$$ "$@" <&3 3<&- &
    wait $!
    while kill -0 $! 2>/dev/null; do wait $!; done
    exit 0
"""


def text(data: str, target: str, start: Interpreter = NONE) -> str:
    """Return what the launcher holds; for `hook` it always succeeds."""
    folder = f': "${{MEMMAN_DATA_DIR:={_inner(data)}}}"\nexport MEMMAN_DATA_DIR\n' if moved(data) else ""
    return (
        "#!/bin/sh\n"
        "# Written by `memman install`. Hooks and units call this path; the lines below follow an upgrade.\n"
        f"{folder}"
        f"program={shlex.quote(target)}\n"
        f"python={shlex.quote(start.python)}\n"
        f"library={shlex.quote(start.library)}\n"
        "verb=$1 named=$2\n"
        f"case $verb in {_QUICK}) ;; *) python= ;; esac\n"
        'if [ -x "$python" ]; then\n'
        f'    set -- "$python" -I -S -c {shlex.quote(_START)} "$library" "$program" "$@"\n'
        "else\n"
        '    set -- "$program" "$@"\n'
        "fi\n"
        'if [ "$verb" = hook ]; then\n'
        f'    data="{"$MEMMAN_DATA_DIR" if folder else "$HOME/.memman"}"\n'
        f"{_HOOK}fi\n"
        'exec "$@"\n'
    )


def _inner(path: str) -> str:
    """Write a path for the inside of double quotes."""
    return "".join("\\" + c if c in '\\"$`}' else c for c in path)


def lay(data: str) -> str:
    """Write the launcher for the `memman` that runs us, whole at any moment; return its path. Raises CannotWrite."""
    path, wanted = launcher_path(data), text(data, program(), quick())
    if read_file(path) != wanted or not os.access(path, os.X_OK):
        write_file(path + ".draft", wanted)
        os.chmod(path + ".draft", _MODE)
        os.replace(path + ".draft", path)
    with suppress(OSError):  # what hung before is started again
        os.unlink(data + "/hung")
    return path


def target(data: str) -> str:
    """Return the program that the launcher starts, '' where there is no launcher. Raises ValueError."""
    return _held(data, "program")


def start(data: str) -> Interpreter:
    """Return the interpreter by which the launcher starts the hot verbs. Raises ValueError."""
    return Interpreter(_held(data, "python"), _held(data, "library"))


def _held(data: str, name: str) -> str:
    lines = (line for line in split_lines(read_file(launcher_path(data))) if line.startswith(name + "="))
    return "".join(shlex.split(next(lines, "").removeprefix(name + "=")))


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


def link(data: str) -> None:
    """Have shells find a copy by memman's name, where nothing has it yet."""
    if program().startswith(kept_path(data) + "/") and not os.path.lexists(_link()):
        with suppress(OSError):
            os.makedirs(os.path.dirname(_link()), exist_ok=True)
            os.symlink(launcher_path(data), _link())


def remove(data: str) -> None:
    """Remove the launcher, what leads to it, and the copies."""
    path = launcher_path(data)
    with suppress(OSError):
        if os.readlink(_link()) == path:
            os.unlink(_link())
    with suppress(OSError):
        os.unlink(path)
        os.rmdir(os.path.dirname(path))
    shutil.rmtree(kept_path(data), ignore_errors=True)


def _link() -> str:
    return os.path.expanduser("~/.local/bin/memman")


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
