"""What a model makes of the pages of topics: an index beside them, shown only while it is made of what is there.

It is asked again where a line has come, gone or got another mark. What nobody trusted said is not put to it.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple
from zlib import crc32

from memman.belief import UNCERTAIN
from memman.llm import LLM
from memman.model.errors import BadReply, Refused
from memman.model.records import Request
from memman.model.text import day
from memman.pipeline.comparison import faithful
from memman.pipeline.prompts import itemized, prompt
from memman.pipeline.replies import clean, listed
from memman.recall.hit import Hit
from memman.recall.labels import page
from memman.store.sqlite.reader import SqliteReader
from memman.store.sqlite.store import SqliteStore
from memman.store.sqlite.topics import SUMMARY, Topic, kept

# Lines that a page has which is summed up, at least and at most; pages summed up at the end of one drain.
_LINES, _AT_ONCE = (5, 40), 8
# Sentences of a summary; characters of one, and of its question.
_MOST, _LONGEST, _QUESTION = 6, 300, 120

_SENTENCE = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "maxLength": _LONGEST},
        "from": {"type": "array", "items": {"type": "integer"}},
    },
    "required": ["text", "from"],
    "additionalProperties": False,
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "question": {"type": "string", "maxLength": _QUESTION},
        "sentences": {"type": "array", "maxItems": _MOST, "items": _SENTENCE},
    },
    "required": ["question", "sentences"],
    "additionalProperties": False,
}


class Summary(NamedTuple):
    """A question, and what answers it: sentences with the uids of the memories that each is made of."""

    question: str
    sentences: Sequence[tuple[str, Sequence[str]]]


def request(name: str, lines: Sequence[Hit], repository: str) -> Request:
    """Return the question what the lines of a topic's page come to."""
    said = [f"m{n} ({', '.join(_marks(hit))}): {hit.row.text}" for n, hit in enumerate(lines)]
    user = "\n".join((itemized("place", [name]), itemized("memories", said)))
    return Request("summary", "slow", prompt("summary"), user, SCHEMA, {}, parts={repository: len(user)})


def _marks(hit: Hit) -> list[str]:
    return [day(hit.row.valid_from), *hit.labels, *(["maybe replaced by a newer one"] if hit.maybe_replaced_by else [])]


def checked(data: Mapping[str, Any], lines: Sequence[Hit]) -> Summary:
    """Return what of an answer the memories that it names bear out. Raises BadReply where it has no sentences."""
    question = clean(data.get("question"), _QUESTION)
    found = []
    for one in listed(data, "sentences", _MOST):
        text, named = clean(one.get("text"), _LONGEST), one.get("from")
        numbers = [n for n in named if type(n) is int and 0 <= n < len(lines)] if isinstance(named, list) else []
        rows = [lines[n].row for n in numbers]
        if text and rows and faithful(text, "\n\n".join(row.text for row in rows)):
            found.append((text, [row.uid for row in rows]))
    return Summary(question if question.endswith("?") else "", found)


def summary(reader: SqliteReader, topic: Topic) -> Summary | None:
    """Return what a model made of a topic's page, if it was made of just what stands there now."""
    known = _known(reader, topic)
    if not known.get("sentences") or known["of"] != _state(_lines(reader, topic)):
        return None
    return Summary(known["question"], known["sentences"])


async def write(store: SqliteStore, llm: LLM, stopping: Callable[[], bool]) -> int:
    """Have a model sum up pages that have changed; return how many it was asked about. Raises ProviderError."""
    topics, asked = kept(store.db), 0
    for topic in topics:
        lines = _lines(store.reader, topic)
        if len(lines) < _LINES[0] or _known(store.reader, topic).get("of") == _state(lines):
            continue
        if asked == _AT_ONCE or stopping():
            break
        asked += 1
        try:
            reply = await llm.complete(request(topic.name, lines, topic.repository))
            told = checked(reply.data, lines)
        except (BadReply, Refused):
            told = Summary("", [])
        said = {"of": _state(lines), "question": told.question, "sentences": told.sentences}
        with store.unit() as unit:
            unit.set_meta(_key(topic), json.dumps(said, ensure_ascii=False))
    _tidy(store, {_key(topic) for topic in topics})
    return asked


def _tidy(store: SqliteStore, keys: set[str]) -> None:
    """Drop what was made of topics that are no more."""
    known: list[Any] = store.db.execute("SELECT key FROM meta WHERE key GLOB ?", (SUMMARY + "*",)).fetchall()
    if gone := {key for (key,) in known} - keys:
        with store.unit() as unit:
            for key in gone:
                unit.set_meta(key, None)


def _lines(reader: SqliteReader, topic: Topic) -> list[Hit]:
    held = reader.holding(topic.repository) | reader.holding("")
    return page(reader, topic.ids, held, UNCERTAIN)[: _LINES[1]]


def _state(lines: list[Hit]) -> int:
    return crc32(ascii([(hit.row.uid, hit.row.text, hit.labels, hit.maybe_replaced_by) for hit in lines]).encode())


def _known(reader: SqliteReader, topic: Topic) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(reader.meta(_key(topic)) or "{}")
    return found


def _key(topic: Topic) -> str:
    return f"{SUMMARY}{topic.repository}\n{topic.name}"
