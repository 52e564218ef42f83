"""A store's pages as a folder of Markdown, a page a topic, for people: only what has changed is written.

The folder is of the Open Knowledge Format: front matter with a type, an `index.md` in each folder, a `log.md` beside
the first. A line ends in the id of its memory. A page that a person has edited is left as it is until what they wrote
has come in (`memman import`).
"""

import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

from memman.belief import IMPORT, UNTRUSTED, USER, sourced
from memman.config.places import fsync_folder, make_folder, put_file, store_path, text_at
from memman.config.scope import PERSONAL, label
from memman.model.errors import CannotWrite, UsageError
from memman.model.moments import iso
from memman.model.text import SHORT_ID, day, plain, replaced
from memman.portable import files, notes
from memman.portable.incoming import Format, Found, Item
from memman.recall.hit import Hit
from memman.recall.labels import page
from memman.store.sqlite.catalogue import Catalogue
from memman.store.sqlite.topics import Topic, kept
from memman.upkeep.summaries import Summary, summary

NAME = "wiki"
# The type of our pages, and the page of what is under no topic.
_TYPE, _REST = "Memory page", "Everything else"
_INDEX, _LOG = "index.md", "log.md"
# The last line of an index and of the log, by which they are known for ours.
_WRITTEN = "<!-- memman writes this file anew: changes are lost -->"
# Characters of a line, and days of the log.
_WIDE, _DAYS = 65_536, 400
_ID = re.compile(r"(.*) \^([0-9a-f]{8,32})\b(.*)")
_MARKS = re.compile(r" \*\([^()]*\)\*$")
_BULLET = re.compile(r"^[-*+] (?:\[[ xX]\] )?")
# What a person may write that is no memory: headings, what has no word, and code.
_BARE, _FENCES = re.compile(r"\s*(?:#{1,6}\s|\W*$)"), ("```", "~~~")
_CURRENT = (
    "SELECT s.repository, m.id FROM memory m JOIN scoped ON scoped.memory = m.id JOIN scope s ON s.id = scope"
    " WHERE m.status = 'current' ORDER BY s.repository, m.id"
)
_LEARNED = (
    "SELECT uid, text, valid_from, retired_at, superseded_by FROM memory WHERE status IN ('current', 'superseded')"
)
# What Markdown would take for HTML, or for a picture to fetch.
_ACTIVE = {"<": "&lt;", "![": "!\\["}
_LACKS = (
    "lines taken away: `memman forget` hides memories",
    "headings and code of yours, and changes of the front matter and of the index",
)


@dataclass(frozen=True, slots=True)
class Refreshed:
    """The files of a folder that were written and removed, and those a person has edited, which were left."""

    written: tuple[str, ...]
    removed: tuple[str, ...]
    edited: tuple[str, ...]


def build(data: str, store: str, folder: str) -> Refreshed:
    """Bring a folder up to what a store knows, but for pages with edits that are not stored. Raises CannotWrite."""
    with Catalogue.open(store_path(data, store)) as catalogue:
        pages = dict(_files(catalogue, store))
        try:
            make_folder(folder)
            _refuse_others(folder)
            edited = {*_strangers(folder, store, pages)} | {
                path for path, text in _ours(folder, store) if not _stored(catalogue, text)
            }
            return _refreshed(folder, store, pages, edited)
        except OSError as error:
            raise CannotWrite(f"{folder} could not be written ({error.strerror})") from error


def _refuse_others(folder: str) -> None:
    """Raise UsageError where a folder has files, and none of ours."""
    if os.listdir(folder) not in ([], [".git"]) and next(_ours(folder), None) is None:
        raise UsageError(f"{folder} has files, and no pages of memman: name a new folder")


def _strangers(folder: str, store: str, pages: Iterable[str]) -> Iterator[str]:
    """Yield the files in the place of a page, an index or the log that are none of the store's."""
    for name in pages:
        text = text_at(f"{folder}/{name}")
        listing = os.path.basename(name) in {_INDEX, _LOG}
        about = files.parted(text)[0]
        page = (about.get("type"), about.get("store")) == (_TYPE, store)
        ours = text.rstrip().endswith(_WRITTEN) if listing else page
        if text and not ours:
            yield f"{folder}/{name}"


