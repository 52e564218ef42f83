"""A year of memory: 300 sessions of believable notes, what comes of them, and whether consolidation loses an answer.

`python -m bench.year` simulates the sessions of one project with a seed: new facts, corrections, repeats in other
words, chatter. They go through the product's own pipeline, without a language model. Twelve times it measures the
store; then all that `memman consolidate` proposes is merged, and undone. It prints a table, and with --out writes
the figures and a plot.
"""

import argparse
import json
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.learning import Desk
from bench.machine import described
from bench.tables import markdown
from memman.commands.consolidate import merged, proposed
from memman.commands.place import FLAG, Place, opened
from memman.commands.undo import Asked, taken_back
from memman.hot.recall import LIMIT
from memman.hot.recall_session import found
from memman.store.filters import Filters

SESSIONS, QUESTIONS, MEASURED = 300, 200, 12
_BEGAN_MS, _YEAR_MS = 1_760_000_000_000, 365 * 86_400_000
_TABLES = "memory link mark claim evidence scoped freshness mention code vector".split()
_COMPONENTS = [
    f"{one} {kind}"
    for one in "invoice customer search mail payment login report image order stock".split()
    for kind in "service worker gateway dashboard importer".split()
]


class About(NamedTuple):
    """What may be said of a component: its values, how each is said, how a change is said, and what is asked."""

    values: Sequence[str]
    says: Sequence[str]
    changes: Sequence[str]
    asks: str


_ABOUT = {
    "port": About(
        [str(n) for n in range(8010, 9990, 37)],
        ("The {c} listens on port {v}.", "You reach the {c} on port {v}.", "{v} is the port of the {c}."),
        ("The {c} listens on port {v} now, not on {old}.", "We moved the {c} from port {old} to {v}."),
        "which port does the {c} listen on?",
    ),
    "region": About(
        "Frankfurt Dublin Oregon Singapore Ohio Sydney Paris Tokyo".split(),
        ("The {c} runs in {v}.", "We host the {c} in {v}.", "{v} is where the {c} is hosted."),
        ("We moved the {c} from {old} to {v}.", "The {c} runs in {v} now, no longer in {old}."),
        "where is the {c} hosted?",
    ),
    "owner": About(
        "Atlas Borealis Comet Dune Ember Falcon Glacier".split(),
        ("Team {v} owns the {c}.", "The {c} belongs to team {v}.", "Team {v} looks after the {c}."),
        ("Team {v} took over the {c} from team {old}.", "The {c} belongs to team {v} now, not to team {old}."),
        "which team owns the {c}?",
    ),
    "database": About(
        "Postgres MySQL SQLite MongoDB Redis DynamoDB Cassandra".split(),
        ("The {c} keeps its data in {v}.", "We store the data of the {c} in {v}.", "{v} is the database of the {c}."),
        ("We replaced {old} by {v} in the {c}.", "The {c} keeps its data in {v} now instead of {old}."),
        "which database does the {c} use?",
    ),
    "language": About(
        "Go Rust Python Kotlin Elixir Scala TypeScript".split(),
        ("The {c} is written in {v}.", "We write the {c} in {v}.", "{v} is the language of the {c}."),
        ("We rewrote the {c} in {v}; the {old} version is gone.", "The {c} is written in {v} now, no longer in {old}."),
        "in which language is the {c} written?",
    ),
    "timeout": About(
        [str(n) for n in range(5, 95, 7)],
        (
            "Requests to the {c} time out after {v} seconds.",
            "The {c} has a timeout of {v} seconds.",
            "After {v} seconds a request to the {c} is given up.",
        ),
        ("The timeout of the {c} is {v} seconds now, not {old}.", "We raised the timeout of the {c} to {v} seconds."),
        "after how many seconds does a request to the {c} time out?",
    ),
    "backup": About(
        "hourly nightly weekly monthly".split(),
        ("The {c} is backed up {v}.", "Backups of the {c} are made {v}.", "We back up the {c} {v}."),
        ("The {c} is backed up {v} now, not {old}.", "Backups of the {c} went from {old} to {v}."),
        "how often is the {c} backed up?",
    ),
    "deploy": About(
        "Helm Ansible Terraform Nomad Capistrano Jenkins".split(),
        ("We deploy the {c} with {v}.", "The {c} is deployed by {v}.", "{v} deploys the {c}."),
        ("We deploy the {c} with {v} now, not with {old}.", "For deploys of the {c} {v} has replaced {old}."),
        "how is the {c} deployed?",
    ),
}
_CHATTER = (
    "ok thanks",
    "run the tests of the {c} again please",
    "can you look at why the build of the {c} is red?",
    "go on",
    "fix the typo in the {c}",
    "hm, that is strange, try it once more",
    "yes, do that",
    "what does this function of the {c} do?",
    "make the error message of the {c} shorter",
    "I will look at it after lunch",
    "commit it",
    "no, undo the last edit",
)
Slot = tuple[str, str]


