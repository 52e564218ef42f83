"""Whatever is asked, of whatever is stored: an answer without control characters, and nothing changed."""

import contextlib
import io
import json
import os
import sys
import unicodedata

import click
import pytest

from memman.commands.root import invoke
from memman.hot import recall as hot_recall
from memman.hot import remember as hot_remember
from memman.hot.hook import asked
from memman.hot.recall import recall
from memman.model.errors import UnknownStore, UsageError
from memman.secrets import legible
from tests.security.hostile import SPECIAL, strings

PLAIN = "The heron is the mascot of the billing team."
# Categories of what a terminal acts on, does not show, or cannot write.
STEERING = {"Cc", "Cf", "Cs", "Zl", "Zp"}
FLAGS = "--limit --since --as-of --budget --min-confidence --intent --source --category --store".split()
KNOWN = {"queue.db", "doorbell", "data", "shown.log", "owner", "repositories"}


def argument(text):
    """Return a text as a command line can hold it: any bytes but zero."""
    return os.fsdecode(text.encode("utf-8", "surrogatepass").replace(b"\0", b""))


@pytest.fixture(name="stored")
def _stored(box, filled):
    """Give a store that holds hostile texts, and hostile notes that wait."""
    return filled(box, fill)


def fill(box):
    """Store hostile texts, and have hostile notes wait."""
    box.remember(PLAIN)
    for text in SPECIAL:
        clean = text.encode("utf-8", "replace").decode().replace("\0", " ")[:20_000].strip()
        if clean:
            box.remember(f"The heron said: {clean} to billing.", entities=clean[:50])
    box.drain()
    for text in SPECIAL[:12]:
        box.remember(f"The heron waits: {text.encode('utf-8', 'replace').decode()} for billing.")


def tables(box):
    """Count every table and give the bytes of the databases."""
    names = dict.fromkeys((box.store_path(),), ("memory", "edge", "receipt", "log")) | {box.queue_path: ("note",)}
    counts = {name: box.store(f"SELECT count(*) FROM {name}") for name in names[box.store_path()]}
    counts["note"] = box.queue("SELECT count(*) FROM note")
    return counts, {path: path.read_bytes() for path in names}


def said(capsys):
    """Return what was printed."""
    done = capsys.readouterr()
    return done.out, done.err


def steering(text):
    """Return the characters that a terminal would act on, or not show."""
    return sorted({hex(ord(c)) for c in set(text) - {"\n", "\t"} if unicodedata.category(c) in STEERING})


@pytest.mark.slow
@pytest.mark.promise("S4")
@pytest.mark.promise("S11")
def test_hostile_queries_are_answered_and_change_nothing(stored, capsys, monkeypatch, rounds, kept):
    """No query fails, writes a row, or brings a control, bidi or zero-width character out, as text or as JSON."""
    n, before, found, refused = rounds(150, 10_000), tables(stored), 0, 0
    shapes = ({}, {"json": True, "history": True}, {"history": True, "budget": "300"})
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    for number, text in enumerate(strings(n, 7)):
        query = text if number % 3 else f"heron billing {text}"
        values = shapes[number % len(shapes)]
        try:
            assert recall([query], {"limit": "3", **values}) == 0
        except UsageError:
            refused += 1
            assert query == "-" or not legible(query).replace("\0", " ").strip()
        out, err = said(capsys)
        assert steering(out + err) == [], ascii(query[:80])
        found += bool(out)
        if "json" in values and out:
            json.loads(out)
    assert found > n / 4
    assert tables(stored) == before
    kept(f"{n} hostile strings: 0 exceptions, 0 rows written, 0 control characters out ({refused} were empty)")


def test_what_every_verb_shows_of_hostile_texts_is_harmless(stored):
    """Lists, JSON and the queue show no character that steers a terminal."""
    uid = stored.store("SELECT uid FROM memory WHERE text LIKE 'The heron said:%'")[0]
    for args in (
        ("list", "--limit", "1000"),
        ("list", "--limit", "1000", "--json"),
        ("show", uid, "--json"),
        ("list", "--by-day", "--limit", "500"),
        ("list", "--by-day", "--limit", "500", "--json"),
        ("graph", "related", uid),
        ("scheduler", "queue", "list"),
        ("scheduler", "queue", "list", "--json"),
        ("log", "list", "--limit", "1000", "--json"),
        ("prime",),
        ("status", "--json"),
    ):
        done = stored.memman(*args)
        assert done.returncode == 0, args
        assert steering(done.stdout + done.stderr) == [], args


@pytest.mark.parametrize("verb", ["recall", "remember"])
def test_hostile_arguments_never_end_in_a_traceback(box, verb, capsys, monkeypatch, rounds):
    """Options and values made of hostile strings are taken, or refused with an error of ours or click's."""
    main = {"recall": hot_recall.main, "remember": hot_remember.main}[verb]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    for number, text in enumerate(strings(rounds(100, 2_000), 11)):
        flag, value = FLAGS[number % len(FLAGS)], argument(text)
        args = [flag, value, "heron"] if number % 2 else [f"{flag}={value}", value]
        with contextlib.suppress(UsageError, UnknownStore, click.exceptions.Exit, click.UsageError):
            if main(args, None) is None:
                invoke([verb, *args])
        assert steering("".join(said(capsys))) == []
        asked(args)
    assert {path.name.partition("-")[0] for path in box.data.glob("*")} <= KNOWN


@pytest.mark.parametrize("verb", [("show",), ("forget",), ("scheduler", "queue", "show"), ("graph", "related")])
def test_an_error_repeats_no_character_that_steers(box, verb):
    """What was typed wrongly is shown on one line, without what a terminal would act on."""
    box.remember("The heron is grey.")
    done = box.memman(*verb, "\x1b[31m\u202e\nred\x9b31m")
    assert done.returncode
    assert done.stderr.count("\n") == 1
    assert steering(done.stdout + done.stderr) == []
