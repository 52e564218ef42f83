"""Whether sqlite-vec, which scans vectors, loads."""

import sys
from collections.abc import Iterator

import apsw

from memman.doctor.finding import Context, Finding, ok, shell, warn
from memman.store.sqlite.reader import extension_path, load_vectors


def check(context: Context) -> Iterator[Finding]:  # noqa: ARG001 - every check has one shape
    """Load the extension that scans vectors."""
    db = apsw.Connection(":memory:")
    loads = load_vectors(db)
    version = db.execute("SELECT vec_version()").get if loads else ""
    db.close()
    if loads:
        yield ok(f"sqlite-vec {version}")
    else:
        mend = shell(sys.executable, "-m", "pip", "install", "--upgrade", "sqlite-vec")
        yield warn(f"{extension_path()} does not load: recall scans vectors more slowly", mend)