class Said(NamedTuple):
    """What somebody says in a session: of which slot, which value; chatter has neither."""

    session: int
    at: int
    text: str
    kind: str
    slot: Slot = ("", "")
    value: str = ""


def year(seed: int) -> Iterator[Said]:
    """Yield what is said in 300 sessions of a year."""
    chance = random.Random(seed)
    known: dict[Slot, str] = {}
    slots = [(c, about) for c in _COMPONENTS for about in _ABOUT]
    chance.shuffle(slots)
    for session in range(SESSIONS):
        began = _BEGAN_MS + session * _YEAR_MS // SESSIONS
        for n in range(chance.randint(2, 5)):
            kind = chance.choices(("new", "changed", "again", "chatter"), (4, 2, 2, 2))[0]
            kind = kind if known or kind == "chatter" else "new"
            kind = "again" if kind == "new" and len(known) == len(slots) else kind
            at = began + n * 600_000
            if kind == "chatter":
                yield Said(session, at, chance.choice(_CHATTER).format(c=chance.choice(_COMPONENTS)), "chatter")
                continue
            slot = slots[len(known)] if kind == "new" else chance.choice([*known])
            about, old = _ABOUT[slot[1]], known.get(slot, "")
            value = old if kind == "again" else chance.choice([one for one in about.values if one != old])
            known[slot] = value
            text = chance.choice(about.changes if kind == "changed" else about.says)
            text = text.format(c=slot[0], v=value, old=old)
            yield Said(session, at, text[0].upper() + text[1:], kind, slot, value)