def _refreshed(folder: str, store: str, pages: Mapping[str, str], edited: Collection[str]) -> Refreshed:
    written, removed = [], []
    for name, text in pages.items():
        path = f"{folder}/{name}"
        if path not in edited and text_at(path) != text:
            put_file(path, text)
            written.append(path)
    for path, _ in [*_ours(folder, store)]:
        if os.path.relpath(path, folder) not in pages and path not in edited:
            os.unlink(path)
            removed.append(path)
    for place in {os.path.dirname(path) for path in removed}:
        fsync_folder(place)
    return Refreshed(tuple(written), tuple(removed), tuple(sorted(edited)))


def _ours(folder: str, store: str = "") -> Iterator[tuple[str, str]]:
    """Yield (path, text) of the pages below a folder; of a `store`, of those where a build puts them."""
    for place, below, names in os.walk(folder):
        below[:] = sorted(name for name in below if not name.startswith("."))
        for name in sorted(names):
            text = text_at(f"{place}/{name}") if name.endswith(".md") else ""
            about = files.parted(text)[0]
            where = os.path.dirname(os.path.relpath(place, folder)) == "" and about.get("store") == store
            if about.get("type") == _TYPE and (where or not store):
                yield f"{place}/{name}", text


def _files(catalogue: Catalogue, store: str) -> Iterator[tuple[str, str]]:
    """Yield (path below the folder, text) of each page, each index and the log."""
    rows: dict[str, list[int]] = {}
    for repository, memory in catalogue.reader.db.execute(_CURRENT):
        rows.setdefault(repository, []).append(memory)
    topics: dict[str, list[tuple[str, list[int]]]] = {}
    for topic in kept(catalogue.reader.db):
        topics.setdefault(topic.repository, []).append((topic.name, topic.ids))
    index, places = ["# Memory", ""], _folders(rows)
    for repository, ids in rows.items():
        pages = dict(_pages(catalogue, store, repository, ids, topics.get(repository, [])))
        called = places[repository]
        listed = [f"- [{title}]({name}) - {count} lines" for name, (title, _, count) in pages.items()]
        yield f"{called}/{_INDEX}", "\n".join([f"# {_title(repository)}", "", *listed, "", _WRITTEN, ""])
        for name, (_, text, _) in pages.items():
            yield f"{called}/{name}", text
        index.append(f"- [{_title(repository)}]({called}/{_INDEX}) - {len(pages)} pages, {len(ids)} memories")
    yield (
        _INDEX,
        "\n".join([*index, f"- [Log]({_LOG}) - what was learned and replaced, the newest day first", "", _WRITTEN, ""]),
    )
    yield _LOG, _log(catalogue)


def _pages(
    catalogue: Catalogue, store: str, repository: str, ids: Sequence[int], topics: Sequence[tuple[str, list[int]]]
) -> Iterator[tuple[str, tuple[str, str, int]]]:
    """Yield (file, (title, text, lines)) of a repository's pages, those of topics by name, the rest last."""
    told = {memory for _, some in topics for memory in some}
    rest = [memory for memory in ids if memory not in told]
    held = catalogue.reader.holding(repository) | catalogue.reader.holding("")
    names = set[str]()
    for title, some in [*sorted(topics, key=lambda one: one[0].casefold()), (_REST, rest)]:
        hits = page(catalogue.reader, some, held, UNTRUSTED)
        if not hits:
            continue
        name = _slug(title) or "topic"
        name = f"{name}-{_digest(title)}" if name in names or f"{name}.md" in {_INDEX, _LOG} else name
        names.add(name)
        short = summary(catalogue.reader, Topic(repository, title, some)) if title != _REST else None
        yield f"{name}.md", (title, _page(title, store, repository, hits, short), len(hits))


def _page(title: str, store: str, repository: str, hits: Sequence[Hit], told: Summary | None) -> str:
    short = [
        f"- {_shown(text)} *(a model's words, of {', '.join(uid[:SHORT_ID] for uid in uids)})*"
        for text, uids in (told.sentences if told else ())
    ]
    question = [f"## {_shown(told.question)}", "", *short, "", "## All of it", ""] if told else []
    body = [f"# {title}", "", *question, *(_line(hit) for hit in hits)]
    about: dict[str, Any] = {
        "type": _TYPE,
        "title": title,
        "description": f"{title} in {_title(repository)}: what memory keeps",
        "timestamp": iso(max(hit.row.recorded_at for hit in hits)),
        "store": store,
        "repository": repository,
        "sources": [hit.row.uid for hit in hits],
        "lines": [_digest(line) for line in body if line],
    }
    head = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in about.items()]
    return "\n".join([files.FENCE, *head, files.FENCE, "", *body]).rstrip() + "\n"


