"""Recall's answer as JSON: all that is known of each hit."""

import json
from operator import attrgetter

from memman.belief import trusted
from memman.model.text import escaped, without_questions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from memman.recall.hit import Hit

# What is told of a hit beside its row, and where what has another name there is.
_TOLD = """score confidence doubtful pending coverage cosine text_rank meaning_rank maxsim session via alike
    maybe_replaced_by until scope labels reliability author visibility""".split()
_PLACES = {
    "text_rank": "read.anchor.words_rank",
    "meaning_rank": "read.anchor.meaning_rank",
    "maxsim": "read.maxsim",
    "session": "read.session",
}


def answer(hits: "Sequence[Hit]", store: str, old: str = "") -> str:
    """Write the hits; `old` says how old a shared store is, where its server cannot be asked."""
    sure = max((hit.confidence for hit in hits), default=0.0)
    replica = {"replica": old} if old else {}
    told = {"store": store, **replica, "confidence": sure, "hits": [*map(_record, hits)]}
    return escaped(json.dumps(told, ensure_ascii=False, indent=2))


def _record(hit: "Hit") -> "dict[str, Any]":
    row = hit.row
    lists = {"entities": json.loads(row.entities), "keywords": without_questions(json.loads(row.keywords))}
    # What neither the user nor their agent said, and nobody verified.
    warned = {} if trusted(row.source) or hit.verified else {"unverified": True}
    return row.record() | lists | warned | {name: attrgetter(_PLACES.get(name, name))(hit) for name in _TOLD}
