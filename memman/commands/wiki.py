"""`memman wiki` and `onboard`: what memory knows by topic, and what a newcomer should know of it."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import click

from memman.belief import UNCERTAIN, UNTRUSTED
from memman.clock import now_ms
from memman.commands.place import Opened, Place, Records, absolute, expected, standing
from memman.commands.printing import freshness, lines, short, table, text
from memman.commands.review import CONTRADICTED, MAYBE, found
from memman.commands.verb import Group, store_option, verb
from memman.config.scope import PERSONAL, label
from memman.hot.prime import standing as held
from memman.hot.rules import standing as ruling
from memman.model.errors import UnknownId
from memman.model.plural import counted
from memman.model.spelling import similar
from memman.model.text import clean, day
from memman.portable import wiki as pages
from memman.recall.hit import Hit
from memman.recall.labels import page
from memman.recall.render import line, tokens
from memman.store.sqlite.topics import Topic, kept
from memman.upkeep.summaries import summary


@click.group(cls=Group)
@store_option
def wiki() -> None:
    """Show memories by topic, or write them as a folder of Markdown pages.

    A topic is a name that several memories share; drains find topics. Example: `memman wiki list`, then `memman
    wiki show Postgres`.
    """


def _listed(records: Records) -> None:
    table([(one["name"], counted(one["lines"], "line"), one["scope"] or "everywhere") for one in records])
    lines(["none yet: a topic needs three memories that share a name"] if not records else [])


@wiki.verb("list", opened=True, shows=_listed)
def listed(store: Opened) -> Records:
    """List the topics that hold here."""
    return [
        {"name": topic.name, "lines": len(topic.ids), "scope": label(topic.repository, "")}
        for topic in kept(store.db, standing())
    ]


def _told(record: dict[str, Any]) -> None:
    lines([f"{record['name']} ({record['scope'] or PERSONAL})"])
    if record["summary"]:
        lines([record["summary"]["question"], *(text for text, _ in record["summary"]["sentences"]), "All of it:"])
    lines(one["line"] for one in record["lines"])


@wiki.verb(opened=True, shows=_told)
@click.argument("topic")
def show(store: Opened, topic: str) -> dict[str, Any]:
    """Print all memories of a topic, newest first, each with its source."""
    reader, here, now = store.reader, standing(), now_ms()
    one = _named(topic, kept(reader.db, here))
    hits = page(reader, one.ids, reader.scopes(here, inside=True), UNTRUSTED)
    told = [{"id": hit.row.uid, "source": hit.row.source, "line": line(hit, now)} for hit in hits]
    return {"name": one.name, "scope": label(one.repository, ""), "summary": summary(reader, one), "lines": told}


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
        text(f"edited, so not overwritten: {name}")
    if done["edited"]:
        text(f"`memman import {done['folder']}` imports the edits, except headings and code: remove these yourself")


@wiki.verb(shows=_built)
@click.argument("path", type=click.Path())
def build(place: Place, path: str) -> dict[str, Any]:
    """Write a folder of Markdown pages, one per topic, with an index and a log.

    Open it in Obsidian or keep it in git. A page that you edited is not overwritten until `memman import PATH` has
    read your changes. Example: `memman wiki build ~/wiki`.
    """
    done = pages.build(expected(place).data, place.name, absolute(path))
    return {"folder": path, "written": done.written, "removed": done.removed, "edited": done.edited}


_BUDGET = 1_200
# Letters of a line.
_LONGEST = 300
# Hundredths of the budget that each part may take, beside what those before it left.
_RULES, _WISHES, _TOPICS, _REST, _OPEN = 15, 25, 40, 10, 10
# Topics that are told, and lines of each.
_MOST, _EACH = 12, 5


class _Part(NamedTuple):
    title: str
    share: int
    lines: list[str]


def _line(hit: Hit) -> str:
    marks = [day(hit.row.valid_from), *hit.labels, short(hit.row.uid)]
    return f"- {clean(hit.row.text, _LONGEST)} ({', '.join(marks)})"


def _parts(store: Opened) -> Iterable[_Part]:
    """Yield what there is to know, the most binding first; nothing twice."""
    here = standing()
    yield _Part("Rules", _RULES, [f"- {clean(one['text'], _LONGEST)}" for one in ruling(store.data, store.name, here)])
    kinds = held(store.data, store.name, here)[0]
    wishes, *others = kinds or [[]]
    yield _Part("How the work is to be done", _WISHES, [_line(hit) for hit in wishes])
    told = {hit.row.uid for hit in wishes}
    reader = store.reader
    topics = kept(reader.db, here)[:_MOST]
    for topic in topics:
        hits = page(reader, topic.ids, reader.scopes(here, inside=True), UNCERTAIN)
        hits = [hit for hit in hits if hit.row.uid not in told][:_EACH]
        told |= {hit.row.uid for hit in hits}
        yield _Part(clean(topic.name), _TOPICS // len(topics), [_line(hit) for hit in hits])
    rest = [hit for hits in others for hit in hits if hit.row.uid not in told]
    yield _Part("Also" if topics else "How things are", _REST if topics else _TOPICS + _REST, list(map(_line, rest)))
    pairs = [(old, new) for kind, old, new in found(store, "here") if kind in {MAYBE, CONTRADICTED}]
    known = {one["id"]: one for one in store.memories([row for pair in pairs for row in pair])}
    yield _Part("Not settled", _OPEN, [f"- {_cut(known[old])}, or: {_cut(known[new])}" for old, new in pairs])


def _cut(record: dict[str, Any]) -> str:
    marks = [*freshness(record), short(record["uid"])]
    return f"{clean(record['text'], _LONGEST)} ({', '.join(marks)})"


@verb(opened=True, shows=lambda record: lines(record["text"].split("\n")))
@click.option(
    "--budget", type=click.IntRange(100, 100_000), default=_BUDGET, show_default=True, help="Maximum number of tokens."
)
def onboard(store: Opened, *, budget: int = _BUDGET) -> dict[str, Any]:
    """Print what a new colleague or agent should know here: rules, preferences, topics, open questions.

    Markdown, for example `memman onboard >ONBOARDING.md`. The last line counts what did not fit.
    """
    head = f"# What to know about {label(standing().repository, '') or 'everything here'} ({day(now_ms())})"
    tail = 'More: memman recall "…", memman wiki list, memman show ID.'
    left = budget - tokens(head) - tokens(tail) - tokens("and 9999 more lines: --budget 99999")
    room, written, parts, missing = 0, [head], [], 0
    for part in _parts(store):
        room += left * part.share // 100
        chosen = []
        spent = tokens(f"\n## {part.title}\n")
        for said in part.lines:
            if spent + tokens(said) > room:
                break
            spent += tokens(said)
            chosen.append(said)
        missing += len(part.lines) - len(chosen)
        if chosen:
            room -= spent
            written += ["", f"## {part.title}", *chosen]
            parts.append({"title": part.title, "lines": chosen})
    if not parts:
        return {"budget": budget, "tokens": 0, "parts": [], "left": missing, "text": "memory holds nothing here yet"}
    written += ["", f"{missing} more lines have no room: --budget N prints more. {tail}" if missing else tail]
    text = "\n".join(written)
    return {"budget": budget, "tokens": tokens(text), "parts": parts, "left": missing, "text": text}
