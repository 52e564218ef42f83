"""Every error memman raises on purpose.

A class carries its exit code, whether trying again can help, and as its docstring the sentence that the documentation
prints for it.
"""


class MemmanError(Exception):
    """Any other error."""

    exit_code = 1
    again = False


class UsageError(MemmanError):
    """Bad arguments or input: empty, binary or overlong text, an invalid name."""

    exit_code = 2


class UnknownId(UsageError):
    """No memory or note has this id."""

    exit_code = 3


class AmbiguousId(UsageError):
    """Several memories or notes have ids that start like this: give more characters."""

    exit_code = 3


class StoreError(MemmanError):
    """The store could not be used."""

    exit_code = 10


class UnknownStore(StoreError):
    """There is no store of this name."""

    exit_code = 11


class DamagedFile(StoreError):
    """The database is damaged. It was left untouched."""

    exit_code = 12


class UnsafePlace(StoreError):
    """The data folder is on a network or shared file system, where SQLite is unsafe. Nothing was written."""

    exit_code = 13


class NewerSchema(StoreError):
    """The file was written by a newer version of memman: upgrade. Nothing was changed."""

    exit_code = 14


class OldLibrary(StoreError):
    """The SQLite library is older than 3.51.3 and can corrupt a WAL database."""

    exit_code = 15


class OtherProgram(StoreError):
    """The database belongs to another program. Nothing was changed."""

    exit_code = 16


class NoServer(StoreError):
    """The server of a shared store is out of reach. Nothing was changed; notes stay in the queue."""

    exit_code = 17
    again = True


class ServerRefused(StoreError):
    """The server of a shared store refused: password, rights, TLS, or its schema."""

    exit_code = 18


class NotSetUp(StoreError):
    """The server of a shared store cannot be reached from here: its address or driver is missing or wrong."""

    exit_code = 78


class ProviderError(MemmanError):
    """A model or embedding provider failed."""

    exit_code = 20
    # What the call cost all the same, a memman.model.records.Usage; None where that is not known.
    usage: object = None


class ProviderUnavailable(ProviderError):
    """The provider did not answer, or answered 408, 429 or 5xx. Notes stay in the queue; nothing is lost."""

    exit_code = 21
    again = True
    # What it answered; 0 where nothing came.
    status = 0


class BadReply(ProviderError):
    """The provider's answer was invalid."""

    exit_code = 22
    again = True


class Refused(ProviderError):
    """A model refused this text, and the built-in one is used for it; or an embedder did, and the note is parked."""

    exit_code = 23


class ProviderMisconfigured(ProviderError):
    """The provider rejected the key, the model or the endpoint: correct the configuration."""

    exit_code = 24


class BudgetSpent(ProviderError):
    """The daily budget is spent; provider calls pause until tomorrow, and notes stay in the queue."""

    exit_code = 25
    again = True


class SchedulerStopped(MemmanError):
    """The scheduler is stopped, so memory is read-only. `memman scheduler start` starts it again."""

    exit_code = 69


class NoScheduler(MemmanError):
    """No scheduler here can do this: there is no interval, or the service manager does not answer or refuses."""

    exit_code = 69


class ReadOnly(MemmanError):
    """`--readonly` was given with a verb that would write. Nothing was written."""

    exit_code = 73


class CannotWrite(MemmanError):
    """The disk is full or read-only, or permission is denied. Nothing that was acknowledged is lost."""

    exit_code = 74


class Busy(MemmanError):
    """Another process holds the lock: try again."""

    exit_code = 75
    again = True


class ForPeople(MemmanError):
    """This needs a person's confirmation at a terminal: an agent asked, there was no terminal, or the answer was no."""

    exit_code = 77


class BadConfig(MemmanError):
    """A configuration key or value is invalid."""

    exit_code = 78
