"""`memman review`: the one place for what waits for a person."""

import sys
from typing import Any

import click

from memman.commands.person import choose, confirm
from memman.commands.printing import (
    acted,
    ago,
    holds,
    labelled,
    listed,
    named,
    pairs,
    printed,
    short,
    table,
    text,
    when,
)
from memman.commands.verb import Group, data_options, limit_option, place, store_option
from memman.hot.provenance import stamp

# What may be answered to each that is walked through, and what an empty line means.
_ANSWERS = {"a": "approve", "e": "edit", "r": "reject", "s": "skip", "q": "quit"}
_OF_TWO = {"y": "yes", "n": "no", "e": "edit", "s": "skip", "q": "quit"}
_REPLACES, _STAYS = "Does the newer replace the older?", "Does the older stay as it is?"
_WHOLE = 500
# What the other side is to what waits, by the name it has.
_SIDES = {"superseded_by": "replaced by", "stands_behind": "stands behind", "maybe_replaced_by": "maybe replaced by"}


@click.group(cls=Group)
@store_option
def review() -> None:
    """Decide about memories that wait for a person: held back, contradicted, or said by agents alone."""


@review.command("list")
@limit_option
@data_options
def list_(limit: int, as_json: bool) -> None:
    """List what waits, and why."""
    from memman.govern import inbox

    records = listed(lambda most: inbox.listed(place(), limit=most), limit)
    if not printed(records, as_json=as_json):
        heads = ("id", "age", "category", "source", "waits", "text")
        table([row for record in records for row in _rows(record)], heads=heads)


@review.command()
@click.argument("id_", metavar="ID")
@data_options
def show(id_: str, as_json: bool) -> None:
    """Show all that is known of what waits, both sides."""
    from memman.govern import inbox

    records = inbox.shown(place(), [id_])
    if printed(records, as_json=as_json):
        return
    for record in records:
        pairs(_details(record))


@review.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@data_options
def approve(ids: tuple[str, ...], as_json: bool) -> None:
    """Approve what waits.

    What was held back is recalled, what an agent said counts as confirmed, and what is maybe replaced is superseded.
    """
    from memman.govern import review as govern

    _ask(ids, "Approve?", _REPLACES)
    _tell(govern.approve(place(), ids), as_json=as_json)


@review.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@data_options
def reject(ids: tuple[str, ...], as_json: bool) -> None:
    """Reject what waits: it is forgotten, and no agent may propose it again; `forget --undo` takes that back.

    A memory that is maybe replaced stays, without the mark. What an agent's note contradicts holds.
    """
    from memman.govern import review as govern

    _ask(ids, "Reject?", _STAYS)
    _tell(govern.reject(place(), ids), as_json=as_json)


@review.command()
@click.argument("id_", metavar="ID")
@click.option("--text", "said", required=True, metavar="TEXT", help="What holds instead, in your own words.")
@store_option
def edit(id_: str, said: str) -> None:
    """Say in your own words what holds in the place of what waits."""
    from memman.govern import review as govern

    here = place()
    govern.editable(here, id_, said)
    _ask((id_,), "Put your text in its place?")
    text(govern.edit(here, id_, said, stamp(here.data, "", None)))


@review.command("all")
@store_option
def all_() -> None:
    """Walk through all that waits, one by one, at the terminal."""
    from memman.govern import inbox

    here = place()
    records = inbox.listed(here, limit=_WHOLE)
    for number, record in enumerate(records, 1):
        question, answers = (_REPLACES, _OF_TWO) if record["other"] else ("", _ANSWERS)
        answer = choose(f"{number} of {len(records)}: {question}".rstrip(), answers, _lines(record))
        if answer == "quit":
            return
        if answer != "skip":
            _decide(record["uid"], answer)
    if not records:
        text("nothing waits for review")


def _decide(uid: str, answer: str) -> None:
    from memman.govern import review as govern

    here = place()
    if answer == "edit":
        said = choose("What holds instead:", None)
        text(
            f"queued as {short(govern.edit(here, uid, said, stamp(here.data, '', None)), note=True)}"
            if said
            else "left as it is"
        )
    else:
        _tell((govern.approve if answer in {"approve", "yes"} else govern.reject)(here, [uid]), as_json=False)


def _ask(ids: tuple[str, ...], question: str, of_two: str = "") -> None:
    """Ask a person about what waits, with the other side of each; `of_two` where each has one."""
    from memman.govern import insights as known

    here = place()
    records = known.shown(here, ids)
    others = {one["uid"]: (one[name], said) for one in records for name, said in _SIDES.items() if one.get(name)}
    uids = sorted({uid for uid, _ in others.values()})
    sides = {one["uid"]: one for one in known.shown(here, uids)} if uids else {}
    shown = []
    for one in records:
        uid, said = others.get(one["uid"], ("", ""))
        shown += [named(one), *([f"{said} {named(sides[uid])}"] if uid in sides else [])]
    confirm(of_two if of_two and len(others) == len(records) else question, listed=shown)


def _tell(records: list[dict[str, Any]], *, as_json: bool) -> None:
    if not printed(records, as_json=as_json):
        table([acted(one["done"], one) for one in records])
    sys.stdout.flush()


def _rows(record: dict[str, Any]) -> list[tuple[object, ...]]:
    """Return the line of what waits, and below it that of the other side."""
    said = ": ".join(filter(None, (record["kind"], record["why"])))
    rows = [_row(record, said)]
    return [*rows, _row(record["other"], "by")] if record["other"] else rows


def _row(record: dict[str, Any], said: str) -> tuple[object, ...]:
    return (
        short(record["uid"]),
        ago(record["valid_from"]),
        record["category"],
        labelled(record, holds(record)),
        said,
        record["text"],
    )


def _lines(record: dict[str, Any]) -> list[str]:
    return ["  ".join(filter(None, map(str, row))) for row in _rows(record)]


def _details(record: dict[str, Any]) -> dict[str, object]:
    came, other = record["provenance"] or {}, record["other"]
    said = {
        "id": record["uid"],
        "waits": ": ".join(filter(None, (record["kind"], record["why"]))),
        "text": record["text"],
        "source": labelled(record, holds(record)),
        "recorded": when(record["recorded_at"]),
        **{name: came.get(name) for name in ("agent", "session", "cwd", "repository")},
    }
    if other:
        said |= {"other side": other["uid"], "it says": other["text"], "its source": labelled(other, holds(other))}
    return said
