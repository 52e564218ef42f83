"""The tables of a store (schema.sql). Safe on the hot path."""

from memman.model.vocabulary import EDGE_KINDS
from memman.sqlite import upgrade
from memman.store import SCHEMA

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

VERSION = SCHEMA

# How edges are stored: kinds by number, weights in ten-thousandths, and no detail that the weight tells.
UNIT_WEIGHT = 10_000

# The sign codes of hidden memories wait here to be brought back: a cell that no scan enters.
HIDDEN_CELL = -1


def migrate(db: "apsw.Connection", path: str) -> None:
    """Bring a store to the newest schema. Raises NewerSchema."""
    upgrade(db, path, STEPS)
    if db.execute("SELECT count(*) FROM edge_kind").get < len(EDGE_KINDS):
        db.executemany("INSERT OR IGNORE INTO edge_kind VALUES (?, ?)", list(enumerate(EDGE_KINDS)))


def _make(db: "apsw.Connection") -> None:
    """Make the tables that are not there; what a store of the first schema knows becomes records."""
    with open(__file__.removesuffix("schema.py") + "schema.sql", encoding="utf-8") as file:
        statements = file.read()
    there = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
    if "memory" not in there:
        db.execute(statements)
        return
    from memman.store.sqlite.takeover import complete, take_over

    (complete if "record" in there else take_over)(db, statements)


STEPS = {VERSION: _make}
