"""`remember --lines`, and the advice that comes with what was remembered."""

import json

TEXT = "\n".join(f"Host {n} stands in rack {n}." for n in range(30))


def test_each_line_is_a_note_of_its_own(box):
    """The ids come in the order of the lines, blank lines make nothing, and hints count for each."""
    done = box.memman("remember", "-", "--lines", "--category", "fact", input="One.\n\n  Two.  \r\nThree.\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == box.queue("SELECT uid FROM note ORDER BY id")
    assert box.queue("SELECT text, category FROM note ORDER BY id") == [(t, "fact") for t in ("One.", "Two.", "Three.")]


def test_all_lines_are_queued_or_none(box):
    """What cannot be taken leaves nothing behind, and several notes cannot replace one memory."""
    assert box.memman("remember", "-", "--lines", input="One.\n" + "x" * 70_000).returncode == 2
    uid = box.remember("The heron nests.")
    box.drain()
    done = box.memman("replace", uid, "-", "--lines", input="One.\nTwo.")
    assert done.returncode == 2
    assert "--lines" in done.stderr
    assert box.queue("SELECT count(*) FROM note WHERE state = 'pending'") == [0]


def test_as_json_the_lines_are_a_list(box):
    """Each acknowledgement is that of a note; without --lines there is one, and no list."""
    many = json.loads(box.memman("remember", "--lines", "--json", "One.\nSee line 42.").stdout)
    assert [one["text"] for one in many] == ["One.", "See line 42."]
    one = json.loads(box.memman("remember", "--json", "One.").stdout)
    assert (one["text"], one["new"]) == ("One.", True)


def test_a_long_list_in_one_note_is_told_of_lines(box):
    """Many piped lines that became one note bring one line of advice; a few, or an argument, do not."""
    done = box.memman("remember", "-", input=TEXT)
    assert (len(done.stdout.split()), done.stderr.count("\n")) == (1, 1)
    assert "30 lines as one note; with --lines" in done.stderr
    assert box.memman("remember", "-", input="\n".join(TEXT.split("\n")[:9])).stderr == ""
    assert box.memman("remember", "-", "--lines", input=TEXT).stderr == ""
    assert box.memman("remember", TEXT).stderr == ""


def test_the_size_of_a_note_bounds_each_line_and_not_the_file(box):
    """A file far larger than one note may be is taken line by line."""
    done = box.memman("remember", "-", "--lines", input="".join(f"Item number {n} is kept.\n" for n in range(3_000)))
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 3_000)
    assert box.queue("SELECT count(*) FROM note") == [3_000]
