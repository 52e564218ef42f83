"""What the page's buttons do: by the functions of the verbs, so that the command line shows it at once."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memman.commands import insights, review, undo
from memman.commands.forget import forgotten, restore
from memman.commands.place import Place, asked_about, opened
from memman.commands.remember import target
from memman.commands.scope import move
from memman.commands.show import known
from memman.config import stores
from memman.config.schedule import refuse_stopped
from memman.config.scope import PERSONAL, REPOSITORY
from memman.hot.remember import checked_text, queued
from memman.model.errors import UsageError
from memman.model.text import SHORT_ID, clean
from memman.page.parts import Done

Values = Mapping[str, str]
# Characters of a memory that a notice shows.
_SHOWN = 80
# Action that takes another back -> the command that does the same.
_UNDOES = {"restore": "forget --undo", "reinstate": "insights reinstate"}


def keep(place: Place, values: Values) -> Done:
    """Say that a memory is true: one that an agent said takes the place of what it contradicts."""
    uid = _one(values, "id")
    with opened(place) as store:
        against = known(store, [uid], 0)[0].get("against", ())
    insights.verify(place, [uid])
    says = f"{uid[:SHORT_ID]} is still true"
    gone = next((old for old in against if asked_about(place, [old])[0]["status"] == "superseded"), "")
    if not gone:
        return Done(says)
    return _undone_by("reinstate", f"{says}, and replaces {gone[:SHORT_ID]}", gone)


def _changing(
    work: Callable[[Place, Sequence[str]], Sequence[Mapping[str, Any]]], did: str, otherwise: str, undo: str = ""
) -> Callable[[Place, Values], Done]:
    """Make an action of a verb that changes memories; `undo` is the action that takes it back."""

    def act(place: Place, values: Values) -> Done:
        uid = _one(values, "id")
        records = work(place, [uid])
        told = did if any(one["changed"] for one in records) else otherwise
        says = f"{uid[:SHORT_ID]} {told}: {clean(records[0]['text'], _SHOWN)}"
        return _undone_by(undo, says, uid) if undo else Done(says)

    return act


def scope(place: Place, values: Values) -> Done:
    """Have a memory hold elsewhere."""
    uid, to = _one(values, "id"), _one(values, "to")
    before = asked_about(place, [uid])[0]["scope"] or PERSONAL
    move(place, [uid], to)
    back = f"memman scope move {uid[:SHORT_ID]} --to {before}"
    where = {PERSONAL: "everywhere", REPOSITORY: "only here"}.get(to, f"in {to}")
    return Done(f"{uid[:SHORT_ID]} holds {where} now", "scope", {"id": uid, "to": before}, back)


def correct(place: Place, values: Values) -> Done:
    """Put a person's own words in the place of a memory."""
    uid, hints = target(place, _one(values, "id"))
    text = checked_text(_one(values, "text").encode("utf-8", "surrogatepass"))
    told, _ = queued(place.data, place.name, [text], hints, stores.here(), stores.cwd(), uid)
    note = told[0][0]
    says = f"Your words will replace {uid[:SHORT_ID]} in a moment."
    return Done(says, "undo", {"id": note}, f"memman undo {note[-SHORT_ID:]}")


def take_back(place: Place, values: Values) -> Done:
    """Take back what a correction did, or what waits of it."""
    report = undo.taken_back(place, undo.Asked(id=_one(values, "id")))
    again = report["id"]
    return Done("Undone: what held before holds again.", "undo", {"id": again}, f"memman undo {again[-SHORT_ID:]}")


def approve(place: Place, values: Values) -> Done:
    """Approve what waits: of two memories, the newer replaces the older."""
    uid = _one(values, "id")
    done = review.approve(place, [uid])[0]["done"]
    return _decided(done, uid, uid)


def reject(place: Place, values: Values) -> Done:
    """Reject what waits: of two memories, the older stays."""
    uid = _one(values, "id")
    with opened(place) as store:
        other = next((one["other"] for one in review.listed(store, limit=review.MOST) if one["uid"] == uid), None)
    done = review.reject(place, [uid])[0]["done"]
    return _decided(done, uid, other["uid"] if other else uid)


def both(place: Place, values: Values) -> Done:
    """Say that both of two memories hold."""
    uid = _one(values, "id")
    return Done(f"{uid[:SHORT_ID]} {review.both(place, [uid])[0]['done']}")


def _decided(done: str, uid: str, gone: str) -> Done:
    """Say what was decided of a memory, and how to bring back the one that is gone by it."""
    says, word = f"{uid[:SHORT_ID]} {done}", done.split()
    if word[0] == "superseded":
        return _undone_by("reinstate", says, gone)
    if word[-1] in {"rejected", "forgotten"}:
        return _undone_by("restore", says, gone)
    return Done(says)


def remember(place: Place, values: Values) -> Done:
    """Queue what a script says, as an agent's word."""
    refuse_stopped(place.data, "remember")
    given = {name: values.get(name) for name in ("category", "importance", "entities", "scope", "until")}
    text = checked_text(_one(values, "text").encode("utf-8", "surrogatepass"))
    told, _ = queued(place.data, place.name, [text], given | {"source": "agent"}, stores.here(), stores.cwd())
    uid = told[0][0]
    return Done(f"queued as {uid}", command=f"memman forget {uid}")


ACTIONS: dict[str, Callable[[Place, Values], Done]] = {
    "keep": keep,
    "wrong": _changing(forgotten, "forgotten", "already forgotten", "restore"),
    "restore": _changing(restore, "restored", "was not forgotten"),
    "reinstate": _changing(insights.reinstate, "current again", "was not superseded"),
    "scope": scope,
    "correct": correct,
    "undo": take_back,
    "approve": approve,
    "both": both,
    "reject": reject,
}
# What a script may do with its token; all else is a person's to decide.
FOR_SCRIPTS: dict[str, Callable[[Place, Values], Done]] = {"remember": remember}


def _undone_by(undo: str, says: str, uid: str) -> Done:
    """Say what was done, and that an action on a memory takes it back, or its command."""
    return Done(says, undo, {"id": uid}, f"memman {_UNDOES[undo]} {uid[:SHORT_ID]}")


def _one(values: Values, name: str) -> str:
    """Return a value that has to be there."""
    said = values.get(name, "").strip()
    if not said:
        raise UsageError(f"say {name}")
    return said
