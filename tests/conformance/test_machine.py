"""Whatever is done, all stores hold the same, tell the same history and recall the same, in the same order."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from memman.config.scope import Here
from memman.embed.codes import planes
from memman.model.records import EVERYWHERE, Edge, Fact, Fingerprint, Note, Provenance, Scope
from memman.model.reliability import FEEDBACK
from memman.model.vocabulary import BUILTIN, EDGE_KINDS, REPLACED
from memman.store.filters import Filters
from tests.support.stores import KINDS, TABLE, alike

STEPS = 50
# Memories from which on some are purged.
MANY = 8
# From November 2023 on, five days a step.
BEGAN, STEP = 1_700_000_000_000, 5 * 86_400_000
TOPICS = (
    "The port of the billing API",
    "The database of the web shop",
    "Kestrel's owner",
    "our deploy day",
    "数据库 端口",
)
VALUES = (
    "is 8080",
    "is 9090.",
    "is Postgres 16",
    "is Sara Löwe",
    "is on Friday",
    "runs nightly at Hetzner",
    "使用 MySQL",
)
SCOPES = (EVERYWHERE, Scope("example.org/a"), Scope("example.org/a", "src"), Scope("example.org/b"))
QUERIES = (
    "what is the port of the billing API",
    "database web shop Postgres",
    "who is Kestrel's owner",
    "what was decided in March 2024",
    "January 2024",
    "数据库",
    "Hetzner",
    "zebra crossing",
)
INTENTS = (None, None, "why", "when")


def filters(moment):
    """Return what recalls are narrowed to, `moment` among it."""
    return (
        Filters(),
        Filters(history=True),
        Filters(every=True),
        Filters(as_of=moment),
        Filters(as_of=moment, history=True, every=True),
        Filters(since=moment, every=True),
        Filters(until=moment, history=True),
        Filters(category="decision", every=True),
        Filters(source="agent", every=True),
        Filters(here=Here("example.org/a", "src/x"), every=True),
        Filters(here=Here("example.org/b"), inside=True, history=True, every=True),
    )


class Broken(Exception):
    """Something went wrong amid a transaction."""


row = st.integers(0, 60)
kinds = st.sampled_from(EDGE_KINDS)
sessions = st.sampled_from(("s1", "s2", ""))


class Stores(RuleBasedStateMachine):
    """All kinds of store at once; rules pick memories by a number that wraps round those there are."""

    fresh = None
    steps = 0

    def __init__(self):
        super().__init__()
        self.stores = [type(self).fresh(kind, machines=3) for kind in KINDS]
        self.oracle = self.stores[0]
        self.at, self.notes, self.asked = BEGAN, [], 0

    def each(self, done):
        """Do the same to every store; what comes of it is the same."""
        type(self).steps += 1
        found = [done(store) for store in self.stores]
        assert all(one == found[0] for one in found)
        self.at += STEP
        return found[0]

    def written(self, done):
        """Write to every store, in a transaction."""

        def within(store):
            with store.unit() as unit:
                return done(unit)

        return self.each(within)

    @property
    def rows(self):
        """The memories there are."""
        return sorted(self.oracle.reader.state.memories)

    def pick(self, number):
        """Return the memory of a number."""
        return self.rows[number % len(self.rows)]

    stored = precondition(lambda self: self.rows)

    @initialize(sizes=st.lists(st.integers(1, 3), min_size=3, max_size=6), shift=row)
    def begin(self, sizes, shift):
        """Begin with some notes, each of which retires a fact of the one before."""
        for n, size in enumerate(sizes):
            said = [(TOPICS[(shift + i) % len(TOPICS)], VALUES[(n + i + shift) % len(VALUES)]) for i in range(size)]
            self.note(said, "s1" if n % 2 else "", "user", SCOPES[n % 4], 0, False, "fact", 1 + n % 5, "supersede", -1)

    # --- notes ---

    @rule(
        said=st.lists(st.tuples(st.sampled_from(TOPICS), st.sampled_from(VALUES)), min_size=0, max_size=3),
        session=sessions,
        source=st.sampled_from(("user", "user", "agent", "web")),
        scope=st.sampled_from(SCOPES),
        late=st.sampled_from((0, 0, 3)),
        held=st.sampled_from((False, False, False, True)),
        category=st.sampled_from(("fact", "decision")),
        importance=st.integers(1, 5),
        then=st.sampled_from(("", "", "supersede", "supersede", "doubt", "turn", "contradict", "contradict")),
        other=row,
    )
    def note(self, said, session, source, scope, late, held, category, importance, then, other):
        """Store a note of some facts that retires or doubts what was there, or is doubted by it."""
        uid = f"note-{len(self.notes):08d}"
        self.notes.append(uid)
        names = ("Kestrel", "Hetzner") if importance > 3 else ()
        held_back = "reads as an order" if held else ""
        facts = [
            Fact(f"{topic} {value}", category, importance, names, ("ops",), held=held_back, summary=value)
            for topic, value in said
        ]
        old = self.pick(other) if self.rows and then and not held else None

        def also(unit, rows):
            if old and rows and then == "supersede":
                unit.supersede(old, rows[0], self.at, self.at, "changed")
            elif old and rows and then == "contradict":
                unit.contradict(rows[0], old, self.at, "not so", sure=bool(other % 3))
            elif old and rows:
                unit.doubt(*((old, rows[0]) if then == "doubt" else (rows[0], old)), self.at, "it seems")
            if old and rows:
                unit.link([Edge("causal", old, rows[0], 0.5, "led to"), Edge("temporal", old, rows[0], 1.0)])
                unit.tie(rows[0], {"src/a.py": "aa", "b.md": f"b{other}"})
                unit.bear_out(old, "said", session, self.at)

        self.each(
            lambda store: store.note(
                uid, (), self.at, session=session, source=source, began=self.at - late * STEP, scope=scope, held=held,
                facts=facts, also=also,
            )
        )  # fmt: skip

    @precondition(lambda self: self.notes)
    @rule(number=row, memory=row)
    def again(self, number, memory):
        """Offer a note that is done once more, and then one that says what is known."""
        uid = self.notes[number % len(self.notes)]
        assert self.each(lambda store: store.note(uid, ("never stored",), self.at)) == []
        if self.rows:
            uid, known = f"note-{len(self.notes):08d}", self.pick(memory)
            self.notes.append(uid)
            said = Note(uid, "default", "", self.at, provenance=Provenance(session="s9"))

            def confirmed(unit):
                unit.receipt(said, self.at, "known", 0, "d2", "{}")
                unit.confirm(known, said, self.at)
                unit.expire(known, 4_102_444_800_000, self.at)
                unit.set_meta(REPLACED + "note-x", f"{known} {self.at}")

            self.written(confirmed)

    @stored
    @rule(number=row)
    def broken(self, number):
        """Fail amid a transaction: nothing is left of it."""
        old = self.pick(number)

        def fail(store):
            def also(unit, _):
                unit.protect(old, self.at, wanted=True)
                raise Broken

            with suppress(Broken):
                store.note("note-broken", ("The port of nothing is 1.",), self.at, also=also)

        self.each(fail)

    # --- what people do ---

    @stored
    @rule(old=row, new=row, doubt=st.booleans())
    def take_over(self, old, new, doubt):
        """Have one memory retire another, or make it doubtful."""
        old, new = self.pick(old), self.pick(new)
        if old < new or doubt:
            self.written(lambda unit: (unit.doubt if doubt else self.supersede(unit))(old, new, self.at, "as a test"))

    def supersede(self, unit):
        """Supersede as of now."""
        return lambda old, new, at, why: unit.supersede(old, new, at, at - STEP, why)

    @stored
    @rule(
        number=row,
        verb=st.sampled_from(("forget", "forget", "restore", "restore", "approve")),
        both=st.booleans(),
    )
    def moved(self, number, verb, both):
        """Forget, restore or approve memories."""
        rows = [self.pick(number), self.pick(number + 7)] if both else [self.pick(number)]
        self.each(lambda store: store.moved(verb, rows, self.at))

    @stored
    @rule(number=row, verb=st.sampled_from(("keep", "reinstate")))
    def settled(self, number, verb):
        """Settle a doubt, take a supersession back."""
        memory = self.pick(number)
        self.written(lambda unit: getattr(unit, verb)(memory, self.at))

    @stored
    @rule(number=row, wanted=st.booleans(), scope=st.sampled_from(SCOPES))
    def governed(self, number, wanted, scope):
        """Protect a memory, and move it."""
        memory = self.pick(number)
        self.written(lambda unit: (unit.protect(memory, self.at, wanted=wanted), unit.move(memory, scope, self.at)))

    @stored
    @rule(number=row, kind=st.sampled_from(FEEDBACK), session=sessions, ends=st.sampled_from((None, BEGAN, 4 * 10**12)))
    def reported(self, number, kind, session, ends):
        """Report a memory, and say how long it holds."""
        memory = self.pick(number)
        self.written(
            lambda unit: (unit.report(memory, kind, session, self.at), unit.expire(memory, ends, self.at, "they say"))
        )

    @stored
    @rule(number=row, session=sessions, blobs=st.sampled_from(({}, {"src/a.py": "cc"}, {"c.md": "dd"})))
    def verified(self, number, session, blobs):
        """Find a memory still true."""
        memory = self.pick(number)
        self.written(lambda unit: unit.verify(memory, blobs, session, self.at))

    @stored
    @rule(
        src=row, dst=row, kind=kinds, weight=st.sampled_from((0.1, 0.5, 1.0)), by_hand=st.booleans(), drop=st.booleans()
    )
    def linked(self, src, dst, kind, weight, by_hand, drop):
        """Link memories, by rule or by hand, and drop rules' links."""
        edge = Edge(kind, self.pick(src), self.pick(dst), weight, "manual: as I say" if by_hand else "shares a name")

        def link(unit):
            if by_hand:
                unit.link_by_hand(edge, self.at)
            else:
                unit.link([edge])
            if drop:
                unit.unlink(("semantic", "temporal"), edge.dst)

        self.written(link)

    @stored
    @rule(
        number=row, pairs=st.sampled_from(([], [("kestrel", "payments")], [("k8s", "kubernetes"), ("db", "database")]))
    )
    def named(self, number, pairs):
        """Have a memory say which names mean the same, and refuse a text."""
        memory = self.pick(number)
        self.written(lambda unit: (unit.put_aliases(memory, pairs), unit.refuse(f"{TOPICS[0]} {VALUES[0]}", self.at)))

    @precondition(lambda self: self.notes)
    @rule(first=row, second=row)
    def undone(self, first, second):
        """Take notes back."""
        notes = sorted({self.notes[number % len(self.notes)] for number in (first, second)})
        self.each(lambda store: store.undo(notes, self.at))

    @precondition(lambda self: len(self.rows) > MANY)
    @rule(number=row)
    def purged(self, number):
        """Delete a memory for good."""
        memory = self.pick(number)
        self.each(lambda store: store.purge([memory], self.at))

    @stored
    @rule(full=st.booleans())
    def embedded(self, full):
        """Have the next version of the built-in embedder read all memories, or all but the last."""
        rows = self.rows if full else self.rows[:-1]

        def embed(unit):
            number = unit.embedder(Fingerprint(BUILTIN, "later", TABLE.dimension))
            vectors = np.random.default_rng(len(rows)).normal(size=(len(rows), TABLE.dimension))
            unit.put_vectors(number, [(n, 0, *planes(vector)) for n, vector in zip(rows, vectors, strict=True)])
            return number

        self.written(embed)

    # --- what must hold ---

    @invariant()
    def equal(self):
        """Hold every store, on another machine than wrote last, to what the oracle keeps and recalls."""
        first, *others = [store.whole() for store in self.stores]
        for other in others:
            assert other == first
        for _ in range(3):
            self.asked += 1
            self.recalled(QUERIES[self.asked % len(QUERIES)], self.asked)

    def recalled(self, query, number):
        """Recall from each store."""
        which = filters(self.at - number % 11 * STEP)[number % 11]
        intent, limit = INTENTS[number % 4], (10, 3, 50)[number % 3]
        first, *others = [store.recall(query, which, limit, intent) for store in self.stores]
        for other in others:
            assert alike(first, other), f"{query}: {first} and not {other}"

    def teardown(self):
        """Ask everything at the end, compare all machines, and close."""
        first, *others = [whole for store in self.stores for whole in store.wholes()]
        assert others == [first] * len(others)
        for query in QUERIES:
            for number in range(11):
                self.recalled(query, number)
        for store in self.stores:
            store.close()


def machine(fresh, runs):
    """Run the machine; return how many steps it made."""
    Stores.fresh, Stores.steps = staticmethod(fresh), 0
    run_state_machine_as_test(
        Stores,
        settings=settings(
            max_examples=runs,
            stateful_step_count=STEPS,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate, Phase.shrink],
            print_blob=True,
        ),
    )
    return Stores.steps


@pytest.mark.promise("M1")
def test_all_stores_are_one(fresh, rounds, kept):
    """200 runs of 50 steps over the oracle, SQLite and a server: no difference, the order of recall included."""
    runs = rounds(4, 200)
    steps = machine(fresh, runs)
    kept(f"{runs} runs of {STEPS} steps ({steps} changes) over 3 stores: 0 differences, recall order included")
