"""What in the stores waits for a person: memories held back, and secrets."""

from collections.abc import Iterator

from memman.doctor.finding import Context, Finding, shell, sound, warn
from memman.model.plural import counted
from memman.store.sqlite import screened
from memman.store.sqlite.catalogue import Catalogue


def review(context: Context) -> Iterator[Finding]:
    """Count the memories that are held back.

    Warns of each store that has some
    """
    yield from sound(context.in_stores(_held), "no memories held back")


def secrets(context: Context) -> Iterator[Finding]:
    """Ask each store what drains found in it that an older version, with fewer rules, did not know for a secret.

    Warns of what today's rules call a secret ([secrets](secrets.md))
    """
    yield from sound(context.in_stores(_leaky), "no store is known to contain a secret")


def _held(name: str, catalogue: Catalogue) -> Iterator[Finding]:
    if held := catalogue.tally("status").get("review", 0):
        yield warn(
            f"{counted(held, 'memory')} in store {name!r} held back for review",
            f"memman review list --store {name}",
            "they look like instructions and came from files, tools or the web: approve or reject them",
        )


def _leaky(name: str, catalogue: Catalogue) -> Iterator[Finding]:
    if screened.leaking(catalogue.reader.db):
        yield warn(
            f"store {name!r} contains a secret that current rules detect; recall does not show it",
            shell("memman", "scan", "--fix", "--store", name),
            "list them with `memman scan`; then revoke or change the secret, because it may have been read",
        )
