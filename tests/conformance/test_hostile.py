"""Texts that a database may choke on arrive on the other machine as they were kept on the first."""

import pytest

from memman.model.errors import MemmanError
from memman.model.records import Edge, Fact, Scope
from memman.store.filters import Filters
from tests.support.scripted import day

TEXTS = {
    "controls": "The port is \x01\x7f\x85 8080.",
    "quotes": """The port's "8080"; DROP TABLE memory; -- \\' $$ {} %s :x ?""",
    "arrays": '{NULL,"a\\\\b"}',
    "huge": "port " * 400_000,
    "one long word": "port" + "x" * 2_000_000,
    "astral": "The port is 𝟠𝟘𝟠𝟘 🦅 𠀀",  # noqa: RUF001 - as people write
    "right to left": "\u202eThe port is 8080\u202c \ufeff\u200b",
    "accents": "Le port e\u0301tait 8080 É",
    "empty": "",
    "blanks": " \t\r\n\u2028 ",
}


@pytest.mark.parametrize("name", TEXTS)
def test_any_text_is_the_same_everywhere(fresh, name):
    """As text, summary, name, keyword, path, reason, session and scope."""
    text = TEXTS[name]
    stores = [fresh(kind) for kind in ("memory", "sqlite", "postgres")]
    for store in stores:
        (first,) = store.note("note-00000000", ["The port is 80."], day(0))

        def also(unit, rows, text=text, first=first):
            short = text[:300]
            unit.supersede(first, rows[0], day(1), day(1), short)
            unit.link([Edge("causal", first, rows[0], 0.5, short)])
            unit.tie(rows[0], {short: short})
            unit.bear_out(rows[0], "said", short, day(1))
            unit.put_aliases(rows[0], [(short, "port")])
            unit.set_meta(f"spread:{short}", short)

        fact = Fact(text, "fact", 3, (text[:300],), (text[:300],), text[:300])
        rows = store.note("note-00000001", (), day(1), facts=[fact], scope=Scope("r", text[:300]), also=also)
        with store.unit() as unit:
            unit.expire(rows[0], 10**13, day(2), text[:300])
    first, *others = [whole for store in stores for whole in store.wholes()]
    for other in others:
        for table, rows in first.items():
            assert other[table] == rows, table
    for how in (Filters(every=True), Filters(history=True), Filters(as_of=day(0))):
        one, *two = ([hit[:4] for hit in store.recall("port", how)] for store in stores)
        assert two == [one, one]


def test_what_a_server_cannot_keep_is_refused_in_one_line_and_changes_nothing(fresh):
    """Should a zero byte come in some day, neither machine nor the server has any of it, and the store goes on.

    No way in lets it through: `remember` and imports refuse it, hooks and a model's replies have a blank in its place.
    """
    store = fresh("postgres")
    store.note("note-00000000", ["The port is 80."], day(0))
    before = store.wholes()
    with pytest.raises((MemmanError, UnicodeEncodeError)) as refused:
        store.note("note-00000001", ["Kestrel is down.", "The port\0 is 80."], day(1))
    assert len(str(refused.value).splitlines()) == 1
    assert store.wholes() == before
    assert store.note("note-00000001", ["Kestrel is up."], day(1)) == [2]


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_style_is_not_stored_and_half_a_character_as_a_mark(fresh, kind):
    """The door of the store removes escape sequences, and puts U+FFFD for a lone surrogate; two halves are one."""
    store = fresh(kind)
    store.note("note-00000000", ["The \x1b[31mport\x1b[0m is \ud800.", "It is \ud83d\ude00."], day(0))
    for whole in store.wholes():
        said = {value for row in whole["memory"] for value in row if isinstance(value, str)}
        assert {"The port is \ufffd.", "It is \U0001f600."} <= said


def test_a_note_of_nothing_is_done_everywhere(fresh):
    """A note without a fact leaves its receipt, and an empty transaction nothing."""
    stores = [fresh(kind) for kind in ("memory", "sqlite", "postgres")]
    for store in stores:
        assert store.note("note-00000000", (), day(0)) == []
        with store.unit() as unit:
            unit.link([])
            unit.index([])
            unit.put_vectors(1, [])
    first, *others = [whole for store in stores for whole in store.wholes()]
    assert others == [first] * 3
    assert len(first["receipt"]) == 1
