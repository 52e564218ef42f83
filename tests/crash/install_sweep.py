"""Runs a memman verb in a fork for each of many homes, killed at a later call that writes in each; prints JSON.

Arguments: a home to copy, a folder for the copies, the command lines (JSON) that come before, that is killed, and that
come after, and how many calls lie between two kills. For each home it prints the files after the kill, and after each
command that came then.
"""

import json
import os
import shutil
import sys
from pathlib import Path

from memman import _entry
from memman.commands import install
from memman.config.places import data_dir
from memman.integrations.clients import TARGETS
from memman.integrations.target import Wiring

KILLED = 137
_WATCHED = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "os.truncate"}


def main(template, homes, before, killed, after, step):
    """Sweep until a fork comes to its end."""
    swept, code = [], KILLED
    while code == KILLED:
        home = Path(homes, str(len(swept) + 1))
        shutil.copytree(template, home, symlinks=True)
        assert [run(home, words) for words in before] == [0] * len(before)
        code = run(home, killed, at=1 + step * len(swept))
        states = [snapshot(home)]
        for words in after[len(swept) % len(after)]:
            assert run(home, words) == 0
            states.append(snapshot(home))
        swept.append(states)
    assert code == 0
    json.dump(swept, sys.stdout)


def run(home, words, at=0):
    """Run one command line in a fork, which dies at its `at`-th call that writes; return its exit code."""
    child = os.fork()
    if not child:
        os.environ["HOME"] = str(home)
        sys.argv = ["memman", *words]
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - open until the fork ends
        if at:
            sys.addaudithook(killer(at))
        os._exit(taken_out(words[2]) if words[0] == "uninstall" else _entry.main())
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def taken_out(name):
    """Uninstall an agent as the verb does once a person has agreed; return its exit code."""
    work = install.Work(data_dir())
    install.take_out(work, [TARGETS[name]], Wiring(data_dir()), whole=False)
    return work.code


def killer(at):
    """Return an audit hook that ends the process at the `at`-th call that writes, before it is made."""
    left = [at]

    def hook(event, args):
        if event in _WATCHED or (event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR)):
            left[0] -= 1
            if not left[0]:
                os._exit(KILLED)

    return hook


def snapshot(home):
    """Return the files of a home as text, None for a folder; the home's own name is written HOME."""
    return {
        str(path.relative_to(home)): path.read_bytes().decode().replace(str(home), "HOME") if path.is_file() else None
        for path in sorted(home.rglob("*"))
    }


if __name__ == "__main__":
    main(*sys.argv[1:3], *map(json.loads, sys.argv[3:]))
