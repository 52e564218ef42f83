"""Rules and memories put into a repository's own instructions for agents: as a diff, which a person applies."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff

from memman.config import places, stores
from memman.model.errors import CannotWrite, UsageError

NAMES = ("AGENTS.md", "CLAUDE.md")
HEADING = "## Rules"


@dataclass(frozen=True, slots=True)
class Change:
    """A file as it is and as it would be; `before` is None where there is no file."""

    path: str
    before: str | None
    after: str

    @property
    def diff(self) -> str:
        """The change as a unified diff, '' where there is none."""
        if self.after == (self.before or ""):
            return ""
        name = os.path.basename(self.path)
        old = "/dev/null" if self.before is None else f"a/{name}"
        lines = unified_diff(_lines(self.before or ""), _lines(self.after), old, f"b/{name}")
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def change(texts: Sequence[str], file: str | None) -> Change:
    """Return what adding `texts` to a file, by default the repository's AGENTS.md or CLAUDE.md, comes to."""
    path = os.path.abspath(file) if file else _file()
    if os.path.isdir(path) or not os.path.isdir(os.path.dirname(path)):
        raise UsageError(f"{path} is no file that could be written to")
    places.check_regular(path)
    try:
        with open(path, encoding="utf-8", newline="") as source:
            before = source.read()
    except FileNotFoundError:
        return Change(path, None, _added("", texts))
    except (OSError, UnicodeDecodeError) as error:
        raise CannotWrite(f"{path} cannot be read ({error})") from error
    return Change(path, before, _added(before, texts))


def apply(change: Change) -> None:
    """Write a change, unless the file is another by now. Raises CannotWrite."""
    try:
        if change.before is not None:
            with open(change.path, encoding="utf-8", newline="") as source:
                if source.read() != change.before:
                    raise CannotWrite(f"{change.path} was changed meanwhile: try again")
        with open(change.path, "w" if change.before is not None else "x", encoding="utf-8", newline="") as target:
            target.write(change.after)
    except OSError as error:
        raise CannotWrite(f"{change.path} could not be written ({error.strerror})") from error


def _file() -> str:
    here = stores.here()
    root = here.root if here else os.getcwd()
    return next((f"{root}/{name}" for name in NAMES if os.path.exists(f"{root}/{name}")), f"{root}/{NAMES[0]}")


def _added(before: str, texts: Sequence[str]) -> str:
    newline = "\r\n" if "\r\n" in before else "\n"
    lines = places.split_lines(before.replace("\r\n", "\n"))
    new = [f"- {text}" for text in dict.fromkeys(texts) if text not in before]
    if not new:
        return before
    if HEADING in lines:
        at = _end(lines, lines.index(HEADING) + 1)
        lines[at:at] = new if lines[at - 1].strip() and lines[at - 1] != HEADING else ["", *new]
    else:
        lines += [*([""] if lines else []), HEADING, "", *new]
    return newline.join(lines) + newline


def _end(lines: Sequence[str], at: int) -> int:
    """Return behind the last line of a section that says anything, which begins at `at`."""
    end = next((n for n in range(at, len(lines)) if lines[n].startswith("#")), len(lines))
    while end > at and not lines[end - 1].strip():
        end -= 1
    return end


def _lines(text: str) -> list[str]:
    return places.split_lines(text, ends=True)
