"""`memman onboard`: what a new colleague or agent should know, as Markdown, within a budget of tokens."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import click

from memman.belief import UNCERTAIN
from memman.clock import now_ms
from memman.commands.inbox import CONTRADICTED, MAYBE, found
from memman.commands.memories import veiled
from memman.commands.place import Place, reading, standing
from memman.commands.printing import freshness, short
from memman.commands.printing import lines as printed_lines
from memman.commands.verb import verb
from memman.config.scope import label
from memman.hot.prime import standing as held
from memman.hot.rules import standing as ruling
from memman.model.text import clean, day
from memman.recall.hit import Hit
from memman.recall.page import page
from memman.recall.render import tokens
from memman.store.sqlite.topics import kept

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


def _parts(place: Place) -> Iterable[_Part]:
    """Yield what there is to know, the most binding first; nothing twice."""
    here = standing()
    yield _Part("Rules", _RULES, [f"- {clean(one['text'], _LONGEST)}" for one in ruling(place.data, place.name, here)])
    kinds, _ = held(place.data, place.name, here)
    wishes, *others = kinds or [[]]
    yield _Part("How the work is to be done", _WISHES, [_line(hit) for hit in wishes])
    told = {hit.row.uid for hit in wishes}
    with reading(place) as catalogue:
        reader = catalogue.reader
        topics = kept(reader.db, here)[:_MOST]
        for topic in topics:
            hits = page(reader, topic.ids, reader.scopes(here, inside=True), UNCERTAIN)
            hits = [hit for hit in hits if hit.row.uid not in told][:_EACH]
            told |= {hit.row.uid for hit in hits}
            yield _Part(clean(topic.name), _TOPICS // len(topics), [_line(hit) for hit in hits])
        rest = [hit for hits in others for hit in hits if hit.row.uid not in told]
        yield _Part(
            "Also" if topics else "How things are", _REST if topics else _TOPICS + _REST, list(map(_line, rest))
        )
        pairs = [(old, new) for kind, old, new in found(catalogue) if kind in {MAYBE, CONTRADICTED}]
        known = {
            one["id"]: veiled(place, reader, one["uid"], one)
            for one in catalogue.memories([row for pair in pairs for row in pair])
        }
        said = [f"- {_cut(known[old])}, or: {_cut(known[new])}" for old, new in pairs]
        yield _Part("Not settled", _OPEN, said)


def _cut(record: dict[str, Any]) -> str:
    marks = [*freshness(record), short(record["uid"])]
    return f"{clean(record['text'], _LONGEST)} ({', '.join(marks)})"


@verb(shows=lambda record: printed_lines(record["text"].split("\n")))
@click.option(
    "--budget", type=click.IntRange(100, 100_000), default=_BUDGET, show_default=True, help="Tokens of it at most."
)
def onboard(place: Place, *, budget: int = _BUDGET) -> dict[str, Any]:
    """Print what a new colleague or agent should know here: rules, wishes, what each topic is about, what is open.

    Markdown: `memman onboard >ONBOARDING.md`. What there is no room for is counted.
    """
    head = f"# What to know about {label(standing().repository, '') or 'everything here'} ({day(now_ms())})"
    tail = 'More: memman recall "…", memman wiki list, memman show ID.'
    left = budget - tokens(head) - tokens(tail) - tokens("and 9999 more lines: --budget 99999")
    room, written, parts, missing = 0, [head], [], 0
    for part in _parts(place):
        room += left * part.share // 100
        chosen = []
        spent = tokens(f"\n## {part.title}\n")
        for line in part.lines:
            if spent + tokens(line) > room:
                break
            spent += tokens(line)
            chosen.append(line)
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
