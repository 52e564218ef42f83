"""A SQLite library that can corrupt a WAL database is refused before it touches a file."""

import sys

import pytest

from tests.support.terminal import attended

# Stands in for an apsw that was built with an older SQLite.
OLD = """
import sys
import apsw
apsw.sqlite_lib_version = lambda: "3.51.2"
from memman._entry import main
sys.exit(main())
"""


@pytest.mark.promise("R20")
def test_the_wrong_library_is_refused(box, kept):
    """Under SQLite 3.51.2 each verb that opens a database ends with 15 and one line; no file is made or changed."""
    box.remember("Redis caches the sessions.")
    box.drain()
    before = {path: path.read_bytes() for path in (box.queue_path, box.store_path())}
    verbs = (
        ("remember", "One more."),
        ("recall", "sessions"),
        ("scheduler", "drain"),
        ("list",),
        ("repair",),
    )
    refused = 0
    for verb in verbs:
        done = attended([sys.executable, "-c", OLD, *verb], box.environ, box.data.parent)
        assert (done.returncode, done.stdout) == (15, ""), (verb, done)
        assert done.stderr.count("\n") == 1
        assert "3.51.3" in done.stderr
        refused += 1
    assert {path: path.read_bytes() for path in before} == before
    kept(f"SQLite 3.51.2: {refused} of {len(verbs)} verbs end with 15, 0 files changed")
