"""The data folder of memman 0.15, another program of the same name and place: it is recognised and left alone."""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

    from memman.model.errors import OlderProgram

# Tables of its stores and of its queue.
_TABLES = ("insights", "oplog"), ("queue", "worker_runs")
_NAMES = "SELECT name FROM sqlite_master WHERE type = 'table'"


def refuse_older(data: str) -> None:
    """Raise OlderProgram for its data folder; costs one system call where this memman has written before."""
    if not os.path.exists(data + "/owner") and (path := older(data)):
        raise refusal(path)


def older(data: str) -> str:
    """Return the path of a database of memman 0.15 in a data folder, '' for none; nothing is made beside it."""
    try:
        stores = [f"{data}/data/{name}/memman.db" for name in sorted(os.listdir(data + "/data"))]
    except OSError:
        stores = []
    return next((path for path in (data + "/queue.db", *stores) if os.path.isfile(path) and holds(path)), "")


def made(db: "apsw.Connection") -> bool:
    """Whether a database has the tables of memman 0.15."""
    names = {name for (name,) in db.execute(_NAMES)}
    return any(names.issuperset(tables) for tables in _TABLES)


def refusal(path: str) -> "OlderProgram":
    """Say whose a database is, and what to do."""
    from memman.model.errors import OlderProgram

    return OlderProgram(
        f"{path} belongs to memman 0.15, another program of this name; nothing was changed:"
        " set MEMMAN_DATA_DIR to another folder, or move that data folder away"
    )


def holds(path: str) -> bool:
    """Whether a file is a database of memman 0.15; it is read without a log."""
    import apsw

    quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    try:
        db = apsw.Connection(f"file:{quoted}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    except apsw.Error:
        return False
    try:
        return made(db)
    except apsw.Error:
        return False
    finally:
        db.close()
