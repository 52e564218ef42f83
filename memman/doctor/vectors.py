"""Whether every memory has its vectors, and no change of the embedder was left unfinished.

Looks at: each store's vectors, by embedder
Finds: warns of memories without one, and of an unfinished change of the embedder
"""

from collections.abc import Iterable, Iterator
from typing import Any

from memman.doctor.finding import Context, Finding, shell, skipped, sound, warn
from memman.govern.embedding import status
from memman.model.plural import counted
from memman.store.sqlite.catalogue import Catalogue


def check(context: Context) -> Iterator[Finding]:
    """Count what the embedders in force have not embedded, store by store."""
    if not context.stores or context.settings.faults:
        yield skipped("the env file has errors" if context.stores else "no store yet")
        return

    def look(name: str, _: Catalogue) -> Iterable[Finding]:
        return _missing(status(context.data, name))

    yield from sound(context.in_stores(look), f"complete in {counted(len(context.stores), 'store')}")


def _missing(record: dict[str, Any]) -> Iterator[Finding]:
    store = record["store"]
    if record["swap"]:
        target, left = record["swap"]["target"], record["swap"]["left"]
        says = f"store {store!r}: the switch to {target} is unfinished, {counted(left, 'memory')} to go"
        yield warn(says, "memman embed swap --resume")
    for made in {row["fingerprint"]: row for row in (record["builtin"], record["configured"])}.values():
        if made["missing"] > 0:
            yield warn(
                f"store {store!r}: {counted(made['missing'], 'memory')} without a vector of {made['fingerprint']}",
                shell("memman", "--store", store, "embed", "reembed"),
            )
