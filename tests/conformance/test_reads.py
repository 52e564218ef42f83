"""Every question that pipeline and recall ask of a store has the same answer whatever the store is."""

import pytest

from memman.config.scope import Here
from memman.embed.codes import planes, sign_code
from memman.embed.static import query_planes
from memman.model.vocabulary import BUILTIN, CLAIMS, HELD, MAYBE, PROTECTED
from memman.store.filters import Filters
from memman.store.sqlite.reader import SqliteReader
from tests.support.oracle.reads import Reads
from tests.support.scripted import BEGAN, DAY, day, told_to
from tests.support.stores import KINDS, LOCAL, NOW, OTHER, TABLE, alike, far, made

ROWS = tuple(range(1, 25))
VECTOR = TABLE.vector("port of Kestrel")
CODE = sign_code(planes(LOCAL.vectors(["port of Kestrel"])[0])[0])
MODEL = LOCAL.fingerprint
WORDS = ("port", "kestrel", "deployed", "web", "staging", "数据", "rotates", "nothing")
MARKS = (PROTECTED, HELD, MAYBE, CLAIMS)
HERE = (Here(), Here("example.org/a"), Here("example.org/a", "src/x"), Here("example.org/b"), Here("example.org/c"))
MATCHES = (
    '"port" OR "kestrel"',
    '"the" OR "web" OR "shop"',
    '"kestrel" AND "port"',
    '{text terms} : ("deployed" OR "german")',
    '{text terms} : "staging key"',
    '"数据" OR "数"*',
    '"deploying"',
    '"nowhere"',
)
NARROWED = (
    Filters(),
    Filters(history=True),
    Filters(category="decision"),
    Filters(source="agent"),
    Filters(since=day(3), until=day(9)),
    *(Filters(as_of=day(n)) for n in range(-1, 19, 2)),
    Filters(as_of=day(14), history=True),
    Filters().within((5, 9)),
)


def uids(reader):
    """Return the uids of all memories."""
    return [row.uid for row in reader.rows(ROWS).values()]


def scoped(reader):
    """Return filters by where one stands."""
    return [Filters().scoped(reader.scopes(here, inside=inside)) for here in HERE for inside in (False, True)]


def narrowed(reader):
    """Return all filters."""
    return (*NARROWED, *scoped(reader))


