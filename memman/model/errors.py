"""Every error memman raises on purpose.

A class carries its exit code, whether trying again can help, and (as its
docstring) the sentence the documentation prints for it.

    MemmanError                      1
    ├── UsageError                   2
    │   ├── UnknownId                3
    │   └── AmbiguousId              3
    ├── StoreError                  10
    │   ├── UnknownStore            11
    │   ├── DamagedFile             12
    │   ├── UnsafePlace             13
    │   ├── NewerSchema             14
    │   └── OldLibrary              15
    ├── ProviderError               20
    │   ├── ProviderUnavailable     21   again
    │   ├── BadReply                22   again
    │   ├── Refused                 23
    │   ├── ProviderMisconfigured   24
    │   └── BudgetSpent             25   again
    ├── SchedulerStopped            69
    ├── NoScheduler                 69
    ├── ReadOnly                    73
    ├── CannotWrite                 74
    ├── Busy                        75   again
    ├── ForPeople                   77
    └── BadConfig                   78
"""


class MemmanError(Exception):
    """Something went wrong that fits no more exact class."""

    exit_code = 1
    again = False


class UsageError(MemmanError):
    """The command was called with something it cannot take: empty, binary or over-long text, a bad name."""

    exit_code = 2


class UnknownId(UsageError):
    """No memory or note has this id."""

    exit_code = 3


class AmbiguousId(UsageError):
    """Several memories or notes begin with this id: give more of it."""

    exit_code = 3


class StoreError(MemmanError):
    """The store could not be used."""

    exit_code = 10


class UnknownStore(StoreError):
    """There is no store of this name."""

    exit_code = 11


class DamagedFile(StoreError):
    """The file is not a sound database. It was left untouched."""

    exit_code = 12


class UnsafePlace(StoreError):
    """The data folder lies where SQLite files get damaged, or another machine uses it. Nothing was written."""

    exit_code = 13


class NewerSchema(StoreError):
    """The file was written by a newer memman. Upgrade; nothing was changed."""

    exit_code = 14


class OldLibrary(StoreError):
    """The SQLite library is older than 3.51.3 and can corrupt a WAL database."""

    exit_code = 15


class ProviderError(MemmanError):
    """A model or embedding provider failed."""

    exit_code = 20


class ProviderUnavailable(ProviderError):
    """The provider did not answer, or answered 408, 429 or 5xx. Notes wait; nothing is lost."""

    exit_code = 21
    again = True


class BadReply(ProviderError):
    """The provider answered something that is not what was asked for."""

    exit_code = 22
    again = True


class Refused(ProviderError):
    """The model declined to answer about this text; the built-in rules take over for it."""

    exit_code = 23


class ProviderMisconfigured(ProviderError):
    """The provider rejects the key, the model or the address: the configuration must change."""

    exit_code = 24


class BudgetSpent(ProviderError):
    """The daily budget is spent; provider calls pause until tomorrow and notes wait."""

    exit_code = 25
    again = True


class SchedulerStopped(MemmanError):
    """The scheduler is stopped: memory can be read, nothing can be changed. `memman scheduler start` starts it."""

    exit_code = 69


class NoScheduler(MemmanError):
    """Nobody starts drains here, or not so: there is no interval, or the service manager does not answer or refuses."""

    exit_code = 69


class ReadOnly(MemmanError):
    """`--readonly` was given with a verb that would write. Nothing was written."""

    exit_code = 73


class CannotWrite(MemmanError):
    """The disk is full, read-only or not permitted. Nothing acknowledged was lost."""

    exit_code = 74


class Busy(MemmanError):
    """Another drain, or another writer, holds the lock."""

    exit_code = 75
    again = True


class ForPeople(MemmanError):
    """A person decides this at a terminal: an agent asked, there was no terminal, or the answer was another."""

    exit_code = 77


class BadConfig(MemmanError):
    """A configuration key or value is not acceptable."""

    exit_code = 78
