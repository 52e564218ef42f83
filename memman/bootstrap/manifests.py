"""What builds, tests and checks a repository, and which versions it pins: read from manifests and CI, not judged."""

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress

from memman.belief import FILE
from memman.bootstrap.checkout import Checkout
from memman.judge.judge import Judge
from memman.llm.builtin.split import MAX_CHARS
from memman.portable.incoming import Item

# Files read of a kind, commands and names told of a file, and characters of a command.
_MOST, _COMMANDS, _LONGEST = 12, 12, 100
# A target, and its recipe where that is one line.
_TARGET = re.compile(r"^([a-z][\w-]*):(?!=)[^\n]*\n(?:\t[@-]?([^\n]+)\n(?!\t))?", re.MULTILINE)
# A step of CI: one line, or a block of lines that are indented further.
_RUN = re.compile(r"^( *)(?:- +)?run: *(?:[|>][+-]?\n((?:\1 +[^\n]*\n|\n)+)|(\S[^\n]*))", re.MULTILINE)
# A command that can be read and run by itself, of two words or more; what sets the shell up is none.
COMMAND = re.compile(r"(?!(?:export|import|from|echo|set|cd|mkdir|source) )[a-z.][\w./-]*(?: [^\s$|;&<>(){}\\'\"]+)+")
_HOOK = re.compile(r"^\s*-\s+id:\s*([\w-]+)", re.MULTILINE)
_BASE = re.compile(r"^FROM\s+(?:--\S+\s+)?(\S+)", re.MULTILINE | re.IGNORECASE)
_GO = re.compile(r"^go\s+(\S+)", re.MULTILINE)
# What a module needs itself; a path begins with the usual host and ends in a major version now and then.
_REQUIRED = re.compile(r"^(?:require)?\s+([\w.-]+(?:/[\w.-]+)+) v\S+$", re.MULTILINE)
_AROUND = re.compile(r"^github\.com/|/v\d+$|\.v\d+$")
_NAME = re.compile(r"[\w.@/-]+")
_VERSION = re.compile(r"[\w.-]*\d[\w. -]*")
_SYSTEM = re.compile(r"\b(?:ubuntu|macos|windows)-[\w.]+")


def statements(checkout: Checkout, judge: Judge | None) -> Iterator[Item]:  # noqa: ARG001 - as every source is called
    """Yield a statement for what each manifest and each CI file says."""
    for pattern, read in _MANIFESTS:
        paths = [path for path in checkout.paths if re.fullmatch(pattern, path)]
        for file in checkout.files(sorted(paths)[:_MOST]):
            # A file that is not what its name says tells nothing.
            with suppress(ValueError, TypeError, AttributeError, KeyError):
                for said in [*read(file.text)]:
                    text = f"{said} ({file.path})."
                    if len(text) <= MAX_CHARS:
                        yield Item(text, at=file.at, source=FILE, revision=f"{file.commit}:{file.path}")


def _npm(text: str) -> Iterator[str]:
    said = json.loads(text)
    if manager := said.get("packageManager"):
        yield f"The package manager is pinned to {manager}"
    yield from (f"{name} has to be {version}" for name, version in said.get("engines", {}).items())
    yield from _needs("npm dependencies", said.get("dependencies", {}))
    yield from _told("npm scripts", said.get("scripts", {}), "npm run ")


def _python(text: str) -> Iterator[str]:
    said = tomllib.loads(text)
    project, tools = said.get("project", {}), said.get("tool", {})
    if needs := project.get("requires-python") or tools.get("poetry", {}).get("dependencies", {}).get("python"):
        yield f"Python has to be {needs}"
    yield from _needs("Python dependencies", project.get("dependencies", ()))
    for group, names in said.get("dependency-groups", {}).items():
        yield from _needs(f"Python dependencies of the group {group}", (one for one in names if isinstance(one, str)))
    if length := tools.get("ruff", {}).get("line-length"):
        yield f"ruff has lines of {length} characters at most"
    if backend := said.get("build-system", {}).get("build-backend", ""):
        yield f"The Python package is built with {backend}"
    if configured := [name for name in tools if name != backend.partition(".")[0]]:
        yield f"Python tools that are configured: {', '.join(configured[:_COMMANDS])}"
    if options := tools.get("pytest", {}).get("ini_options", {}).get("addopts"):
        yield f"pytest always runs with {options if isinstance(options, str) else ' '.join(options)}"


