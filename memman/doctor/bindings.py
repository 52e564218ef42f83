"""Whether the stores that repositories are bound to, and the active one, are there.

Looks at: stores bound to repositories, the active store
Finds: warns where the store is not there; fails where the active one has no possible name
"""

import os
from collections.abc import Iterator

from memman.config import stores
from memman.doctor.finding import Context, Finding, fail, shell, sound, warn
from memman.model.plural import counted


def check(context: Context) -> Iterator[Finding]:
    """Look for bindings to stores that are gone."""
    bound = stores.bindings(context.data)
    yield from sound(_gone(context.data, bound), f"{counted(len(bound), 'repository')} bound")


def _gone(data: str, bound: dict[str, str]) -> Iterator[Finding]:
    for place, store in sorted(bound.items()):
        if not stores.exists(data, store) and os.path.exists(place):
            yield warn(
                f"{place} is bound to store {store!r}, which does not exist",
                shell("memman", "store", "create", store),
                "or run `memman store bind --unset` in that repository",
            )
    active = stores.active(data)
    if not stores.valid_name(active):
        says = f"the active store is {active[:60]!a}, which is not a valid name: nothing can be remembered"
        yield fail(says, shell("rm", f"{data}/active"))
    elif active != stores.DEFAULT and not stores.exists(data, active):
        yield warn(f"the active store {active!r} does not exist", shell("memman", "store", "create", active))
