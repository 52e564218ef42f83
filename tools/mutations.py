"""Whether the tests notice one-line faults in the core: each is put into a copy of the tree, and its tests are run.

The faults are tools/mutations.toml. Each copy, in a temporary folder, has an environment in which `memman` is that
copy, as a module and as a program. The tests must pass where nothing was changed, or their failure says nothing.
"""

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

HERE = Path(__file__).parents[1]
TABLE = HERE / "tools/mutations.toml"
_LEFT_OUT = shutil.ignore_patterns(".git", ".venv*", ".*_cache", ".hypothesis", "dist", "build", "out")
# Seconds that the tests of a fault, or all of them without any, may take.
PATIENCE, ALL = 300, 3600
# What pytest's exit codes say of a fault, 5 where none of the tests is of the part asked for; any other says that the
# tests could not be run.
_VERDICTS = {0: "survived", 1: "killed", 5: "survived"}


@dataclass(frozen=True, slots=True)
class Mutation:
    """The one place of `file` that says `old` says `new`, and one of `tests` should fail."""

    id: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def applied(self, root: Path) -> str:
        """Return the file's text with the fault. Raises ValueError where `old` does not occur exactly once."""
        text = (root / self.file).read_text(encoding="utf-8")
        if (count := text.count(self.old)) != 1:
            raise ValueError(f"{self.id}: {self.file} says {self.old!r} {count} times")
        return text.replace(self.old, self.new)

    def check(self, root: Path) -> None:
        """Raise ValueError where it cannot be put in, or one of its tests is not there."""
        self.applied(root)
        if missing := [test for test in self.tests if not _there(root, *test.split("::"))]:
            raise ValueError(f"{self.id}: there is no {', '.join(missing)}")


def _there(root: Path, file: str, *names: str) -> bool:
    path = root / file
    return path.exists() and all(f"def {name.partition('[')[0]}(" in path.read_text() for name in names[-1:])


def table(path: Path = TABLE) -> list[Mutation]:
    """Read the faults. Raises ValueError where two have one id."""
    rows = tomllib.loads(path.read_text(encoding="utf-8"))["mutation"]
    mutations = [Mutation(**row | {"tests": tuple(row["tests"])}) for row in rows]
    if len({one.id for one in mutations}) < len(mutations):
        raise ValueError("two mutations have the same id")
    return mutations


def chosen(mutations: Sequence[Mutation], ids: Sequence[str]) -> list[Mutation]:
    """Return the mutations whose ids are given, or all. Raises ValueError for an id that none has."""
    if unknown := set(ids) - {one.id for one in mutations}:
        raise ValueError(f"there is no mutation {', '.join(sorted(unknown))}")
    return [one for one in mutations if one.id in ids or not ids]


def copied(root: Path) -> Path:
    """Copy the tree to `root` with an environment of its own, and return its interpreter."""
    shutil.copytree(HERE, root, ignore=_LEFT_OUT, symlinks=True)
    environment = root / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(environment)}))
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if "memman" not in entry.name or entry.suffix == ".dist-info":
            (packages / entry.name).symlink_to(entry)
    (packages / "memman.pth").write_text(f"{root}\n", encoding="utf-8")
    script = environment / "bin/memman"
    python = environment / "bin/python"
    said = (root / "scripts/memman").read_text(encoding="utf-8")
    script.write_text(said.replace("#!python", f"#!{python}", 1), encoding="utf-8")
    script.chmod(0o755)
    return python


def tried(tests: Iterable[str], mutation: Mutation | None = None, *more: str) -> str:
    """Run tests in a copy of the tree, without a mutation in one as it is; return what that says of the mutation."""
    with TemporaryDirectory(prefix="memman-mutation-") as folder:
        root = Path(folder).resolve() / "tree"
        python = copied(root)
        if mutation:
            (root / mutation.file).write_text(mutation.applied(HERE), encoding="utf-8")
        command = [python, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *more, *tests]
        environ = os.environ | {"PATH": f"{python.parent}:{os.environ['PATH']}"}
        patience = PATIENCE if mutation else ALL
        try:
            done = subprocess.run(
                command, cwd=root, env=environ, capture_output=True, text=True, check=False, timeout=patience
            )
        except subprocess.TimeoutExpired:
            return f"not run: no end after {patience} s"
        if done.returncode not in _VERDICTS:
            return f"not run: {(done.stdout + done.stderr).strip()[-500:]}"
        return _VERDICTS[done.returncode]


def _reported(mutation: Mutation, part: str) -> tuple[Mutation, str]:
    began = monotonic()
    verdict = tried(mutation.tests, mutation, "--part", part)
    package = f"tests/unit/{mutation.file.split('/')[1]}"
    if verdict == "survived" and part == "fast" and (HERE / package).exists():
        verdict = tried([package], mutation, "--part", part)
    print(f"{verdict:8} {mutation.id} ({monotonic() - began:.0f} s)", flush=True)
    return mutation, verdict


def main(args: Sequence[str] | None = None) -> int:
    """Run the faults that are named, by default all; 0 where each was noticed."""
    parser = argparse.ArgumentParser(prog="tools/mutations.py", description=__doc__)
    parser.add_argument("ids", nargs="*", metavar="ID", help="a fault of tools/mutations.toml (default: all)")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="faults tried at once (default: %(default)s)"
    )
    parser.add_argument(
        "--part",
        choices=("all", "fast"),
        default="all",
        help="fast: only tests that `make test` runs, those of the fault's package where none of its own notices it",
    )
    parser.add_argument("--check", action="store_true", help="only say whether each fault can be put in")
    given = parser.parse_args(args)
    try:
        mutations = chosen(table(), given.ids)
        for one in mutations:
            one.check(HERE)
    except ValueError as error:
        parser.error(str(error))
    if given.check:
        print(f"{len(mutations)} mutations can be made")
        return 0
    every = dict.fromkeys(test for one in mutations for test in one.tests)
    if (sound := tried(every, None, "-n", str(given.jobs), "--dist", "loadfile")) != "survived":
        parser.error(f"the tests fail where nothing was changed: {sound}")
    with ThreadPoolExecutor(given.jobs) as pool:
        verdicts = list(pool.map(partial(_reported, part=given.part), mutations))
    left = [one.id for one, verdict in verdicts if verdict != "killed"]
    print(f"{len(verdicts) - len(left)} of {len(verdicts)} killed" + (f"; not: {', '.join(left)}" if left else ""))
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
