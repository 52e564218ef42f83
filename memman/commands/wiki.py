"""`memman wiki`: what memory knows, by topic."""

from typing import Any

import click

from memman.belief import UNTRUSTED
from memman.clock import now_ms
from memman.commands.memories import Records
from memman.commands.place import Place, expected, reading, standing
from memman.commands.printing import lines, table, text
from memman.commands.verb import Group, store_option
from memman.config.scope import PERSONAL, label
from memman.model.errors import UnknownId
from memman.model.plural import counted
from memman.model.spelling import similar
from memman.portable import wiki as pages
from memman.recall.page import page
from memman.recall.render import line
from memman.store.sqlite.topics import Topic, kept
from memman.upkeep.summaries import summary


@click.group(cls=Group)
@store_option
def wiki() -> None:
    """Show what memory knows by topic, or write it as a folder of pages.

    A topic is a name that several memories share; drains find it. Example: `memman wiki list`, then
    `memman wiki show Postgres`.
    """


def _listed(records: Records) -> None:
    table([(one["name"], counted(one["lines"], "line"), one["scope"] or "everywhere") for one in records])
    lines(["none yet: a topic needs three memories that share a name"] if not records else [])


@wiki.verb("list", shows=_listed)
def listed(place: Place) -> Records:
    """List the topics that hold here."""
    with reading(place) as catalogue:
        return [
            {"name": topic.name, "lines": len(topic.ids), "scope": label(topic.repository, "")}
            for topic in kept(catalogue.reader.db, standing())
        ]


def _told(record: dict[str, Any]) -> None:
    lines([f"{record['name']} ({record['scope'] or PERSONAL})"])
    if record["summary"]:
        lines([record["summary"]["question"], *(text for text, _ in record["summary"]["sentences"]), "All of it:"])
    lines(one["line"] for one in record["lines"])


@wiki.verb(shows=_told)
@click.argument("topic")
def show(place: Place, topic: str) -> dict[str, Any]:
    """Print all that is kept on a topic, the newest first; each line says whose word it is."""
    with reading(place) as catalogue:
        reader, here, now = catalogue.reader, standing(), now_ms()
        one = _named(topic, kept(reader.db, here))
        hits = page(reader, one.ids, reader.scopes(here, inside=True), UNTRUSTED)
        short = summary(reader, one)
        told = [{"id": hit.row.uid, "source": hit.row.source, "line": line(hit, now)} for hit in hits]
    return {"name": one.name, "scope": label(one.repository, ""), "summary": short, "lines": told}


def _named(name: str, topics: list[Topic]) -> Topic:
    found = {topic.name.casefold(): topic for topic in reversed(topics)}
    if name.casefold() in found:
        return found[name.casefold()]
    near = similar(name.casefold(), found)
    raise UnknownId(
        f"there is no topic {name[:40]!r} here"
        + (f"; did you mean {found[near].name!r}?" if near else ": `memman wiki list` lists them")
    )


def _built(done: dict[str, Any]) -> None:
    text(f"{counted(len(done['written']), 'file')} written, {len(done['removed'])} removed")
    for name in done["edited"]:
        text(f"edited, and left as it is: {name}")
    if done["edited"]:
        text(
            f"`memman import {done['folder']}` takes in what was edited, but headings and code: take these out yourself"
        )


@wiki.verb(shows=_built)
@click.argument("path", type=click.Path())
def build(place: Place, path: str) -> dict[str, Any]:
    """Write a folder of Markdown pages, one a topic, with an index and a log; only what has changed is written.

    Open it in Obsidian or keep it in git. A page that you edited is left as it is until `memman import PATH` has taken
    in what you wrote. Example: `memman wiki build ~/wiki`.
    """
    done = pages.build(expected(place).data, place.name, path)
    return {"folder": path, "written": done.written, "removed": done.removed, "edited": done.edited}