def _line(hit: Hit) -> str:
    """Write a memory as a line: what it says, whose word it is, since when, what speaks against it, and its id."""
    marks = [sourced(hit.row.source, verified=hit.verified), day(hit.row.valid_from), *hit.labels]
    if hit.maybe_replaced_by:
        marks.append(replaced(hit.maybe_replaced_by, hit.until))
    said = ", ".join(mark.replace("(", "").replace(")", "") for mark in marks)
    return f"- {_shown(hit.row.text)} *({said})* ^{hit.row.uid[:SHORT_ID]}"


def _shown(text: str) -> str:
    text = plain(text, _WIDE)
    for active, inert in _ACTIVE.items():
        text = text.replace(active, inert)
    return text


def _log(catalogue: Catalogue) -> str:
    """Write what was learned and replaced, by day, the newest first."""
    rows: list[Any] = catalogue.reader.db.execute(f"{_LEARNED} ORDER BY id DESC").fetchall()
    days: dict[str, list[str]] = {}
    for uid, text, began, ended, heir in rows:
        days.setdefault(day(began), []).append(f"- **Learned** {_shown(text)} `{uid[:SHORT_ID]}`")
        if heir and ended:
            days.setdefault(day(ended), []).append(f"- **Replaced** ~~{_shown(text)}~~ `{uid[:SHORT_ID]}`")
    parts = [f"## {one}\n\n" + "\n".join(days[one]) for one in sorted(days, reverse=True)[:_DAYS]]
    return "\n\n".join(["# Log", *parts, _WRITTEN]) + "\n"


def _edits(text: str) -> Iterator[Item | None]:
    """Yield what a person wrote on a page: lines that we did not, None for one that says nothing by itself.

    A changed line replaces its memory.
    """
    about, body = files.parted(text)
    ours, code = about.get("lines", []), False
    for line in filter(str.strip, body.split("\n")):
        fence = line.lstrip().startswith(_FENCES)
        code ^= fence
        if _digest(line) not in ours:
            yield _item(line.strip(), about) if not (fence or code or _BARE.match(line)) else None


def _item(line: str, about: Mapping[str, Any]) -> Item:
    """Read a line without our marks; words behind its id belong to it."""
    said, part, more = match.groups() if (match := _ID.match(line)) else (line, "", "")
    uid = next((uid for uid in about.get("sources", []) if part and uid.startswith(part)), "")
    bare = _MARKS.sub("", said)
    said = _BULLET.sub("", f"{bare}{more}" if uid or bare != said else line)
    for active, inert in _ACTIVE.items():
        said = said.replace(inert, active)
    repository = str(about.get("repository", ""))
    scope, source = "" if repository else PERSONAL, USER if uid else IMPORT
    return Item(said, key=f"{uid}\n{said}", source=source, repository=repository, scope=scope, edits=uid)


def _stored(catalogue: Catalogue, text: str) -> bool:
    """Whether all that a person wrote on a page is stored, or there is nothing of the kind."""
    edits = [*_edits(text)]
    items = [item for item in edits if item]
    if len(items) < len(edits):
        return False
    reader = catalogue.reader
    texts = {_shown(said) for (said,) in reader.db.execute("SELECT text FROM memory")} if items else set()
    names = [{notes.uid(NAME, replace(item, lifted=lifted)) for lifted in (False, True)} for item in items]
    return all(
        _shown(item.text) in texts or any(map(reader.has_receipt, some))
        for item, some in zip(items, names, strict=True)
    )


def _fits(path: str) -> bool:
    return os.path.isdir(path) and next(_ours(path), None) is not None


def _read(path: str) -> Found:
    return Found(tuple(item for _, text in _ours(path) for item in _edits(text) if item), _LACKS)


FORMAT = Format(NAME, "pages that memman wrote: what was edited", _fits, _read, personal=True)


def _folders(repositories: Iterable[str]) -> dict[str, str]:
    """Name the folder of each repository; of two that are called alike the later has more to its name."""
    found = {"": PERSONAL}
    for whose in repositories:
        name = _slug(label(whose, "")) or "repository"
        found.setdefault(whose, f"{name}-{_digest(whose)}" if name in found.values() else name)
    return found


def _slug(text: str) -> str:
    """Write a text as a part of a path: letters, digits and hyphens."""
    return re.sub(r"[^\w]+", "-", text).strip("-_").casefold()


def _digest(text: str) -> str:
    """Return what tells a text from others."""
    return blake2b(text.encode(), digest_size=4).hexdigest()


def _title(repository: str) -> str:
    return label(repository, "") or PERSONAL
