"""Times that questions speak of: read as people mean them, and what is of that time comes first."""

import subprocess
import sys
import time

import pytest

from memman.embed.static import StaticTable
from memman.hot.recall_session import RecallSession
from memman.model.records import Draft, Fact
from memman.recall import moments
from memman.recall.candidates import POOL, candidates, fused
from memman.recall.moments import FOREVER, resolve
from memman.recall.query import TIMELY, Query, timed, understood
from memman.store.filters import Filters
from memman.store.sqlite import words
from memman.store.sqlite.store import SqliteStore
from tests.support.box import PATIENCE
from tests.support.stores import search

DAY = 86_400_000


def at(text):
    """Return the Unix milliseconds of a local time like 2026-11-21 15:00."""
    shape = "%Y-%m-%d %H:%M" if " " in text else "%Y-%m-%d"
    return int(time.mktime(time.strptime(text, shape))) * 1000


# A Saturday.
NOW = at("2026-11-21 15:00")
SPANS = (
    ("what did we decide last week", "2026-11-09", "2026-11-16", "what did we decide"),
    ("decisions in March", "2026-03-01", "2026-04-01", "decisions"),
    ("in early December", "2025-12-01", "2026-01-01", ""),
    ("what happened yesterday?", "2026-11-20", "2026-11-21", "what happened"),
    ("yesterday's outage", "2026-11-20", "2026-11-21", "outage"),
    ("the day before yesterday", "2026-11-19", "2026-11-20", ""),
    ("bugs in 2025", "2025-01-01", "2026-01-01", "bugs"),
    ("two weeks ago we picked a name", "2026-11-02", "2026-11-09", "we picked a name"),
    ("a couple of months ago", "2026-09-01", "2026-10-01", ""),
    ("work on 2026-04-02", "2026-04-02", "2026-04-03", "work"),
    ("work of 2026-04", "2026-04-01", "2026-05-01", "work"),
    ("what did Alice say on Monday", "2026-11-16", "2026-11-17", "what did Alice say"),
    ("last Friday's outage", "2026-11-20", "2026-11-21", "outage"),
    ("May 3rd, 2024 notes", "2024-05-03", "2024-05-04", "notes"),
    ("notes of the 3rd of May", "2026-05-03", "2026-05-04", "notes"),
    ("notes of 24 December", "2025-12-24", "2025-12-25", "notes"),
    ("did it rain March 2024?", "2024-03-01", "2024-04-01", "did it rain"),
    ("what did we do this year", "2026-01-01", "2027-01-01", "what did we do"),
    ("between March and May 2026 what changed", "2026-03-01", "2026-06-01", "what changed"),
    ("from 2026-01-05 to 2026-01-09", "2026-01-05", "2026-01-10", ""),
    ("the past three days", "2026-11-18", "2026-11-21 15:01", ""),
    ("decisions of march of 2024", "2024-03-01", "2024-04-01", "decisions"),
    ("notes of 3 june", "2026-06-03", "2026-06-04", "notes"),
    ("Dec 24 notes", "2025-12-24", "2025-12-25", "notes"),
    ("may 2025 plans", "2025-05-01", "2025-06-01", "plans"),
    ("may 3rd plans", "2026-05-03", "2026-05-04", "plans"),
    ("what broke between 2024 and 2025", "2024-01-01", "2026-01-01", "what broke"),
    ("decided in 2025 by Bob", "2025-01-01", "2026-01-01", "decided by Bob"),
    ("goals of 2027", "2027-01-01", "2028-01-01", "goals"),
    ("which tool was decided by Anna in March", "2026-03-01", "2026-04-01", "which tool was decided by Anna"),
    ("look after the cluster in March", "2026-03-01", "2026-04-01", "look after the cluster"),
    ("agreed before the release on 3 May", "2026-05-03", "2026-05-04", "agreed before the release"),
    ("notes of 29 Feb", "2024-02-29", "2024-03-01", "notes"),
    ("compare March and April", "2026-03-01", "2026-05-01", "compare"),
    ("what changed March to May", "2026-03-01", "2026-06-01", "what changed"),
    ("in the last 24 hours", "2026-11-20 15:00", "2026-11-21 15:01", ""),
)


