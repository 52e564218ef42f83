"""Whether a store holds what an older version, with fewer rules, did not know for a secret.

Looks at: what drains found in stores of an older version
Finds: warns of what today's rules call a secret ([secrets](secrets.md))
"""

from collections.abc import Iterator

from memman.doctor.finding import Context, Finding, shell, sound, warn
from memman.store.sqlite import screened
from memman.store.sqlite.catalogue import Catalogue


def check(context: Context) -> Iterator[Finding]:
    """Ask each store what the drain's look through it came to."""
    yield from sound(context.in_stores(_leaky), "no store is known to contain a secret")


def _leaky(name: str, catalogue: Catalogue) -> Iterator[Finding]:
    if screened.leaking(catalogue.reader.db):
        yield warn(
            f"store {name!r} contains a secret that current rules detect; recall does not show it",
            shell("memman", "scan", "--fix", "--store", name),
            "list them with `memman scan`; then revoke or change the secret, because it may have been read",
        )
