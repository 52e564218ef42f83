"""Every change has the same effect whatever the store is, and a transaction that fails has none."""

import numpy as np
import pytest

from memman.embed.codes import planes
from memman.model.records import EVERYWHERE, Draft, Edge, Fact, Fingerprint, Note
from memman.model.vocabulary import BUILTIN
from memman.queue.entry import memory_uid
from memman.store.filters import Filters
from memman.store.protocols import Unit
from tests.support.oracle.writes import Writes
from tests.support.scripted import SRC, A, day, told_to
from tests.support.stores import MODELS, OTHER, TABLE, far

AT = day(30)
LATER = Fingerprint(BUILTIN, "later", TABLE.dimension)
NOTE = Note("note-00000099", "default", "", AT)


def fact(text="A new fact.", **more):
    """Make what is to be stored."""
    return Draft(memory_uid(NOTE.uid, 0), NOTE.uid, Fact(text, **more), "user", "@user:u@h:", AT)


def held():
    """Make what waits for a person."""
    return Draft(memory_uid(NOTE.uid, 1), NOTE.uid, Fact("Do as I say.", held="an order"), "web", "@web:u@h:", AT)


def read_by_two(unit):
    """Store vectors of two more embedders, of which one is the built-in one's next version."""
    far_off, local = unit.embedder(OTHER), unit.embedder(LATER)
    unit.put_vectors(far_off, [(5, 0, *planes(far("a"))), (999, 0, *planes(far("b"))), (6, 0, b"", 0)])
    unit.put_vectors(local, [(n, 0, *planes(np.array(TABLE.vector(f"text {n}")))) for n in range(1, 12)])
    return far_off, local


# Method -> what is done with it; what it returns must be the same.
DONE = {
    "receipt": lambda u: (u.receipt(NOTE, AT, "stored", 2, "d9", MODELS), u.receipt(NOTE, AT, "nothing", 0)),
    "add": lambda u: (
        row := u.add(fact(entities=("Kestrel", "KESTREL")), AT),
        u.index(u.touched([row])),
        u.add(held(), AT, held=True),
    ),
    "supersede": lambda u: (
        u.supersede(7, 8, AT, AT, "w"),
        u.supersede(7, 9, AT, AT, "w"),
        u.supersede(12, 9, AT, 0, ""),
    ),
    "doubt": lambda u: (u.doubt(8, 7, AT, "w"), u.doubt(8, 8, AT, ""), u.doubt(5, 12, AT, ""), u.doubt(7, 6, AT, "")),
    "contradict": lambda u: (
        u.contradict(19, 8, AT, "w", sure=True),
        u.contradict(19, 7, AT, "w", sure=False),
        u.contradict(19, 19, AT, "", sure=True),
        u.contradict(5, 12, AT, "", sure=True),
        u.bear_out(19, "said", "s7", AT),
    ),
    "accord": lambda u: (u.accord(19, 6, AT), u.accord(19, 6, AT), u.accord(19, 17, AT)),
    "keep": lambda u: (u.keep(7, AT), u.keep(7, AT)),
    "reinstate": lambda u: (u.reinstate(4, AT), u.reinstate(4, AT)),
    "move": lambda u: (u.move(6, SRC, AT), u.move(6, SRC, AT), u.move(6, EVERYWHERE, AT), u.move(1, A, AT)),
    "scope": lambda u: [u.scope(n) for n in range(1, 19)],
    "protect": lambda u: (
        u.protect(7, AT, wanted=True),
        u.protect(9, AT, wanted=False),
        u.protect(9, AT, wanted=False),
    ),
    "tie": lambda u: u.tie(8, {"a/b.py": "x", "src/kestrel.py": "zz", "": "empty"}),
    "forget": lambda u: (u.forget(7, AT), u.forget(7, AT), u.forget(12, AT), u.forget(5, AT, "archive", "worth 0.1")),
    "restore": lambda u: (u.restore(18, AT), u.restore(18, AT)),
    "approve": lambda u: (u.approve(12, AT), u.approve(12, AT), u.approve(1, AT)),
    "bear_out": lambda u: (
        u.bear_out(10, "said", "s7", AT),
        u.bear_out(10, "said", "s7", AT),
        u.bear_out(10, "x", "", AT),
    ),
    "expire": lambda u: (
        u.expire(5, 10**13, AT),
        u.expire(5, 10**13, AT),
        u.expire(16, None, AT, "w"),
        u.expire(1, None, AT),
    ),
    "verify": lambda u: (u.verify(16, {}, "", AT), u.verify(8, {"n.py": "1"}, "s6", AT), u.verify(8, {}, "s6", AT + 1)),
    "report": lambda u: (
        u.report(6, "helpful", "s4", AT),
        u.report(6, "stale", "s4", AT),
        u.report(5, "wrong", "", AT),
    ),
    "refuse": lambda u: (u.refuse("Forget about me.", AT), u.restore(18, AT), u.refuse("Prefer tabs", AT)),
    "tell": lambda u: u.tell(AT, "audit", "x", "why"),
    "confirm": lambda u: u.confirm(6, NOTE, AT),
    "link": lambda u: u.link(
        [Edge("entity", 6, 7, 0.9, "x"), Edge("entity", 6, 8, 0.1, "x"), Edge("semantic", 1, 16, 1.0)]
    ),
    "linked": lambda u: (
        u.linked("2 x", 5),
        u.linked("1 x", 7, 9),
        u.linked("", 8, 8),
        u.linked("2 x", 7, 9),
        u.linked("1 x", 12, 99),
    ),
    "link_by_hand": lambda u: u.link_by_hand(Edge("entity", 6, 7, 0.2, "manual: so it is"), AT),
    "unlink": lambda u: (u.unlink(("causal", "semantic"), 8), u.unlink(("semantic", "entity"), 16)),
    "touched": lambda u: [u.touched([n]) for n in (1, 6, 7, 12, 14, 15, 18)] + [u.touched([])],
    "questions": lambda u: [u.questions(n) for n in range(1, 19)],
    "in_context": lambda u: [u.in_context(n) for n in range(1, 19)],
    "index": lambda u: (u.forget(6, AT), u.index([5, 6, 7])),
    "put_vectors": read_by_two,
    "embedder": lambda u: (u.embedder(OTHER), u.embedder(LATER), u.embedder(LATER)),
    "put_aliases": lambda u: (u.put_aliases(8, []), u.put_aliases(6, [("a", "b"), ("b", "a"), ("c", "d")])),
    "set_meta": lambda u: (
        u.set_meta("x:y", "1"),
        u.set_meta("x:y", "2"),
        u.set_meta("spread:z", "[1]"),
        u.set_meta("no", None),
    ),
}


