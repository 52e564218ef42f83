"""Claude Code's auto memory: a folder of Markdown files for each project, with MEMORY.md as their index."""

import json
import os
import re
from collections.abc import Iterator
from glob import escape, glob

from memman.model.moments import ms
from memman.portable import files
from memman.portable.formats.rules import held_for, passages
from memman.portable.front import parted
from memman.portable.incoming import Format, Found, Item

INDEX = "MEMORY.md"
# Lines of a transcript that are looked at for the folder of its project.
_LOOKED = 50
# A line of the index that points to a file and adds nothing.
_POINTER = re.compile(r"\[[^\]]*\]\([^)]*\.md\)")
_TYPES = {"user": "preference", "feedback": "preference", "project": "context", "reference": "fact"}
_LACKS = ("links between files, and lines of MEMORY.md that only point to one",)


def _fits(path: str) -> bool:
    return bool(_folders(path))


def _folders(path: str) -> list[str]:
    """Return the memory folders that a path means: itself, that of a project, or those of all projects."""
    path = os.path.dirname(path) if os.path.basename(path) == INDEX else path
    if not os.path.isdir(path):
        return []
    there = os.path.basename(os.path.realpath(path)) == "memory" or os.path.exists(f"{path}/{INDEX}")
    if there and glob(f"{escape(path)}/*.md"):
        return [path]
    below = ("memory", "*/memory", "projects/*/memory")
    found = (sorted(glob(f"{escape(path)}/{pattern}")) for pattern in below)
    return next(([one for one in some if glob(f"{escape(one)}/*.md")] for some in found if some), [])


def _read(path: str) -> Found:
    return Found(tuple(item for folder in _folders(path) for item in _items(folder)), _LACKS)


def _items(folder: str) -> Iterator[Item]:
    project = os.path.basename(os.path.dirname(os.path.realpath(folder)))
    whose, scope = held_for(_worked_in(os.path.dirname(os.path.realpath(folder)), project))
    for path in sorted(glob(f"{escape(folder)}/*.md")):
        about, body = parted(files.text(path))
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
                repository=whose or f"/{project.replace('-', '/').strip('/')}",
                scope=scope,
                agent="claude-code",
                session=str(more.get("originSessionId", "")),
            )


def _worked_in(place: str, project: str) -> str:
    """Return the folder of a project: its transcripts name it; else its name is read as a path."""
    for path in sorted(glob(f"{escape(place)}/*.jsonl"))[-3:]:
        for line in files.text(path).split("\n")[:_LOOKED]:
            try:
                said = json.loads(line)
            except ValueError:
                continue
            if isinstance(said, dict) and isinstance(said.get("cwd"), str):
                return str(said["cwd"])
    return project.replace("-", "/")


FORMAT = Format("claude-code", "the auto memory of Claude Code", _fits, _read)
