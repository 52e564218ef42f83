"""What a session begins with: the guide, the user's rules, and all that holds, as far as there is room."""

import os
import time
from zlib import crc32

from memman.belief import HOLDS, TRUSTED, USER
from memman.config import scope, stores
from memman.config.command import NAME, command
from memman.config.places import handovers_path, queue_path, reach_path, rules_path, store_path
from memman.config.shown import RECEIPTS
from memman.hot.frame import RULES_TAG, framed, harmless
from memman.hot.session import Session
from memman.model.noted import EXAMPLE, WORD
from memman.model.payload import parsed
from memman.model.text import SHORT_ID, day, plain, replaced
from memman.model.vocabulary import WISH
from memman.recall.hit import Hit
from memman.recall.labels import UNCONFIRMED, newest
from memman.recall.render import tokens
from memman.sqlite import TranslatedErrors, open_reader, there
from memman.store.filters import Filters
from memman.store.sqlite.reader import SqliteReader
from memman.store.sqlite.topics import heaviest, last_session, outcome_of, protected, superseded_texts
from memman.store.sqlite.topics import kept as kept_topics

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memman.config.scope import Here
    from memman.hot.events import Call

ABOUT = "memman keeps memories of earlier sessions. Those about this user and this place follow."
# What ends an answer, where somebody is there to read it.
NOTED = f"""\
When the user corrects you or says what will hold in later sessions, end your answer with one line: \
`{WORD}: {EXAMPLE}` (`{WORD} everywhere: …` for all their projects, `{WORD} instead of ID: …` where it replaces \
that memory). A sentence names its subject and says what the user said, not more. Tasks, progress, \
guesses and secrets are not noted."""
CAPTURED = "What the user corrects, prefers or decides is kept when a turn ends."
COMMANDS = """\
`memman recall "words"` finds more. `memman remember -` keeps what you found out (standard input). \
`memman forget ID`: only if the user asks."""


def guide(command: str = NAME, *, says: str = NOTED) -> str:
    """Return the guide, for agents whose shells are to call memman so; it `says` what is kept of turns, if anything."""
    return "\n".join(filter(None, (ABOUT, says, COMMANDS.replace(f"`{NAME} ", f"`{command} "))))


# Sessions that start for another reason go on with what they had, or without it on purpose.
_STARTED = ("", "startup", "new")
BUDGET = 1_500
# Of that for what is no wish, in a session that knows the topics and is told at its prompts what bears on them.
_BESIDE = 250
# Parts of the room beside the guide, in hundredths: of the user's rules; then of what they leave, of the user's wishes,
# of how things are, of what only an agent says, and of what is uncertain.
RULES = 40
SHARES = (35, 35, 22, 8)
# Characters of a repository's address, and of what a memory says in place of.
_LONGEST, _LONGEST_BEFORE = 200, 80
# Which part says by its title that its lines are unconfirmed.
AGENTS = 2
# Characters of an id.
_ID = 6
# Memories that are looked at, and names told: of topics, or of those memories that there is no room for.
_MOST, _NAMES = 100, 24
# In how many sessions recall may have shown a memory for it to count; two weigh as much as a step of importance.
_USES = 4
_RULES_HEAD = "Rules that the user set, word for word; nobody else can (id: text):"
_HEAD = "Memories of earlier sessions; behind each its day and id."
_ALSO = "Also known: "
_TOPICS = "Topics (`{} recall NAME` finds what is kept on one): "
_FAILED = "memman scheduler queue failed"
_PARTS = (
    "What this user asked for before; follow it unless they say otherwise now:",
    "How things are here:",
    "Noted by an agent, not said by the user:",
    "Uncertain, check before relying on it:",
)


