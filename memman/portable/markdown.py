"""A store as a folder of Markdown: a file a memory, below a folder for its scope. Only what has changed is written."""

import json
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import apsw

from memman.clock import now_ms
from memman.config.places import fsync_folder, put_file, store_path, text_at
from memman.config.scope import PERSONAL, label
from memman.model.errors import CannotWrite
from memman.model.moments import iso
from memman.model.plural import counted
from memman.model.text import SHORT_ID, outdated, without_questions
from memman.model.vocabulary import HIDDEN
from memman.portable import front, git
from memman.secrets.leaks import cleaned
from memman.store import MemoryRow
from memman.store.sqlite.catalogue import Catalogue

# The first name in a file of ours, and the version of its format.
MARK, VERSION = "memman", 1
# Characters of a file's name beside its id.
_NAMED = 48
_BESIDE = "\n\n## Related\n\n"
_SCOPES = "SELECT memory, repository, path FROM scoped JOIN scope ON scope.id = scope"
_CHANGED = "SELECT memory, min(changed_at) FROM file WHERE changed_at > 0 GROUP BY memory"
_SHOWN = ("category", "importance", "status", "source", "entities", "keywords", "note")


@dataclass(frozen=True, slots=True)
class Refreshed:
    """The files of a folder that were written and removed, and those a person has edited, which were left."""

    written: tuple[str, ...]
    removed: tuple[str, ...]
    edited: tuple[str, ...]

    @property
    def changed(self) -> tuple[str, ...]:
        """All that is new to git."""
        return (*self.written, *self.removed)


def refresh(catalogue: Catalogue, folder: str) -> Refreshed:
    """Bring a folder up to what a store shows, but for texts that a person has edited. Raises OSError."""
    files, owned = dict(_files(catalogue)), dict(ours(folder))
    known = {_stored(text) for text in files.values()}
    written, removed, edited = [], [], []
    for name, text in files.items():
        path = f"{folder}/{name}"
        if (there := text_at(path)) == text:
            continue
        if there and is_edited(there) and _stored(there) not in known:
            edited.append(path)
            continue
        put_file(path, text)
        written.append(path)
    for path, text in owned.items():
        if os.path.relpath(path, folder) not in files and not is_edited(text):
            os.unlink(path)
            removed.append(path)
    for place in {os.path.dirname(path) for path in removed}:
        fsync_folder(place)
    return Refreshed(tuple(written), tuple(removed), tuple(edited))


def ours(folder: str) -> Iterator[tuple[str, str]]:
    """Yield (path, text) of the files below a folder that memman has written."""
    for place, below, names in os.walk(folder):
        below[:] = sorted(name for name in below if not name.startswith("."))
        for name in sorted(names):
            if name.endswith(".md"):
                text = text_at(f"{place}/{name}")
                if text.startswith(f"---\n{MARK}: "):
                    yield f"{place}/{name}", text


def said(body: str) -> str:
    """Return the text of a memory from the body of its file."""
    return body.partition(_BESIDE.strip("\n"))[0].strip()


def is_edited(text: str) -> bool:
    """Whether a person has changed what a file says."""
    about, body = front.parted(text)
    return about.get("digest") != digest(said(body))


def _stored(text: str) -> str:
    return said(front.parted(text)[1])


def kept(data: str, store: str, folder: str) -> Refreshed:
    """Bring a store's folder below `folder` up to date, and commit it in a repository. Raises CannotWrite."""
    with Catalogue.open(store_path(data, store)) as catalogue:
        try:
            done = refresh(catalogue, f"{folder}/{store}")
        except OSError as error:
            raise CannotWrite(f"{folder} could not be written ({error.strerror})") from error
    if git.is_repository(folder):
        count = len(done.changed)
        git.commit(folder, done.changed, f"memman: {counted(count, 'memory')} of {store} written or removed")
    return done


