"""The signals of a recall, each of which a bench may switch off to see what it pays. Safe on the hot path."""

NAMES = ("words", "context", "time", "meaning", "sessions", "maxsim", "gate", "collapse")


class Signals:
    """All of NAMES, but for those that are given as False."""

    __slots__ = NAMES
    words: bool
    context: bool
    time: bool
    meaning: bool
    sessions: bool
    maxsim: bool
    gate: bool
    collapse: bool

    def __init__(self, **given: bool) -> None:
        for name in NAMES:
            setattr(self, name, given.get(name, True))


ALL = Signals()