def block(
    data: str, store: str, here: "Here", *, says: str = NOTED, session: str = "", prompted: bool = False
) -> tuple[str, dict[str, str]]:
    """Return the block, the same for the same store, and its memories' lines by uid; the guide `says` what is kept.

    A `session` that begins is told, once, how much the last one here left. One that will be told at its prompts what
    bears on them (`prompted`) is told little beside what the user wishes, where there are topics.
    """
    text = guide(program := command(data), says=says)
    if there(reach_path(path := store_path(data, store))):
        from memman.store.reach import told

        text += f"\n{harmless(said)}\n" if (said := told(path)) else ""
    if parked := _parked(queue_path(data)):
        text += f"\n{parked} of the notes were given up on and are not stored: tell the user to run `{_FAILED}`.\n"
    room = BUDGET - tokens(text)
    ruled = _ruled(data, store, here, room * RULES // 100)
    if ruled:
        text += "\n" + framed(_RULES_HEAD, ruled, RULES_TAG)
    kinds, left, topics = standing(data, store, here, session)
    if left:
        more = "".join(f", {name} {n}" for name, n in zip(("replaced", "in review"), left[1:], strict=True) if n)
        text += f"\nkept last time: {left[0]}{more} ({program} log --session last)\n"
    room = BUDGET - tokens(text) - tokens(framed(_HEAD, _PARTS))
    if prompted and topics:
        chosen = fitting(kinds[:1], room) | fitting([[], *kinds[1:]], _BESIDE)
    else:
        chosen = fitting(kinds, room)
    lines: list[str] = []
    for title, hits in zip(_PARTS, kinds, strict=False):
        held = [chosen[hit.row.uid] for hit in hits if hit.row.uid in chosen]
        lines += [title, *held] if held else []
    if topics:
        lines.append(f"{_TOPICS.format(program)}{', '.join(topics)}")
    else:
        lines += _also([hit for hits in kinds for hit in hits if hit.row.uid not in chosen])
    return (f"{text}\n{framed(_HEAD, lines)}" if chosen else text), chosen


def _also(hits: "Sequence[Hit]") -> list[str]:
    """Name what there is no room for, most often named first."""
    counts: dict[str, int] = {}
    for hit in hits:
        for name in parsed(hit.row.entities):
            counts[name] = counts.get(name, 0) + 1
    names = sorted(counts, key=lambda name: -counts[name])[:_NAMES]
    return [harmless(_ALSO + plain(", ".join(names)))] if names else []


def _parked(path: str) -> int:
    """Count the notes that drains have given up on; none in a queue that cannot be read."""
    try:
        db = open_reader(path)
        count = int(db.execute("SELECT count(*) FROM note WHERE state = 'parked'").get)
        db.close()
    except Exception:  # noqa: BLE001 - a drain tells what is wrong with a queue
        return 0
    return count


def news(call: "Call", here: "Here") -> str:
    """Return what a session is told once: what its folder is joined with, what the last one left, where to read more.

    What cannot be looked up is said next time.
    """
    said = ""
    for tell in (_joined, _offered, _unknown):
        try:
            said += tell(call, here)
        except Exception:  # noqa: BLE001, S112 - a session begins without it
            continue
    return said


def _joined(call: "Call", here: "Here") -> str:
    """Say what this folder was before and is joined with, if the store has something of that."""
    if not here.news:
        return ""
    path = store_path(call.data, call.store)
    with TranslatedErrors(path):
        reader = SqliteReader.open(path)
        held = [one for one in here.news if reader and reader.holding(one)]
        if reader:
            reader.close()
    if not held:
        return ""
    scope.told(call.data, call.here, call.cwd or stores.cwd())
    names = ", ".join(ascii(one[:_LONGEST]) for one in held)
    return (
        f"\nThis folder was known as {names} before its address, path or first commit changed; what was remembered then"
        " is recalled here, too. Tell the user; if it is another project: `memman scope join --undo`.\n"
    )


def _offered(call: "Call", here: "Here") -> str:
    """Offer what the last session here left."""
    fresh = call.payload.text("source") in _STARTED
    if not (fresh and here.repository and os.path.isdir(handovers_path(call.data))):
        return ""
    from memman.hot.handover import offer

    return offer(call, here.repository, command(call.data))


def _unknown(call: "Call", here: "Here") -> str:
    """Offer, once in each place, to read the history of a repository that the store knows nothing of."""
    if not here.repository or here.alone or not os.path.isdir(call.data):
        return ""
    place = f"{crc32(ascii((call.store, here.repository)).encode()):08x}"
    with Session(call.data, f"{RECEIPTS}-offered", place) as looked:
        if looked.begun:
            return ""
        looked.begun = True
    if knows(call.data, call.store, here):
        return ""
    return (
        "\nmemman knows nothing of this repository yet. Tell the user once that"
        f" `{command(call.data)} bootstrap` reads its history; only they can run it.\n"
    )


def knows(data: str, store: str, here: "Here") -> bool:
    """Whether a store has memories of a repository."""
    reader = SqliteReader.open(store_path(data, store))
    if not reader:
        return False
    held = any(reader.holding(one) for one in (here.repository, *here.also))
    reader.close()
    return held


def _ruled(data: str, store: str, here: "Here", room: int) -> list[str]:
    """Return the lines of the user's standing rules that there is room for, and of how many there is none."""
    if not there(rules_path(data)):
        return []
    from memman.hot.rules import standing as ruling

    try:
        rules = ruling(data, store, here)
    except Exception:  # noqa: BLE001 - a file that does not hold what was written takes no memory away
        return []
    room -= tokens(framed(_RULES_HEAD, (), RULES_TAG))
    lines: list[str] = []
    for at, rule in enumerate(rules):
        line = harmless(f"{rule['uid'][:SHORT_ID]}: {plain(rule['text'])}")
        room -= tokens(line)
        if room < 0:
            return [*lines, f"and {len(rules) - at} more: `memman rule list`"]
        lines.append(line)
    return lines


def standing(
    data: str, store: str, here: "Here", session: str = ""
) -> tuple[list[list[Hit]], tuple[int, int, int] | None, list[str]]:
    """Return what holds here: the user's wishes, how things are, what only an agent says, and what is uncertain.

    What a person protected comes first, then of wishes what holds everywhere. Behind that, how many memories the last
    session here left and replaced, and left in review, if no `session` was told that before; and the names of topics.
    """
    path = store_path(data, store)
    with TranslatedErrors(path):
        reader = SqliteReader.open(path)
        if reader is None:
            return [], None, []
        scopes = reader.scopes(here, inside=True)
        marked = protected(reader, TRUSTED, _MOST, scopes)
        weighty = [heaviest(reader, TRUSTED, _MOST, scopes, wishes=wishes, uses=_USES) for wishes in (True, False)]
        rows = {row.id: row for some in (marked, *weighty) for row in some}
        hits = newest(reader, [*rows.values()], Filters(scopes=scopes))
        # What an agent says against what people stand behind waits until somebody bears it out.
        against = reader.contradicts([hit.id for hit in hits])
        hits = [hit for hit in hits if hit.id not in against]
        ids = [hit.id for hit in hits]
        ends, before = reader.ends(ids), superseded_texts(reader.db, ids)
        hits = [hit.having(aside=_aside(ends.get(hit.id), before.get(hit.id))) for hit in hits]
        here_only = {memory for memory, (place, _) in reader.scope_of(ids).items() if place}
        left = _left(reader, data, store, here, session) if session else None
        topics = [harmless(plain(one.name)) for one in kept_topics(reader.db, here, TRUSTED, _NAMES)[:_NAMES]]
        reader.close()
    kinds: list[list[Hit]] = [[], [], [], []]
    for hit in hits:
        kinds[_kind(hit)].append(hit)
    first = {row.id for row in marked}
    kinds[0].sort(key=lambda hit: (hit.id not in first, hit.id in here_only))
    return kinds, left, topics


def _left(reader: SqliteReader, data: str, store: str, here: "Here", session: str) -> tuple[int, int, int] | None:
    """Count, once in each place, what the last session there left and replaced, and what of it is in review."""
    with Session(data, RECEIPTS, f"{crc32(ascii((store, here.repository)).encode()):08x}") as told:
        since = max((int(at) for at in told.shown if at.isdecimal()), default=0)
        if not (last := last_session(reader.db, here, session, since)):
            return None
        told.shown = {str(last[2]): None}
    return outcome_of(reader.db, last[0])


def _aside(ends_at: int | None, before: str | None) -> tuple[str, ...]:
    """Say until when something holds, and what it superseded."""
    until = [f"until {day(ends_at - 1)}"] if ends_at else []  # a day ends where the next begins
    return (*until, *([f'before: "{plain(before, _LONGEST_BEFORE)}"'] if before else []))


def _kind(hit: Hit) -> int:
    wish = hit.standing == HOLDS and hit.row.category == WISH and hit.row.source == USER
    return 0 if wish else 1 + hit.standing


def fitting(kinds: "Sequence[Sequence[Hit]]", room: int) -> dict[str, str]:
    """Return the lines, by uid, that `room` tokens hold: each kind has its share, and what those before it left."""
    lines: dict[str, str] = {}
    skipped = []
    left = 0
    for share, hits in zip(SHARES, kinds, strict=False):
        left += room * share // 100
        for hit in hits:
            uid = hit.row.uid
            if uid in lines:
                continue
            lines[uid] = harmless(_line(hit))
            cost = tokens(lines[uid])
            if cost <= left:
                left -= cost
            else:
                skipped.append((uid, cost))
    for uid, cost in skipped:
        if cost <= left:
            left -= cost
        else:
            del lines[uid]
    return lines


def _day(moment: int) -> str:
    """Write a day of this year as 29 Nov, another with its year."""
    then = time.localtime(moment / 1000)
    return time.strftime("%-d %b" if then.tm_year == time.localtime().tm_year else "%-d %b %Y", then)


def _line(hit: Hit) -> str:
    row = hit.row
    marks = [_day(row.valid_from), *(label for label in hit.labels if _kind(hit) != AGENTS or label != UNCONFIRMED)]
    if hit.maybe_replaced_by:
        marks.append(replaced(hit.maybe_replaced_by, hit.until))
    return f"- {plain(row.text)} ({', '.join((*marks, *hit.aside))}; {row.uid[:_ID]})"
