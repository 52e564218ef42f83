"""Whether a store holds what an older version, with fewer rules, did not know for a secret."""

from collections.abc import Iterator

from memman.doctor.finding import Context, Finding, shell, sound, warn
from memman.model.vocabulary import LEAKY, SCREENED
from memman.store.sqlite.catalogue import Catalogue


def check(context: Context) -> Iterator[Finding]:
    """Ask each store what the drain's look through it came to."""
    yield from sound(context.in_stores(_leaky), "no store is known to hold a secret")


def _leaky(name: str, catalogue: Catalogue) -> Iterator[Finding]:
    if catalogue.reader.meta(SCREENED).endswith(LEAKY):
        yield warn(
            f"store {name!r} holds what today's rules call a secret; it is not shown",
            shell("memman", "scan", "--fix", "--store", name),
            "`memman scan` lists them; change what was stored, for whoever saw it may use it",
        )