@pytest.mark.parametrize(("query", "start", "end", "rest"), SPANS, ids=[query for query, *_ in SPANS])
def test_times_are_read_as_people_mean_them(query, start, end, rest):
    """A time becomes the days it means in local time, and the rest of the question is kept apart."""
    span = resolve(query, NOW)
    assert (span.start, -(-span.end // 60_000) * 60_000, span.rest) == (at(start), at(end), rest)
    assert timed(query, NOW) is not None


SIGNS = (
    "{}.",
    "{}!",
    "({})",
    "{};",
    '"{}"',
    "{}:",
    "`{}`",
    "**{}**",
    "{}…",
    "\u201c{}\u201d",
    "[{}]",
    "{}, why",
    "{}?!",
    "<{}>",
)


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("said", ["yesterday", "last week", "in March", "since 2026-05-03"])
def test_no_sign_hides_a_time(sign, said):
    """Whatever stands before or behind its words, a time is heard."""
    span, plain = timed(f"what did we decide {sign.format(said)}", NOW), timed(f"what did we decide {said}", NOW)
    assert (span.start, span.end) == (plain.start, plain.end)


@pytest.mark.parametrize(
    "query", ["yesterday's outage", "yesterday\u2019s outage", "'yesterday' outage", "Yesterday's: outage"]
)
def test_a_possessive_is_a_time(query):
    """Yesterday's is of yesterday, with either apostrophe."""
    assert timed(query, NOW).start == at("2026-11-20")


def test_every_word_that_begins_a_time_is_known_beforehand():
    """What a time can be read from is among the words that a query is first looked through for."""
    for known in (moments.MONTHS, moments.WEEKDAYS, moments.NAMED, moments.BACK):
        assert TIMELY.issuperset(known)


OPEN = (
    ("what changed since 2026-05", at("2026-05-01"), FOREVER, "what changed"),
    ("since yesterday", at("2026-11-20"), FOREVER, ""),
    ("plans after 2025", at("2026-01-01"), FOREVER, "plans"),
    ("agreed by 3 May", 0, at("2026-05-04"), "agreed"),
    ("agreed before the 3rd of May", 0, at("2026-05-03"), "agreed"),
    ("rules until June", 0, at("2026-07-01"), "rules"),
)


@pytest.mark.parametrize(("query", "start", "end", "rest"), OPEN, ids=[query for query, *_ in OPEN])
def test_since_and_before_open_a_time(query, start, end, rest):
    """Since and after have no end, before and until no beginning."""
    span = resolve(query, NOW)
    assert (span.start, span.end, span.rest) == (start, end, rest)


@pytest.mark.parametrize(
    "query",
    [
        "where do we deploy",
        "may I march on",
        "May I ask where we deploy?",
        "Is it up? May we deploy",
        "May 2 agents share a store",
        "YOU MAY RUN IT",
        "this may break the build",
        "what may fail",
        "what did April decide",
        "who is June",
        "what did Jan say",
        "does May own the schema",
        "does the march of time stop",
        "The March of time",
        "how is the sep handled",
        "a dec of the counter",
        "a key of 2048 bits",
        "a key of 2048",
        "in 2025 lines",
        "a batch of 2000 rows",
        "after 2025 requests",
        "in 2000 ms",
        "from 2024 characters",
        "in 2099",
        "what listens on 2025",
        "the service at 2025",
        "over 2000 users",
        "which service has port 2025",
        "error 2002",
        "version 2024.1",
        "in version 2024-1",
        "CVE-2024-12345",
        "id 2026-05-03-12",
        "Windows Server 2019",
        "the second attempt",
        "wait a second",
        "what is the last name of Bob",
        "the last one",
        "the past tense",
        "port 2025 is open",
        "python 3.11.4",
        "the last 5 commits",
        "at last the tests pass",
        "every Monday backup",
        "plans for next week",
        "99999 years ago",
        "2026-13-01",
        "2026-00",
        "12/24/2025",
        "",
        "ago",
        "last",
        "everything except last week",
        "not last week",
        "30 Feb",
        "Feb 30",
        "what broke on 2026-02-30",
        "half a moment ago",
        "half a year ago",
        "between April and June 2025",
        "this morning",
    ],
)
def test_what_is_no_time_is_left_alone(query):
    """Words that only look like a time name none, and nothing is raised."""
    assert resolve(query, NOW) is None


def test_dates_with_a_year_do_not_depend_on_the_clock():
    """An explicit date means the same on every day."""
    for query in ("bugs in 2025", "since 2026-05", "on 3 May 2024"):
        spans = [resolve(query, NOW + days * DAY) for days in (0, 100, 1_000)]
        assert len({(span.start, span.end) for span in spans}) == 1


def test_a_question_for_a_time_alone_is_told_from_one_about_something():
    """Decided, happened and the like are no subject; any other word is one."""
    bare = [
        Query(text, resolve(text, NOW)).bare for text in ("what did we decide last week", "anything new yesterday?")
    ]
    about = [
        Query(text, resolve(text, NOW)).bare for text in ("auth decisions last week", "what did Bob say in May 2026")
    ]
    assert bare == [True, True]
    assert about == [False, False]
    assert not Query("what did we decide").bare


LAZY = """
import sys
from memman.recall.query import timed
assert timed("where do we deploy", 0) is None
assert "memman.recall.moments" not in sys.modules
assert timed("what did we decide last week", 0) is not None
assert "memman.recall.moments" in sys.modules
assert not {"re", "datetime", "calendar", "enum"} & set(sys.modules), sorted(sys.modules)
"""


def test_only_a_question_with_a_time_loads_the_calendar():
    """Other questions load no module for it, and even then nothing dear is loaded."""
    subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:] = {sys.path!r}\n{LAZY}"], check=True, timeout=PATIENCE
    )


