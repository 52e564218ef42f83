"""What must hold of a data folder after a fault, counted: both databases sound, every note there and whole."""

from collections import Counter

from tests.support.box import rows

DRAIN = ("scheduler", "drain")


def queue_of(data):
    """Return where the queue is."""
    return data / "queue.db"


def store_of(data):
    """Return where the default store is."""
    return data / "data/default/memman.db"


def asked(path, sql):
    """Ask a database; one that is not there, or has no tables yet, holds nothing."""
    return rows(path, sql) if path.exists() and rows(path, "PRAGMA user_version") != [0] else []


def texts(data):
    """Return what the queue holds, by uid."""
    return dict(asked(queue_of(data), "SELECT uid, text FROM note"))


def waiting(data):
    """Return the notes that wait or are parked."""
    return asked(queue_of(data), "SELECT uid FROM note WHERE state <> 'done'")


def committed(data):
    """Return the notes that the store has a receipt for."""
    return asked(store_of(data), "SELECT note FROM receipt")


class Tally:
    """What a sweep looked at, and each harm it found as (kind, place, what); none is the promise.

    `short` counts the runs that the fault ended before their time.
    """

    def __init__(self):
        self.points, self.acknowledged, self.short, self.harm = 0, 0, 0, []

    def look(self, data, acknowledged, whole=None):
        """Look at a folder after a fault. `whole` says how many memories each note comes to: one, by default.

        Of notes that nobody acknowledged, as turns are, it may be any number.
        """
        for path in filter(lambda path: path.exists(), (queue_of(data), store_of(data))):
            if rows(path, "PRAGMA integrity_check") != ["ok"]:
                self.harm.append(("corrupt", data.name, path.name))
        done = committed(data)
        self._add("lost", data, set(acknowledged) - {*waiting(data), *done})
        stored = Counter(asked(store_of(data), "SELECT note FROM memory"))
        told = {*done} & set(acknowledged)
        self._add("partly written", data, {uid for uid in told if stored[uid] != (whole[uid] if whole else 1)})
        self._add("partly written", data, stored.keys() - {*done})

    def finish(self, forks, data, acknowledged, whole=None):
        """Have a drain that nothing disturbs end what is left, and look again."""
        done = forks.run(DRAIN, data)
        assert (done.code, done.err) == (0, ""), (data.name, done)
        self.look(data, acknowledged, whole)
        self._add("lost", data, waiting(data))
        self.points += 1
        self.acknowledged += len(acknowledged)

    def _add(self, kind, data, uids):
        self.harm += [(kind, data.name, uid) for uid in uids]

    def told(self, *kinds):
        """Assert that there was no harm; say how much there was of each kind."""
        assert not self.harm, self.harm
        found = Counter(kind for kind, *_ in self.harm)
        return ", ".join(f"{found[kind]} {kind}" for kind in kinds)
