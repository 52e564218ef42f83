"""memman: persistent memory for AI coding agents."""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.api import *  # noqa: F403 - what programs import, loaded when they do

__version__ = "0.2.0"

# Read when numpy is first imported, by whichever module: a drain's matrices are small, and beside an agent at work,
# threads that wait for each other make the judge six times slower.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

_API = """AmbiguousId BadConfig Busy CannotWrite ForPeople MemmanError Memory ProviderError Recalled SchedulerStopped
StoreError UnknownId UnknownStore UsageError""".split()


def __getattr__(name: str) -> object:
    """Load what programs import, when they do."""
    if name not in _API:
        raise AttributeError(f"module 'memman' has no attribute {name!r}")
    import memman.api

    return getattr(memman.api, name)
