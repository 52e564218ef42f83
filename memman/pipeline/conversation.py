"""A conversation as a model reads it: all its turns in one question, with what is known already."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from memman.llm.builtin.split import asks
from memman.model.records import Fact, Hints, Note, Request
from memman.model.vocabulary import CATEGORIES
from memman.pipeline.heard import Heard, Said
from memman.pipeline.plan import Tools
from memman.pipeline.prompts import itemized, prompt, quoted
from memman.pipeline.replies import ASKED_TEXT, FIELDS, MAX_TEXT, distinct, fact, lines, listed, listing
from memman.pipeline.scope import around
from memman.pipeline.trust import HEARD, names_nothing_else, really_said, share, told

# Facts of one conversation, and memories that one fact may end.
MAX_FACTS, MAX_ENDED = 24, 3
# Memories that are shown, the nearest to what was said, and of how many of the newest they are chosen.
SHOWN, LOOKED_AT = 60, 2_000
# Characters of the turns of one question, about 6,000 tokens, and of an agent's message where it is longer.
LONGEST, CUT = 24_000, 800
# The least that a fact is worth to the judge: of 59 by a strong model none is worth less.
WORTH = 0.05
# What the user typed so many turns before counts as said with a fact.
_BEFORE = 2

SCHEMA = listing(
    {name: form for name, form in FIELDS.items() if name != "summary"}
    | {
        # What is only of now is not kept.
        "category": {"type": "string", "enum": [one for one in CATEGORIES if one != "context"]},
        "from": {"type": "array", "maxItems": 8, "items": {"type": "integer"}},
        "speaker": {"type": "string", "enum": ["user", "agent"]},
        "until": {"type": "string", "maxLength": 10},
        "ends": {
            "type": "array",
            "maxItems": MAX_ENDED,
            "items": {
                "type": "object",
                "properties": {"memory": {"type": "integer"}, "rest": {"type": "string", "maxLength": ASKED_TEXT}},
                "required": ["memory", "rest"],
                "additionalProperties": False,
            },
        },
    },
    MAX_FACTS,
)
SCHEMA_TEXT = json.dumps(SCHEMA)


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn as it was heard; `likely` reads whether it may hold something worth keeping."""

    note: Note
    heard: Heard
    likely: Callable[[], Awaitable[bool]]


@dataclass(slots=True)
class _Talk:
    """The turns of one session that have arrived, and what comes of them by the uid of their notes.

    None where nothing was asked, or the built-in model answered in a model's place.
    """

    turns: list[Turn] = field(default_factory=list)
    answer: "asyncio.Task[dict[str, tuple[Fact, ...]] | None] | None" = None


class Conversations:
    """The conversations that one drain reads in one store. `gathered` waits for the turns of a note's session."""

    def __init__(self, gathered: Callable[[Note], Awaitable[None]]) -> None:
        self.gathered = gathered
        self._talks: dict[tuple[str, str], _Talk] = {}

    async def facts(self, tools: Tools, turn: Turn) -> tuple[Fact, ...] | None:
        """Return what a model found in a turn, read with all others of its session that are in flight.

        None where no turn seems to hold anything, or no model answered. Raises what the model does.
        """
        origin = turn.note.provenance
        alone = turn.note.channel != "turn" or not origin.session
        key = ("", turn.note.uid) if alone else (origin.agent, origin.session)
        talk = self._talks.setdefault(key, _Talk())
        talk.turns.append(turn)
        await self.gathered(turn.note)
        if talk.answer is None:
            del self._talks[key]
            talk.answer = asyncio.create_task(_read(tools, sorted(talk.turns, key=lambda one: one.note.queued_at)))
        found = await asyncio.shield(talk.answer)
        return None if found is None else found.get(turn.note.uid, ())


async def _read(tools: Tools, turns: Sequence[Turn]) -> dict[str, tuple[Fact, ...]] | None:
    """Ask a model about a conversation; None where nothing in it seems worth that, or no model answers."""
    for turn in turns:
        if await turn.likely():
            break
    else:
        return None
    found: dict[str, tuple[Fact, ...]] = {}
    for some in _divided(turns):
        known = await asyncio.to_thread(_known, tools, some)
        reply = await tools.llm.complete(_request(some, known))
        if reply.provider == tools.builtin.provider:
            return None
        found |= await asyncio.to_thread(_found, tools, some, known, reply.data)
    return found


def _divided(turns: Sequence[Turn]) -> list[list[Turn]]:
    """Divide a conversation that is too long for one question."""
    divided: list[list[Turn]] = []
    room = 0
    for turn in turns:
        length = len(_told(1, turn))
        if not divided or length > room:
            divided.append([])
            room = LONGEST
        divided[-1].append(turn)
        room -= length
    return divided


def _told(n: int, turn: Turn) -> str:
    """Write a turn for the model."""
    heard = turn.heard
    said = {"before": heard.before if n == 1 else "", "user": heard.quoting, "agent": _cut(heard.agent)}
    parts = (quoted(tag, text) for tag, text in (said | {"summary": heard.summary}).items() if text)
    return "\n".join(("<turn>", str(n), *parts, "</turn>"))


