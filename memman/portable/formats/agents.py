"""What agents remember in files of Markdown.

Codex has one MEMORY.md for all its work; Claude Code has a folder of files for each project, with MEMORY.md as their
index.
"""

import json
import os
import re
from collections.abc import Iterator
from glob import escape, glob

from memman.config.places import text_at
from memman.config.repository import repository
from memman.config.scope import PERSONAL
from memman.model.errors import UsageError
from memman.model.moments import ms
from memman.portable import files
from memman.portable.formats.rules import held_for, passages
from memman.portable.incoming import Format, Found, Item

INDEX = "MEMORY.md"
# Codex: a block for each kind of task, with the folder it was done in, and lists of sources that say nothing.
_GROUP = re.compile(r"^(?=# Task Group:)", re.MULTILINE)
_FOLDER = re.compile(r"^applies_to:\s*cwd=(/[^;\n]*)", re.MULTILINE)
_SECTION = re.compile(r"^(?=##)", re.MULTILINE)
# Claude Code: a line of the index that points to a file and adds nothing.
_POINTER = re.compile(r"\[[^\]]*\]\([^)]*\.md\)")
_TYPES = {"user": "preference", "feedback": "preference", "project": "context", "reference": "fact"}
_LACKS = ("links between files, and lines of MEMORY.md that only point to one",)
# What Claude Code writes as a hyphen, of the path of a project, to name its folder.
_HYPHENS = re.compile(r"[^A-Za-z0-9]")


def worked_in(folder: str) -> tuple[str, str]:
    """Return the repository of a folder, the folder itself where it lies in none, and what is said there holds for."""
    whose, scope = held_for(folder)
    return whose or os.path.realpath(folder), scope


def _codex(path: str) -> str:
    """Return the file of Codex's memory that a path means, '' for none."""
    found = (one for one in (path, f"{path}/{INDEX}", f"{path}/memories/{INDEX}") if os.path.basename(one) == INDEX)
    return next((one for one in found if os.path.isfile(one) and _GROUP.search(text_at(one))), "")


def _read_codex(path: str) -> Found:
    return Found(tuple(_of_codex(_codex(path) or path)), ("summaries, skills and names of sources",))


def _of_codex(path: str) -> Iterator[Item]:
    at = int(os.stat(path).st_mtime * 1000)
    for group in _GROUP.split(files.text(path)):
        where = _FOLDER.search(group)
        worked = where[1].strip() if where else ""
        whose, scope = worked_in(worked) if worked else ("", PERSONAL)
        for section in _SECTION.split(group)[1:]:
            heading, _, body = section.partition("\n")
            for text in () if heading.startswith("###") else passages(body):
                key = f"{INDEX}\n{text}"
                yield Item(text, key=key, at=at, agent="codex", repository=whose, scope=scope, folder=worked)


def _folders(path: str) -> list[str]:
    """Return the memory folders that a path means: itself, that of a project, or those of all projects."""
    path = os.path.dirname(path) if os.path.basename(path) == INDEX else path
    if not os.path.isdir(path):
        return []
    index = files.beginning(f"{path}/{INDEX}")
    if (os.path.basename(os.path.realpath(path)) == "memory" or _POINTER.search(index)) and glob(
        f"{escape(path)}/*.md"
    ):
        return [path]
    below = ("memory", "*/memory", "projects/*/memory")
    found = (sorted(glob(f"{escape(path)}/{pattern}")) for pattern in below)
    return next(([one for one in some if glob(f"{escape(one)}/*.md")] for some in found if some), [])


def _read(path: str) -> Found:
    bad: list[str] = []
    items = [item for folder in _folders(path) for item in _items(folder, bad)]
    return Found(tuple(items), (*_LACKS, *(f"a file that is wrong: {why}" for why in bad)))


def _items(folder: str, bad: list[str]) -> Iterator[Item]:
    """Yield what a project's files say; what is wrong with one that cannot be read is added to `bad`."""
    project = os.path.basename(os.path.dirname(os.path.realpath(folder)))
    worked = _project(os.path.dirname(os.path.realpath(folder)), project)
    whose, scope = worked_in(worked) if worked else (f"/{project.replace('-', '/').strip('/')}", "")
    for path in sorted(glob(f"{escape(folder)}/*.md")):
        try:
            about, body = files.parted(files.text(path))
        except UsageError as error:
            bad.append(str(error))
            continue
        more = about.get("metadata") or about
        more = more if isinstance(more, dict) else about
        at = ms(str(more.get("modified", ""))) or int(os.stat(path).st_mtime * 1000)
        texts = [body.strip()] if about else [text for text in passages(body) if not _POINTER.search(text)]
        for text in texts:
            yield Item(
                text,
                key=f"{project}/{os.path.basename(path)}\n{text}",
                at=at,
                category=_TYPES.get(str(more.get("type", ""))),
                repository=whose,
                scope=scope,
                folder=worked,
                agent="claude-code",
                session=str(more.get("originSessionId", "")),
            )


def _project(place: str, project: str) -> str:
    """Return the folder of a project by its transcripts, or the one that is written so; '' for none."""
    for path in sorted(glob(f"{escape(place)}/*.jsonl"))[-3:]:
        for line in files.beginning(path).split("\n"):
            try:
                said = json.loads(line)
            except ValueError:
                continue
            if isinstance(said, dict) and isinstance(said.get("cwd"), str):
                return str(said["cwd"])
    found = [*_written(project)]
    if len(found) > 1:
        found = [one for one in found if repository(one)]
    return found[0] if len(found) == 1 else ""


def _written(name: str, parent: str = "") -> Iterator[str]:
    """Yield the folders that are there, below a parent, whose path is written as `name`."""
    try:
        below = sorted(entry.name for entry in os.scandir(parent or "/") if entry.is_dir())
    except OSError:
        return
    for folder in below:
        written = "-" + _HYPHENS.sub("-", folder)
        if name == written:
            yield f"{parent}/{folder}"
        elif name.startswith(written + "-"):
            yield from _written(name.removeprefix(written), f"{parent}/{folder}")


FORMATS = (
    Format("codex", "the memory of Codex", lambda path: bool(_codex(path)), _read_codex),
    Format("claude-code", "the auto memory of Claude Code", lambda path: bool(_folders(path)), _read),
)
