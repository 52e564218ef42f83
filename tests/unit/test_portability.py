"""Memories in files: what is exported comes back as it was, and once."""

import json
import shutil

from tests.support.portable import answers, filled


def exported(box, name="out.jsonl", *args):
    """Export the store to a file beside the data folder; return its path."""
    path = box.data.parent / name
    done = box.memman("export", str(path), *args)
    assert done.returncode == 0, done.stderr
    return path


def imported(box, path, *args):
    """Import a file as somebody who agrees does; return the words of the preview."""
    done = box.memman("import", str(path), *args)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def dumped(path):
    """Return the lines of an export but what tells when it was made."""
    return path.read_text().splitlines()[1:]


def test_export_wipe_import_gives_the_same_answers(box):
    """200 questions get the same hits, in the same order, with the same scores, and a second export says the same."""
    filled(box, 100)
    before, path = answers(box), exported(box)
    shutil.rmtree(box.data)
    count = json.loads(path.read_text().partition("\n")[0])["memories"]
    assert f"imported {count} memories" in imported(box, path)
    assert answers(box) == before
    assert sum(map(len, before)) > 400
    assert dumped(exported(box, "again.jsonl")) == dumped(path)
    assert "imported 0 memories" in imported(box, path)