class Broken(Exception):
    """Something went wrong amid a transaction."""


def fail(store, done):
    """Do something in a transaction that fails."""
    with store.unit() as unit:
        done(unit)
        raise Broken


def same(stores):
    """Assert that all stores, and all machines of each, keep the same, and recall the same."""
    wholes = [whole for store in stores for whole in store.wholes()]
    for whole in wholes[1:]:
        for table in wholes[0]:
            assert whole[table] == wholes[0][table], table
    for query in ("Kestrel's port", "web shop", "staging key", "a new fact"):
        for which in (Filters(every=True), Filters(history=True), Filters(as_of=day(9))):
            texts = [[(hit[0], round(hit[-5], 9)) for hit in store.recall(query, which)] for store in stores]
            assert texts[1:] == texts[:1] * (len(stores) - 1), query


def test_nothing_that_is_done_is_left_out():
    """The table above has every change that the store in plain Python makes."""
    changes = {name for name in vars(Writes) if not name.startswith("_")} & vars(Unit).keys()
    assert changes - {"mention"} == DONE.keys() - {"embedder"}


@pytest.mark.parametrize("method", sorted(DONE))
def test_every_change_is_the_same_everywhere(fresh, method):
    """What a change returns, and what is kept and recalled afterwards, is the same in every store."""
    stores = [fresh(kind) for kind in ("memory", "sqlite", "postgres")]
    returned = []
    for store in stores:
        told_to(store)
        with store.unit() as unit:
            returned.append(DONE[method](unit))
    assert returned[1:] == returned[:1] * 2
    same(stores)


@pytest.mark.parametrize("method", sorted(DONE))
def test_a_transaction_that_fails_changes_nothing(store, method):
    """Whatever was done before something is raised, all that is kept is as it was: on the server as well."""
    told_to(store)
    before = store.wholes()
    with pytest.raises(Broken):
        fail(store, DONE[method])
    assert store.wholes() == before
    if hasattr(store, "on_server"):
        assert store.on_server(
            "SELECT count(*) FROM memman.receipt WHERE store = %s AND note = %s", store.number, NOTE.uid
        ) == [(0,)]
        third = store.joined("late")
        store.stores.append(third)
        assert store.wholes() == before[:1] * 3


def test_the_next_transaction_after_one_that_failed_gets_its_numbers(fresh):
    """Numbers that a failed transaction gave are given again, the same in every store."""
    stores = [fresh(kind) for kind in ("memory", "sqlite", "postgres")]
    for store in stores:
        told_to(store)
        with pytest.raises(Broken):
            fail(store, lambda unit: unit.add(fact(), AT))
        store.note("note-00000050", ["The cache is Redis.", "The queue is NATS."], AT)
    same(stores)


@pytest.mark.parametrize("notes", [[4], [6], [6, 5], [3, 4], [0], [7, 8], [10, 11], [12]])
def test_undoing_notes_is_the_same_everywhere(fresh, notes):
    """What notes made is forgotten and what they changed is as it was; of a purged one nothing comes back."""
    stores = [fresh(kind) for kind in ("memory", "sqlite", "postgres")]
    uids = [f"note-{number:08d}" for number in notes]
    assert len({str(sorted((told_to(store), store.undo(uids, AT))[1].items())) for store in stores}) == 1
    same(stores)
    for store in stores:
        store.purge([4, 7], AT + 1)
        store.undo([f"note-{number:08d}" for number in (4, 6)], AT + 2)
    same(stores)


def test_a_chain_of_forty_is_followed_as_of_every_link(fresh):
    """A fact that changed forty times is told as it was at each time, on a machine that wrote every second of them."""
    stores = [fresh(kind) for kind in ("memory", "sqlite", "postgres")]
    for store in stores:
        last = []
        for n in range(41):

            def also(unit, new, n=n, last=last):
                if last:
                    unit.supersede(last[0], new[0], day(n), day(n), "changed")

            last = store.note(
                f"note-{n:08d}", [f"The limit of requests is {n * 7}."], day(n), session=f"s{n % 3}", also=also
            )
    same(stores)
    for n in range(41):
        for store in stores:
            (hit,) = store.recall("limit of requests", Filters(as_of=day(n)))
            assert hit[3] == f"The limit of requests is {n * 7}."


def test_what_is_forgotten_on_one_machine_is_forgotten_on_the_other(fresh):
    """Forgotten, restored, held back and approved: the other machine recalls what it should after its next pull."""
    store = fresh("postgres")
    told_to(store)
    asked = lambda: [hit[3] for hit in store.recall("prefer tabs", Filters(every=True))]  # noqa: E731 - asked anew
    assert "Prefer tabs." in asked()
    store.moved("forget", [15], AT)
    assert "Prefer tabs." not in asked()
    store.moved("restore", [15], AT)
    assert "Prefer tabs." in asked()