def _files(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """Yield (path below the folder, text) for each memory that is shown."""
    shown = [cleaned(one) for one in _memories(catalogue.reader.db)]
    names = {one["uid"]: _name(one) for one in shown}
    before: dict[str, list[str]] = {}
    for one in shown:
        if one["superseded_by"] in names:
            before.setdefault(one["superseded_by"], []).append(one["uid"])
    places = folders(one["scope"][0] for one in shown)
    for one in shown:
        repository, path = one["scope"]
        place = places[repository] + (f"/{slug(path, '/')}" if path else "")
        yield f"{place}/{names[one['uid']]}.md", _text(one, names, before.get(one["uid"], []))


def _memories(db: apsw.Connection) -> Iterator[dict[str, Any]]:
    """Yield each memory that is shown, with what stands beside it; others are named by uid."""
    uids = dict(db.execute("SELECT id, uid FROM memory"))
    scopes = {row: where for row, *where in db.execute(_SCOPES)}
    ends, changed = dict(db.execute("SELECT memory, ends_at FROM freshness")), dict(db.execute(_CHANGED))
    links: defaultdict[int, list[tuple[str, str]]] = defaultdict(list)
    for src, kind, dst in db.execute("SELECT src, kind, dst FROM edge"):
        links[src].append((uids.get(dst, ""), kind))
    for row in map(MemoryRow, db.execute(f"SELECT {MemoryRow.listed()} FROM memory ORDER BY id").fetchall()):
        if row.status not in HIDDEN:
            one = row.record() | {"superseded_by": uids.get(row.superseded_by), "scope": scopes.get(row.id, ("", ""))}
            one |= {name: json.loads(one[name]) for name in ("entities", "keywords")}
            yield one | {"links": links[row.id], "ends_at": ends.get(row.id), "changed_at": changed.get(row.id)}


def _text(one: Mapping[str, Any], names: Mapping[str, str], before: list[str]) -> str:
    scope = label(*one["scope"]) or PERSONAL
    about = {MARK: VERSION, "id": one["uid"], "scope": scope, **{name: one[name] for name in _SHOWN}}
    about["keywords"] = without_questions(one["keywords"])
    about |= {"valid_from": iso(one["valid_from"])}
    about |= {"valid_to": iso(one["valid_to"])} if one["valid_to"] is not None else {}
    about |= _until(one)
    heir = one["superseded_by"]
    about |= {"superseded_by": _link(names[heir])} if heir in names else {}
    about |= {"supersedes": [_link(names[uid]) for uid in before]} if before else {}
    edges = {f"- {_link(names[other])} ({kind})" for other, kind in one["links"] if other in names}
    about |= {"digest": digest(one["text"].strip())}
    return front.written(about, one["text"].strip() + (_BESIDE + "\n".join(sorted(edges)) if edges else ""))


def _until(one: Mapping[str, Any]) -> dict[str, Any]:
    """Tell until when a memory holds, and what makes it doubtful; how long ago that was would change by the day."""
    ends_at = one["ends_at"]
    labels = list(outdated(ends_at, one["changed_at"], now_ms(), aged=False))
    told = {"holds_until": iso(ends_at)} if ends_at is not None else {}
    return told | ({"labels": labels} if labels else {})


def folders(repositories: Iterable[str]) -> dict[str, str]:
    """Name the folder of each repository; of two that are called alike the later has more to its name."""
    found = {"": PERSONAL}
    for whose in repositories:
        name = slug(label(whose, "")) or "repository"
        found.setdefault(whose, f"{name}-{digest(whose)}" if name in found.values() else name)
    return found


def _name(one: Mapping[str, Any]) -> str:
    return f"{slug(one['text'])[:_NAMED].strip('-')}-{one['uid'][:SHORT_ID]}".strip("-")


def slug(text: str, kept: str = "") -> str:
    """Write a text as a part of a path: letters, digits and hyphens."""
    parts = (re.sub(r"[^\w]+", "-", part).strip("-_") for part in (text.split(kept) if kept else [text]))
    return kept.join(filter(None, parts)).casefold()


def _link(name: str) -> str:
    return f"[[{name}]]"


def digest(text: str) -> str:
    """Return what tells a text from others."""
    return blake2b(text.encode(), digest_size=4).hexdigest()
