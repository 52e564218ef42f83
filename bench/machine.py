"""A machine as a user's: memman's wheel in a virtual environment of its own, a project, a plain environment."""

import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import time
from dataclasses import dataclass

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Not for a user's environment: the checkout itself, and what only a developer has at start-up.
_LEFT_OUT = ("memman", "_memman", "__editable__", "__pycache__", "_distutils_hack", "_virtualenv")

_FLOOR = """\
import os
import sys
import time

import apsw

db = apsw.Connection(sys.argv[1], flags=apsw.SQLITE_OPEN_READWRITE)
db.set_busy_timeout(10_000)
db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
db.wal_autocheckpoint(0)
db.execute("PRAGMA synchronous=FULL")
uid = os.urandom(16).hex()
db.execute("BEGIN IMMEDIATE")
db.execute(
    "INSERT INTO note(uid, store, text, source, queued_at) VALUES (?, 'floor', ?, 'user', ?)",
    (uid, sys.argv[2] + uid, time.time_ns() // 1_000_000),
)
db.execute("COMMIT")
db.close()
print(uid)
"""


@dataclass(frozen=True, slots=True)
class Machine:
    """One installation: its folder and the folder commands run in."""

    folder: str
    project: str

    @property
    def python(self) -> str:
        """The interpreter."""
        return self.folder + "/bin/python"

    @property
    def memman(self) -> str:
        """The console script."""
        return self.folder + "/bin/memman"

    def launcher(self, data: str) -> str:
        """Lay down what `memman install` does, and return its path: hooks call it, and agents by its link."""
        _run(self.python, "-c", "import sys; from memman.config.launcher import lay; lay(sys.argv[1])", data)
        return data + "/bin/memman"

    def env(self, data: str) -> dict[str, str]:
        """Return the environment of a user whose memories are in `data`."""
        home = os.path.dirname(self.project)
        return {
            "HOME": home,
            "USER": "dev",
            "LANG": "C.UTF-8",
            "PATH": f"{self.folder}/bin:/usr/local/bin:/usr/bin:/bin",
            "MEMMAN_DATA_DIR": data,
            "MEMMAN_SESSION": "bench",
            # Figures say themselves when a drain runs.
            "MEMMAN_DRAIN": "off",
        }


def wheel(work: str) -> str:
    """Build memman's wheel from this checkout and return its path."""
    out = work + "/wheel"
    shutil.rmtree(out, ignore_errors=True)
    _run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, ROOT)
    return f"{out}/{os.listdir(out)[0]}"


def install(work: str, name: str, built: str, without: tuple[str, ...] = ()) -> Machine:
    """Install the wheel `built` in an environment that has what the running one has, but for `without`."""
    folder = f"{work}/{name}"
    shutil.rmtree(folder, ignore_errors=True)
    _run(sys.executable, "-m", "venv", "--without-pip", folder)
    python = folder + "/bin/python"
    packages = sysconfig.get_path("purelib", vars={"base": folder, "platbase": folder})
    _link(sysconfig.get_path("purelib"), packages, (*_LEFT_OUT, *without))
    _run(sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-index", "--no-deps", built)
    return Machine(folder, _project(work))


def floor(work: str) -> str:
    """Write the floor script: the least that can put a row into the queue durably."""
    path = work + "/floor.py"
    with open(path, "w", encoding="utf-8") as script:
        script.write(_FLOOR)
    return path


def described() -> dict[str, object]:
    """Say what this machine is, how busy, and when: what every file of figures begins with."""
    return {
        "python": platform.python_version(),
        "system": platform.platform(),
        "processors": os.cpu_count(),
        "load_average": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def _link(there: str, here: str, left_out: tuple[str, ...]) -> None:
    for name in os.listdir(there):
        if not name.startswith(left_out) and not name.endswith(".pth"):
            os.symlink(f"{there}/{name}", f"{here}/{name}")


def _project(work: str) -> str:
    """Make a folder that looks like a git repository, as most places do that an agent works in."""
    project = work + "/project"
    os.makedirs(project + "/.git", exist_ok=True)
    with open(project + "/.git/HEAD", "w", encoding="ascii") as head:
        head.write("0123456789abcdef0123456789abcdef01234567\n")
    with open(project + "/.git/config", "w", encoding="ascii") as config:
        config.write('[remote "origin"]\n\turl = https://example.org/team/project.git\n')
    return project


def _run(*command: str) -> None:
    """Run a tool quietly. Raises RuntimeError with what it said."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