# Method -> the questions it is asked, each a function of the reader.
ASKED = {
    "meta": [
        lambda r: [r.meta(key) for key in ("", "spread:x", "replaced:note-later")],
        lambda r: [bool(r.meta(mark + row.uid)) for row in r.rows(ROWS).values() for mark in MARKS],
    ],
    "count": [lambda r: r.count()],
    "embedder_id": [lambda r: (r.embedder_id(MODEL), r.embedder_id(OTHER))],
    "embedder": [lambda r: (r.embedder(BUILTIN, MODEL.model, MODEL.dimension), r.embedder("a", "b", 3))],
    "searched": [lambda r: (r.searched(MODEL.dimension), r.searched(7))],
    "lexical": [lambda r: [r.lexical(m, f, n) for m in MATCHES for f in narrowed(r) for n in (2, 50)]],
    "matched": [lambda r: [r.matched(m, f, n) for m in MATCHES for f in narrowed(r) for n in (1, 50)]],
    "estimated": [lambda r: [r.estimated(m, n) for m in MATCHES for n in (1, 3, 100)]],
    "frequencies": [lambda r: (r.frequencies(WORDS, 100), r.frequencies(WORDS, 2))],
    "nearest": [lambda r: [r.nearest(r.embedder_id(MODEL), CODE, f, n) for f in narrowed(r) for n in (3, 50)]],
    "planes": [lambda r: [sorted(r.planes(r.embedder_id(by), ROWS)) for by in (MODEL, OTHER)]],
    "cosines": [
        lambda r: r.cosines(r.embedder_id(MODEL), query_planes(VECTOR), ROWS),
        lambda r: r.cosines(r.embedder_id(OTHER), query_planes(far("x").tolist()), ROWS),
        lambda r: r.cosines(r.embedder_id(MODEL), query_planes([0.0] * MODEL.dimension), ROWS),
    ],
    "cells_near": [lambda r: r.cells_near(r.embedder_id(MODEL), far("x"))],
    "cells_around": [lambda r: r.cells_around(r.embedder_id(MODEL), CODE)],
    # Numbers of scopes are a store's own: what counts is which memories have them.
    "scopes": [lambda r: [r.filtered(ROWS, f) for f in scoped(r)]],
    "holding": [lambda r: [r.filtered(ROWS, Filters().scoped(r.holding(name))) for name in ("", "example.org/a", "x")]],
    # Who wrote a memory only a server says.
    "authorship": [lambda r: {row.memory: row.visibility for row in r.authorship(ROWS).values()}],
    "role": [lambda r: r.role()[:0]],
    "repositories": [lambda r: sorted(r.repositories())],
    "scope_of": [lambda r: r.scope_of(ROWS)],
    "rows": [lambda r: r.rows(ROWS)],
    "sound_rows": [lambda r: r.sound_rows(ROWS)],
    "harmless": [lambda r: r.harmless(r.rows(ROWS).values())],
    "texts": [lambda r: r.texts(ROWS)],
    "filtered": [lambda r: [r.filtered(ROWS, f) for f in narrowed(r)]],
    "located": [lambda r: (r.located(["note-00000005"]), r.located([r.rows([3])[3].uid, "x"]), r.located([]))],
    "found": [lambda r: [r.found(part) for part in (r.rows([3])[3].uid[:5], "00000005", "note-00000005", "zz")]],
    "has_receipt": [lambda r: [r.has_receipt(note) for note in ("note-00000012", "note-later", "note-none")]],
    "last_of": [lambda r: [r.last_of(row.origin) for row in r.rows(ROWS).values()]],
    "newest_of": [lambda r: [r.newest_of(row.origin, 2) for row in r.rows(ROWS).values()]],
    "recent": [lambda r: [r.recent(day(n), limit) for n in range(0, 12, 3) for limit in (1, 3, 30)]],
    "mentions": [lambda r: [r.mentions(name, n) for name in ("Kestrel", "Sara Löwe", "数据库", "") for n in (1, 9)]],
    "evidence": [lambda r: r.evidence(ROWS)],
    "unconfirmed": [lambda r: r.unconfirmed(ROWS)],
    "contradicts": [lambda r: [r.contradicts(ROWS, at) for at in (None, *map(day, range(16)))]],
    "shown_in": [lambda r: r.shown_in("s1", ROWS)],
    "rejected": [lambda r: r.rejected(["Never test on fridays", "Prefer tabs."])],
    "others": [lambda r: bool(r.others()) * 0],
    "heirs": [lambda r: [r.heirs(ROWS, at) for at in (None, *map(day, range(16)))]],
    "newer": [lambda r: [r.newer(uids(r), at) for at in (None, *map(day, range(16)))]],
    "later": [lambda r: (r.later(ROWS), r.later([2]), r.later([]))],
    "edges": [lambda r: (r.edges(ROWS), r.edges([6]), r.edges([]))],
    "ends": [lambda r: r.ends(ROWS)],
    "ended": [lambda r: [r.ended(ROWS, at) for at in (None, NOW, day(9), 2 * 10**13)]],
    "changed_files": [lambda r: r.changed_files(ROWS, NOW)],
    "window": [lambda r: [r.window(day(n), day(n) + DAY)[0] for n in range(-1, 14)]],
    "held": [lambda r: [r.held(f, day(2), day(11), n) for f in narrowed(r) for n in (2, 50)]],
    "began": [lambda r: r.began(ROWS)],
    "standing": [
        lambda r: [
            r.standing(("user", "agent"), n, r.scopes(h), wishes=w) for w in (True, False) for n in (1, 9) for h in HERE
        ]
    ],
    "before": [lambda r: r.before([*ROWS])],
    "protected": [lambda r: [r.protected(("user", "agent"), 9, r.scopes(here)) for here in HERE]],
}


def test_nothing_that_is_asked_is_left_out():
    """The table above has every question that the reader in plain Python answers."""
    methods = {name for name in vars(Reads) if not name.startswith("_")}
    assert methods & vars(SqliteReader).keys() == {*ASKED, "matching"}


@pytest.fixture(scope="module")
def told(dsn):
    """Give the same story in a store of each kind."""
    with made(dsn) as make:
        stores = {kind: make(kind) for kind in KINDS}
        for store in stores.values():
            told_to(store)
        yield stores


def close(one, other):
    """Whether two answers are the same, figures within 10⁻⁹."""
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= 1e-9
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(close(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(close, one, other))
    return one == other


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
@pytest.mark.parametrize("method", sorted(ASKED))
def test_every_question_has_one_answer(told, kind, method):
    """What a store answers, on another machine than wrote it too, is what the oracle says."""
    for question in ASKED[method]:
        assert close(question(told[kind].reader), question(told["memory"].reader))


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_recall_is_the_same_at_every_moment(told, kind):
    """Plain, narrowed, with history and as of every day of the story: the same hits, in the same order."""
    asked = (
        "where is the web shop deployed",
        "Kestrel's port",
        "who owns the release script",
        "staging key",
        "数据库端口",
    )
    moments = (
        (), *({"as_of": day(n)} for n in range(-1, 19)), *({"as_of": day(n), "history": True} for n in range(-1, 19)),
        {"history": True}, {"every": True}, {"since": day(4)}, {"until": day(6), "history": True}, {"source": "agent"},
    )  # fmt: skip
    seen = 0
    for query in asked:
        for how in moments:
            for here in HERE:
                which = Filters(**dict(how), here=here)
                one, other = (told[name].recall(query, which) for name in ("memory", kind))
                assert alike(one, other)
                seen += len(one)
    assert seen > 500
    assert BEGAN
