"""A plan's journaled fields as JSON text, and back."""

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from memman.embed import Vectors
from memman.model.records import Candidate, Cause, Fact, Verdict
from memman.pipeline.plan import Plan


def _packed(vectors: Vectors | None) -> list[Any] | None:
    if vectors is None:
        return None
    return [list(vectors.shape), base64.b64encode(vectors.astype("<f4").tobytes()).decode()]


def _unpacked(saved: list[Any] | None) -> Vectors | None:
    if saved is None:
        return None
    shape, text = saved
    return np.frombuffer(base64.b64decode(text), "<f4").reshape(shape).astype(np.float32)


def _records(items: Sequence[Any]) -> list[dict[str, Any]]:
    # dataclasses.asdict copies deeply, which took a twelfth of a drain; these records hold nothing deep.
    return [{name: getattr(item, name) for name in item.__slots__} for item in items]


def _fact(saved: dict[str, Any]) -> Fact:
    ends = saved["ends"] if saved["ends"] is None else tuple((uid, rest) for uid, rest in saved["ends"])
    return Fact(**saved | {"entities": tuple(saved["entities"]), "keywords": tuple(saved["keywords"]), "ends": ends})


def _candidate(saved: dict[str, Any]) -> Candidate:
    return Candidate(**saved | {"entities": tuple(saved["entities"])})


# Field -> (to JSON, from JSON).
_FIELDS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "facts": (_records, lambda saved: tuple(map(_fact, saved))),
    "local": (_packed, _unpacked),
    "vectors": (_packed, _unpacked),
    "candidates": (
        lambda found: [_records(some) for some in found],
        lambda saved: tuple(tuple(map(_candidate, some)) for some in saved),
    ),
    "verdicts": (_records, lambda saved: tuple(Verdict(**item) for item in saved)),
    "models": (list, lambda saved: tuple((stage, names) for stage, names in saved)),
    "causes": (_records, lambda saved: tuple(Cause(**item) for item in saved)),
}


def encode(plan: Plan, fields: Sequence[str]) -> str:
    """Write some fields of `plan`."""
    return json.dumps({name: _FIELDS[name][0](getattr(plan, name)) for name in fields}, ensure_ascii=False)


def decode(plan: Plan, text: str) -> Plan:
    """Return `plan` with the fields that `encode` wrote."""
    return replace(plan, **{name: _FIELDS[name][1](saved) for name, saved in json.loads(text).items()})