def run(folder: str, seed: int) -> dict[str, Any]:
    """Tell a store the year, measure it on the way, consolidate it, and take that back."""
    desk, told, known = Desk(folder), dict[str, Said](), dict[Slot, str]()
    said = list(year(seed))
    asked = random.Random(2).sample(sorted({one.slot for one in said if one.value}), QUESTIONS)
    months, due = [], [SESSIONS * n // MEASURED for n in range(1, MEASURED + 1)]
    began = time.monotonic()
    for n, one in enumerate(said):
        session = f"session-{one.session}"
        told[desk.tell(one.text, "note" if one.value else "turn", at=one.at, session=session)] = one
        if one.value:
            known[one.slot] = one.value
        if n + 1 == len(said) or (said[n + 1].session in due and one.session + 1 in due):
            months.append({"sessions": one.session + 1, **measured(desk, told, known, asked)})
    spent = time.monotonic() - began
    place = Place(folder, "default", FLAG)
    with opened(place) as store:
        groups = proposed(store)
    merges = [(group["into"]["note"], other["note"]) for group in groups for other in group["memories"]]
    wrong = [pair for pair in merges if told[pair[0]][-2:] != told[pair[1]][-2:]]
    before, first = _state(desk), _answers(desk, asked, known)
    report = merged(place, groups)
    after, consolidated = _answers(desk, asked, known), measured(desk, told, known, asked)
    taken_back(place, Asked(id=report["id"] or ""))
    return {
        "notes": len(said),
        "kinds": Counter(one.kind for one in said),
        "seconds": round(spent),
        "months": months,
        "consolidated": consolidated,
        "merged": report["merged"],
        "merged wrongly": [[told[one].text for one in pair] for pair in wrong],
        "answers lost": [slot for slot in asked if first[slot] and not after[slot]],
        "answers won": [slot for slot in asked if after[slot] and not first[slot]],
        "undo exact": _state(desk) == before and _answers(desk, asked, known) == first,
    }


def measured(desk: Desk, told: dict[str, Said], known: dict[Slot, str], asked: Sequence[Slot]) -> dict[str, Any]:
    """Count what a store holds, by what was meant, and how many questions it answers."""
    current = [(uid, told[note]) for uid, _, status, note in desk.memories() if status == "current"]
    facts = [(uid, one) for uid, one in current if one.value]
    holds = Counter((one.slot, one.value) for _, one in facts)
    outdated = [uid for uid, one in facts if one.value != known[one.slot]]
    there = [slot for slot in asked if slot in known]
    answers = _answers(desk, there, known)
    size = desk.store.db.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").get
    return {
        "size_kib": size // 1024,
        "memories": len(current),
        "junk": len(current) - len(facts),
        "duplicates": sum(holds.values()) - len(holds),
        "outdated": len(outdated),
        "of these marked": sum(map(desk.marked, outdated)),
        "questions": len(there),
        "first": sum(rank == 1 for rank in answers.values()),
        "in three": sum(0 < rank <= 3 for rank in answers.values()),
    }


def _answers(desk: Desk, slots: Sequence[Slot], known: dict[Slot, str]) -> dict[Slot, int]:
    """Return at which place recall shows the answer to each question, 0 where it does not."""
    places = {}
    for slot in slots:
        question = _ABOUT[slot[1]].asks.format(c=slot[0])
        hits = found(desk.data, "default", question, Filters(), LIMIT, None)
        right = re.compile(rf"\b{known[slot]}\b")
        # What says that the value was another one before is right, too: it names the component and the new value.
        texts = (hit.row.text for hit in hits)
        where = (n for n, text in enumerate(texts, 1) if right.search(text) and slot[0] in text.lower())
        places[slot] = next(where, 0)
    return places


def _state(desk: Desk) -> list[list[Any]]:
    return [sorted(map(str, desk.store.db.execute(f"SELECT * FROM {table}"))) for table in _TABLES]


_COLUMNS = ("sessions", "size_kib", "memories", "junk", "duplicates", "outdated", "questions", "first", "in three")
_COLOURS = {"memories": "#333", "junk": "#c33", "duplicates": "#d90", "outdated": "#63c", "in three": "#393"}


def plot(months: Sequence[dict[str, Any]]) -> str:
    """Draw the counts over the year as SVG."""
    wide, high, most = 640, 320, max(one["memories"] for one in months)
    drawn = []
    for n, (name, colour) in enumerate(_COLOURS.items()):
        points = " ".join(
            f"{40 + 560 * one['sessions'] / SESSIONS:.0f},{high - 30 - (high - 60) * one[name] / most:.0f}"
            for one in months
        )
        drawn.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{points}"/>')
        drawn.append(f'<text x="50" y="{24 + 16 * n}" fill="{colour}" font-size="13">{name}: {months[-1][name]}</text>')
    axis = f'<text x="40" y="{high - 8}" font-size="12">0 to {SESSIONS} sessions, one year; highest {most}</text>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}">{"".join([*drawn, axis])}</svg>\n'


def main() -> None:
    """Run it and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="folder for year.json and year.svg")
    parser.add_argument("--seed", type=int, default=1, help="another year than the first")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = {"machine": described(), "seed": given.seed, **run(folder, given.seed)}
    months = [*figures["months"], figures["consolidated"] | {"sessions": "consolidated"}]
    print(markdown(_COLUMNS, [[str(one[name]) for name in _COLUMNS] for one in months]))
    print(json.dumps({name: said for name, said in figures.items() if name not in {"months", "machine"}}, indent=1))
    if given.out:
        given.out.mkdir(parents=True, exist_ok=True)
        (given.out / "year.json").write_text(json.dumps(figures, indent=1))
        (given.out / "year.svg").write_text(plot(figures["months"]))


if __name__ == "__main__":
    main()