def _rust(text: str) -> Iterator[str]:
    said = tomllib.loads(text)
    package = said.get("package", {})
    if isinstance(package.get("rust-version"), str):
        yield f"Rust has to be {package['rust-version']} or newer"
    if isinstance(package.get("edition"), str):
        yield f"The Rust edition is {package['edition']}"
    yield from _needs("Rust dependencies", said.get("dependencies", {}))


def _go(text: str) -> Iterator[str]:
    yield from (f"Go has to be {version} or newer" for version in _GO.findall(text)[:1])
    yield from _needs("Go dependencies", (_AROUND.sub("", path) for path in _REQUIRED.findall(text)))


def _make(text: str) -> Iterator[str]:
    recipes = {name: re.sub(r"\$\([A-Z_]+\)/", "", does) for name, does in _TARGET.findall(text)}
    yield from _told("make targets", {name: does for name, does in recipes.items() if COMMAND.fullmatch(does)}, "make ")
    if len(recipes) > 1:
        yield f"There are make targets {', '.join(_fitting([*recipes]))}"


def _workflow(text: str) -> Iterator[str]:
    steps = (line.strip() for _, block, one in _RUN.findall(text + "\n") for line in ([one] if one else _lines(block)))
    plain = [one for one in dict.fromkeys(steps) if COMMAND.fullmatch(one) and not one.endswith(("--version", " -v"))]
    if commands := _fitting([f"`{one}`" for one in plain if len(one) <= _LONGEST]):
        yield f"CI runs {', '.join(commands)}"
    if len(systems := [*dict.fromkeys(_SYSTEM.findall(text))]) > 1:
        yield f"CI runs on {', '.join(systems)}"


def _lines(block: str) -> list[str]:
    """Return the lines of a step that a shell runs; in another language a line says little."""
    whole = re.sub(r"\\\n\s*", "", block)
    return [] if re.search(r"^\s*import ", whole, re.MULTILINE) else whole.split("\n")


def _hooks(text: str) -> Iterator[str]:
    if names := _fitting([*dict.fromkeys(_HOOK.findall(text))]):
        yield f"pre-commit runs {', '.join(names)}"


def _image(text: str) -> Iterator[str]:
    if bases := _fitting(
        [one for one in dict.fromkeys(_BASE.findall(text)) if (":" in one or "/" in one) and "$" not in one]
    ):
        yield f"The container image is built on {', '.join(bases)}"


def _pin(what: str) -> Callable[[str], Iterator[str]]:
    def read(text: str) -> Iterator[str]:
        lines = [line.strip() for line in text.split("\n") if line.strip() and line[:1] != "#"]
        if len(lines) == 1 and _VERSION.fullmatch(lines[0]):
            yield f"{what} is pinned to {lines[0]}"

    return read


def _told(what: str, commands: Mapping[str, str], before: str) -> Iterator[str]:
    """Yield what commands do, as many in a statement as have room."""
    told = [f"`{before}{name}` runs `{does.strip()}`" for name, does in commands.items() if len(does) <= _LONGEST]
    held: list[str] = []
    for one in [*told[:_COMMANDS], ""]:
        if held and (not one or sum(map(len, held)) + len(one) > MAX_CHARS - 100):
            yield f"{what}: {', '.join(held)}"
            held = []
        held.append(one)


def _needs(what: str, dependencies: Iterable[str]) -> Iterator[str]:
    """Yield which packages are needed, without their versions."""
    if names := _fitting([found[0] for one in dependencies if (found := _NAME.match(one))]):
        yield f"{what}: {', '.join(names)}"


def _fitting(names: list[str]) -> list[str]:
    """Return the first names that have room in a statement."""
    found: list[str] = []
    for name in names[:_COMMANDS]:
        if sum(map(len, found)) + len(name) > MAX_CHARS - 120:
            break
        found.append(name)
    return found


# Which files are read, and what each says.
_MANIFESTS: tuple[tuple[str, Callable[[str], Iterator[str]]], ...] = (
    (r"package\.json", _npm),
    (r"(?:[^/]+/)?pyproject\.toml", _python),
    (r"(?:[^/]+/)?Cargo\.toml", _rust),
    (r"(?:[^/]+/)?go\.mod", _go),
    (r"(?:GNUm|M|m)akefile", _make),
    (r"\.python-version", _pin("Python")),
    (r"\.ruby-version", _pin("Ruby")),
    (r"\.(?:nvmrc|node-version)", _pin("Node.js")),
    (r"rust-toolchain", _pin("Rust")),
    (r"(?:.*/)?Dockerfile", _image),
    (r"\.pre-commit-config\.yaml", _hooks),
    (r"\.(?:github|gitea|forgejo)/workflows/[^/]+\.ya?ml", _workflow),
)