def dated(box, notes):
    """Store notes as if they had been queued on their days."""
    for n, (day, text) in enumerate(notes):
        box.remember(text, session=str(n))
        queue = box.queue("SELECT max(id) FROM note")[0]
        box.queue("UPDATE note SET queued_at = ?, digest = NULL WHERE id = ?", at(day), queue)
    box.drain()


NOTES = (
    ("2026-03-03", "We decided to cache the search results of the auth service for a minute."),
    ("2026-05-12", "We decided to log every failed login of the auth service."),
    ("2026-06-20", "The auth service got a host of its own."),
    ("2026-07-07", "We chose four weeks as the lifetime of a refresh token in the auth service."),
    ("2026-08-15", "The invoices are sent by a new mailer."),
    ("2026-11-11", "Alice took over the mobile app."),
    ("2026-11-12", "The importer now reads Parquet."),
)


def asked(box, query, now=NOW, **filters):
    """Recall as on the afternoon of NOW."""
    recalls = RecallSession(str(box.data), "default")
    try:
        hits = search(recalls.reader, recalls.table, query, Filters(**filters), 10, now=now)
        return [hit.row.text for hit in hits]
    finally:
        recalls.close()


def test_what_is_of_the_time_asked_for_comes_first(box):
    """Of memories that answer alike, the one of the time that the question names is first."""
    dated(box, NOTES)
    for month, text in (("March", NOTES[0]), ("May", NOTES[1]), ("June", NOTES[2]), ("July 2026", NOTES[3])):
        assert asked(box, f"what about the auth service in {month}")[0] == text[1]


def test_a_question_for_a_time_alone_gives_what_is_of_that_time(box):
    """What did we do last week: the memories of that week, although they share no word with the question."""
    dated(box, NOTES)
    assert set(asked(box, "what happened last week")) == {text for day, text in NOTES[-2:]}
    assert asked(box, "what happened in May 2026") == [NOTES[1][1]]


NAMES = (
    ("what happens on Friday?", "Deploys are frozen on Friday."),
    ("what did August fix?", "August fixed the login bug."),
    ("What is March?", "March is the name of the build server."),
    ("what about weekend work?", "Weekend work is paid twice."),
    ("what changes in May 2027?", "The price changes in May 2027."),
)


@pytest.mark.parametrize(("query", "text"), NAMES, ids=[query for query, _ in NAMES])
def test_a_time_that_is_a_name_or_that_nothing_is_of_hides_no_answer(box, query, text):
    """A weekday or a month may be what is asked about, and so may a date of which there is no memory."""
    dated(box, (("2026-09-02", text), ("2026-11-20", "The importer reads Parquet."), NOTES[4]))
    assert asked(box, query)[:1] == [text]


@pytest.mark.parametrize("said", ["on Friday", "in March", "on 3 May"])
def test_only_the_clock_or_a_year_makes_a_time_all_that_is_asked_for(said):
    """What may be a name only weighs, whatever else is asked."""
    query = Query(f"what happened {said}", resolve(f"what happened {said}", NOW))
    assert query.span is not None
    assert (query.bare, query.about) == (False, query.text)


def test_a_date_that_nothing_is_of_is_searched_for_among_what_waits(box):
    """With no store yet, a note that speaks of a coming month is found by it."""
    box.remember("The price changes in May 2027.")
    assert box.recall("what changes in May 2027?") == ["The price changes in May 2027."]


def test_a_date_that_is_content_keeps_its_answer(box):
    """Where the date belongs to what is asked about, an unrelated memory of that time does not take its place."""
    dated(
        box,
        (
            ("2026-01-10", "The certificate of the shop expires in October 2026."),
            ("2026-10-05", "The shop sells mugs."),
        ),
    )
    assert asked(box, "which certificate expires in October 2026")[0].startswith("The certificate")


def test_as_of_is_the_day_that_yesterday_is_seen_from(box):
    """Recall as of tomorrow takes today for yesterday."""
    box.remember("Bob joined.")
    box.drain()
    tomorrow = time.time_ns() // 1_000_000 + DAY
    assert asked(box, "what happened yesterday", now=None) == []
    assert asked(box, "what happened yesterday", now=None, as_of=tomorrow) == ["Bob joined."]


def test_in_a_large_store_the_time_asked_for_is_not_crowded_out(tmp_path):
    """However many memories match a question better, those of the time it names are among the anchors."""
    store = SqliteStore(str(tmp_path / "memman.db"))
    table = StaticTable()
    with store.unit() as unit:
        for n in range(1_500):
            fact = Fact("The auth service was deployed, the auth service of auth." if n % 50 else "Auth was mentioned.")
            unit.add(Draft(f"{n:08x}", f"n{n}", fact, "user", f"a:{n}", NOW - (1_500 - n) * DAY), NOW)
        words.index(unit.db, range(1, 1_501))
    best, timely = (
        fused(store.reader, asked, candidates(store.reader, table, asked, Filters()), 2 * POOL)
        for asked in (Query("auth service"), understood("auth service in 2023", NOW))
    )
    began = store.reader.began(hit.id for hit in timely)
    store.close()
    assert len(best) == POOL
    assert all(at("2023-01-01") <= began[hit.id] < at("2024-01-01") for hit in timely[:20])
