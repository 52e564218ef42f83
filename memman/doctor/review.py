"""Whether memories wait for a person to approve or reject them.

Looks at: memories held back until a person approves or rejects them ([poisoning](poisoning.md))
Finds: warns
"""

from collections.abc import Iterator

from memman.doctor.finding import Context, Finding, sound, warn
from memman.store.sqlite.catalogue import Catalogue


def check(context: Context) -> Iterator[Finding]:
    """Count the memories that are held back."""
    yield from sound(context.in_stores(_held), "no memories held back")


def _held(name: str, catalogue: Catalogue) -> Iterator[Finding]:
    held = catalogue.tally("status").get("review", 0)
    if held:
        yield warn(
            f"{held} in store {name!r} held back for review",
            f"memman review list --store {name}",
            "they look like instructions and came from files, tools or the web: approve or reject them",
        )
