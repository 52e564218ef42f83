"""Whether the SQLite that apsw brings is new enough.

Looks at: the SQLite library in apsw
Finds: older than 3.51.3
"""

import sys
from collections.abc import Iterator

import apsw

from memman.doctor.finding import Context, Finding, fail, ok, shell
from memman.sqlite import OLDEST_LIBRARY


def check(context: Context) -> Iterator[Finding]:  # noqa: ARG001 - every check has one shape
    """Look at the version of SQLite."""
    version = apsw.sqlite_lib_version()
    if tuple(map(int, version.split(".")[:3])) < OLDEST_LIBRARY:
        oldest = ".".join(map(str, OLDEST_LIBRARY))
        yield fail(
            f"SQLite {version} can corrupt a WAL database",
            shell(sys.executable, "-m", "pip", "install", f"apsw>={oldest}"),
        )
    else:
        yield ok(f"SQLite {version}, apsw {apsw.apsw_version()}")
