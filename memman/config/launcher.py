"""The launcher: the one path that hooks and units call, whatever is upgraded behind it."""

import os
import shlex
import sys
import sysconfig

from memman.config.places import read_file, write_file

_MODE = 0o700


def launcher_path(data: str) -> str:
    """Return the launcher's path."""
    return data + "/bin/memman"


def program() -> str:
    """Return the `memman` of the environment that runs us."""
    beside = os.path.join(sysconfig.get_path("scripts"), "memman")
    return beside if os.access(beside, os.X_OK) else os.path.abspath(sys.argv[0])


def moved(data: str) -> bool:
    """Whether the data folder is another than the usual one, so that who calls us must be told."""
    return data != os.path.abspath(os.path.expanduser("~/.memman"))


def text(data: str, target: str) -> str:
    """Return what the launcher holds. A hook must never fail an agent's turn, so for `hook` it always succeeds.

    An agent that ends a late hook ends the program behind it too: otherwise some wait for its output to close. Gemini
    CLI takes an empty output for a fault.
    """
    folder = f': "${{MEMMAN_DATA_DIR:={_inner(data)}}}"\nexport MEMMAN_DATA_DIR\n' if moved(data) else ""
    return (
        "#!/bin/sh\n"
        "# Written by `memman install`. Hooks and units call this path; the line below follows an upgrade.\n"
        f"{folder}"
        f"program={shlex.quote(target)}\n"
        'if [ "$1" = hook ]; then\n'
        '    if ! [ -f "$program" ] || ! [ -x "$program" ]; then\n'
        '        case "$*" in *--host?gemini*) echo "{}" ;; esac\n'
        "        exit 0\n"
        "    fi\n"
        "    exec 3<&0\n"
        '    "$program" "$@" <&3 3<&- &\n'
        '    trap "kill -KILL $!" TERM INT HUP\n'
        "    wait $!\n"
        "    exit 0\n"
        "fi\n"
        'exec "$program" "$@"\n'
    )


def _inner(path: str) -> str:
    """Write a path for the inside of double quotes."""
    return "".join("\\" + c if c in '\\"$`}' else c for c in path)


def lay(data: str) -> str:
    """Write the launcher for the `memman` that runs us, where it is not there yet; return its path.

    Raises CannotWrite. A hook that runs meanwhile finds the old one or the new one.
    """
    path, wanted = launcher_path(data), text(data, program())
    if read_file(path) != wanted or not os.access(path, os.X_OK):
        write_file(path + ".draft", wanted)
        os.chmod(path + ".draft", _MODE)
        os.replace(path + ".draft", path)
    return path


def target(data: str) -> str:
    """Return the program that the launcher starts, '' where there is no launcher."""
    lines = (line for line in read_file(launcher_path(data)).splitlines() if line.startswith("program="))
    return "".join(shlex.split(next(lines, "").removeprefix("program=")))