def _request(turns: Sequence[Turn], known: Mapping[str, str]) -> Request:
    """Put the question."""
    place = turns[0].note.provenance.repository
    return Request(
        task="conversation",
        role="slow",
        system=prompt("conversation"),
        user="\n".join(
            [
                f"Today is {_day(turns[0].note.queued_at)}.",
                quoted("place", place.partition("#")[0]) if place else "",
                itemized("memories", (f"m{n}: {text}" for n, text in enumerate(known.values(), 1))),
                *(_told(n, turn) for n, turn in enumerate(turns, 1)),
            ]
        ),
        schema=SCHEMA,
        payload={},
        max_tokens=4096,
        note=turns[0].note,
    )


def _cut(text: str) -> str:
    """Leave out the middle of a long message: what was found and what is asked stand at its ends."""
    return text if len(text) <= CUT else f"{text[: CUT // 2]} … {text[-CUT // 2 :]}"


def _known(tools: Tools, turns: Sequence[Turn]) -> dict[str, str]:
    """Return the memories that hold in the place of a conversation, by uid: text and day, those nearest to it last."""
    reader = tools.reader
    newest = [memory for memory, _ in reader.recent(0, LOOKED_AT)]
    here = reader.filtered(newest, around(tools, turns[0].note))
    rows = reader.rows([memory for memory in newest if memory in here])
    chosen = list(rows.values())
    if len(chosen) > SHOWN:
        said = [text for turn in turns for text in (turn.heard.user, turn.heard.summary) if text]
        near = (tools.judge.about([row.text for row in chosen]) @ tools.judge.about(said).T).max(axis=1)
        chosen = [row for _, row in sorted(zip(near, chosen, strict=True), key=lambda one: float(one[0]))]
    return {row.uid: f"{_day(row.valid_from)} {row.text}" for row in chosen[-SHOWN:]}


def _day(at: int) -> date:
    return datetime.fromtimestamp(at / 1000, UTC).date()


def _found(
    tools: Tools, turns: Sequence[Turn], known: Mapping[str, str], data: Mapping[str, Any]
) -> dict[str, tuple[Fact, ...]]:
    """Return what is believed of an answer, by the note in which it was said last."""
    uids = list(known)
    found: dict[str, list[Fact]] = {}
    for item in listed(data, "facts", MAX_FACTS):
        said_in = sorted({n for n in _numbers(item.get("from")) if 1 <= n <= len(turns)}) or [len(turns)]
        one = replace(fact(item, Hints()), ends=tuple(_ended(item, uids)), ends_at=_until(item.get("until")))
        if one.text and not asks(one.text) and (mine := _believed(tools, turns, said_in, one, item.get("speaker"))):
            found.setdefault(turns[said_in[-1] - 1].note.uid, []).append(mine)
    return {uid: distinct(facts) for uid, facts in found.items()}


def _believed(tools: Tools, turns: Sequence[Turn], said_in: Sequence[int], one: Fact, speaker: object) -> Fact | None:
    """Return a fact stamped with whose word it is, whatever the model claims; None where nobody spoke of that.

    What the judge is sure is only of now is left out, too. What the agent found out is kept where the settings say so,
    and as the agent's word what the user is said to have said and that cannot be borne out.
    """
    note = turns[said_in[-1] - 1].note
    near = turns[max(0, said_in[0] - 1 - _BEFORE) : said_in[-1]]
    # What it ends held until then: "40 MB, not 25".
    ended = [row.text for row in tools.reader.rows(tools.reader.located([uid for uid, _ in one.ends or ()])).values()]
    spoken = [turn.heard.spoken for turn in near]
    # What was asked counts as spoken of where it was answered.
    asked = [taken.question.replace("?", ".") for said in spoken if (taken := said.taken_up(one.text)).question]
    everything = Said((*(turn.heard.everything for turn in near), *asked, *ended))
    if not names_nothing_else(tools, note, everything, one.text) or share(one.text, note, everything) < HEARD:
        return None
    if tools.judge.lines([one.text])[0][0] < WORTH:
        return None
    said = Said(tuple(text for said in spoken for text in said.typed if text))
    answers = [turns[n - 1].heard.spoken.taken_up(one.text) for n in said_in]
    if answer := next((one for one in reversed(answers) if one.question), None):
        # The answer stands last, as `Said` has it.
        said = Said((*said.typed, *answer.typed), answer.question)
    named = replace(said, typed=(*said.typed, *ended))
    if names_nothing_else(tools, note, named, one.text) and really_said(tools, note, said, one.text):
        return one
    return told(one) if speaker == "user" or tools.capture == "turns" else None


def _ended(item: Mapping[str, Any], uids: Sequence[str]) -> Iterator[tuple[str, str]]:
    ends = item.get("ends")
    for one in ends[:MAX_ENDED] if isinstance(ends, list) else ():
        n = one.get("memory") if isinstance(one, dict) else None
        if isinstance(n, int) and 1 <= n <= len(uids):
            yield uids[n - 1], lines(one.get("rest"), MAX_TEXT)


def _numbers(value: object) -> list[int]:
    return [n for n in value if isinstance(n, int)] if isinstance(value, list) else []


def _until(value: object) -> int | None:
    """Return the end of a day, in Unix milliseconds."""
    try:
        day = date.fromisoformat(str(value or "")) + timedelta(days=1)
        return int(datetime(day.year, day.month, day.day).astimezone().timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        return None
