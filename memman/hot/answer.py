"""Recall's answer as JSON: all that is known of each hit, or within a budget a lean record of it."""

import json
from operator import attrgetter

from memman.belief import trusted
from memman.model.terms import stems
from memman.model.text import escaped, plain, without_questions
from memman.recall.render import abridged, fitted, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from memman.recall.hit import Hit

# What is told of a hit beside its row, by name, and where that is.
_FACTORS = {
    "score": "score",
    "confidence": "confidence",
    "doubtful": "doubtful",
    "pending": "pending",
    "coverage": "coverage",
    "cosine": "cosine",
    "text_rank": "read.anchor.words_rank",
    "meaning_rank": "read.anchor.meaning_rank",
    "maxsim": "read.maxsim",
    "session": "read.session",
    "via": "via",
    "alike": "alike",
    "maybe_replaced_by": "maybe_replaced_by",
    "until": "until",
    "scope": "scope",
    "labels": "labels",
    "reliability": "reliability",
    "author": "author",
    "visibility": "visibility",
}


def answer(hits: "Sequence[Hit]", store: str, query: str, budget: int | None, old: str = "") -> tuple[str, int]:
    """Write the first hits that `budget` tokens have room for, and return how many these are.

    The text of a first hit that is larger than the budget is cut to fit. `old` says how old a shared store is, where
    its server cannot be asked.
    """
    sure = max((hit.confidence for hit in hits), default=0.0)
    if budget is None:
        told = {"store": store, **_replica(old), "confidence": sure, "hits": [*map(_record, hits)], "left_out": 0}
        return escaped(json.dumps(told, ensure_ascii=False, indent=2)), len(hits)

    def written(records: "Sequence[dict[str, Any]]") -> str:
        return _lean(store, old, sure, records, len(hits) - len(records))

    asked = stems(query)
    texts = [abridged(hit, asked) for hit in hits]
    if hits:
        texts[0] = fitted(texts[0], lambda text: written([_lean_record(hits[0], text)]), budget)
    records = [_lean_record(hit, text) for hit, text in zip(hits, texts, strict=True)]
    shown = next((n for n in range(len(hits), 0, -1) if tokens(written(records[:n])) <= budget), 0)
    return written(records[:shown]), shown


def least(store: str, old: str = "") -> int:
    """Return what an answer within a budget costs before its first hit."""
    return tokens(_lean(store, old, 0.0, (), 0))


def _replica(old: str) -> "dict[str, str]":
    return {"replica": old} if old else {}


def _lean(store: str, old: str, sure: float, records: "Sequence[dict[str, Any]]", left_out: int) -> str:
    told = {"store": store, **_replica(old), "confidence": round(sure, 3), "hits": records, "left_out": left_out}
    return escaped(json.dumps(told, ensure_ascii=False, separators=(",", ":")))


def _lean_record(hit: "Hit", text: str) -> "dict[str, Any]":
    row = hit.row
    record = {"uid": row.uid, "text": text, "source": row.source, "status": row.status, "valid_from": row.valid_from}
    record |= {"confidence": round(hit.confidence, 3), "score": round(hit.score, 3)}
    record |= _warned(hit)
    if hit.scope:
        record["scope"] = hit.scope
    if hit.labels:
        record["labels"] = list(hit.labels)
    if hit.maybe_replaced_by:
        record["maybe_replaced_by"] = hit.maybe_replaced_by
    if hit.until:
        record["until"] = hit.until
    return record if text == plain(row.text, len(row.text)) else record | {"cut": True}


def _record(hit: "Hit") -> "dict[str, Any]":
    row = hit.row
    lists = {"entities": json.loads(row.entities), "keywords": without_questions(json.loads(row.keywords))}
    return row.record() | lists | _warned(hit) | {name: attrgetter(place)(hit) for name, place in _FACTORS.items()}


def _warned(hit: "Hit") -> "dict[str, bool]":
    """Mark what neither the user nor their agent said, and nobody verified."""
    return {"unverified": True} if not trusted(hit.row.source) and not hit.verified else {}
