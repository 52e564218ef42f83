"""Output in another encoding than UTF-8: what it can say is said, the rest by its codes, and nothing fails."""

import json

import pytest

TEXT = "Das Café heißt 記憶 😀, nicht „Erinnerung“."
ENCODINGS = {"latin-1": "Das Café heißt \\u8a18\\u61b6 \\ud83d\\ude00", "ascii": "Das Caf\\u00e9 hei\\u00dft \\u8a18"}


@pytest.fixture(params=ENCODINGS)
def narrow(box, request):
    """Return the box with a memory and a note that the encoding cannot say, and the encoding."""
    box.memman("remember", TEXT)
    box.drain()
    box.memman("remember", "Das Café schließt um 5 … 記憶.")
    box.environ["PYTHONIOENCODING"] = request.param
    return box, request.param


def said(box, encoding, *args):
    """Run memman; return what it prints, of which no character is lost."""
    done = box.memman(*args, text=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode(encoding)


VERBS = (("recall", "Café"), ("list",), ("show", "--query", "Café"))


@pytest.mark.parametrize("args", VERBS, ids=" ".join)
def test_what_the_encoding_lacks_is_shown_by_its_codes(narrow, args):
    """Lines hold the characters that the encoding has, and codes for the others."""
    box, encoding = narrow
    assert ENCODINGS[encoding] in said(box, encoding, *args)


def test_json_says_the_same_in_any_encoding(narrow):
    """The codes are JSON's: who reads it has the text, beyond the first plane too."""
    box, encoding = narrow
    assert json.loads(said(box, encoding, "recall", "--json", "heißt"))["hits"][0]["text"] == TEXT
    assert json.loads(said(box, encoding, "remember", "--json", TEXT + "!"))["text"] == TEXT + "!"


EVERY = (("status",), ("doctor",), ("--help",), ("remember", "Grüße … 記"), ("log", "list"), ("prime",), ("guide",))


@pytest.mark.parametrize("args", EVERY, ids=" ".join)
def test_no_verb_fails_for_an_encoding(narrow, args):
    """What is printed beside memories can be printed too."""
    box, _ = narrow
    done = box.memman(*args, text=False)
    assert done.returncode in (0, 1), done.stderr
    assert done.stdout
    assert b"internal error" not in done.stderr


@pytest.mark.parametrize("closed", [False, True], ids=["open", "closed"])
def test_an_error_is_told_in_any_encoding(narrow, closed):
    """An error that quotes what the encoding lacks is one line and its own exit code, whoever listens."""
    box, _ = narrow
    end = "2>&-" if closed else ""
    shell = ("sh", "-c", f'exec "$0" "$@" {end}')
    done = box.memman("recall", "--store", "記憶", "x", before=shell, text=False)
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == (not closed)


def test_half_a_character_of_utf_16_is_no_reason_to_refuse(box):
    """A lone surrogate becomes U+FFFD, both halves one character; other bytes that are no UTF-8 are refused."""
    for raw, code in ((b"x \xed\xa0\xbd y", 0), (b"z \xed\xa0\xbd\xed\xb8\x80", 0), (b"w \xed", 2), (b"v \xff", 2)):
        done = box.memman("remember", "-", input=raw, text=False)
        assert done.returncode == code, done.stderr
    assert box.queue("SELECT text FROM note ORDER BY id") == ["x \ufffd y", "z \U0001f600"]
