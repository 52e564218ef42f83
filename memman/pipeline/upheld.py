"""What people stand behind stays as it is until somebody bears out what an agent says against it."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from memman.model.records import Verdict
from memman.model.trust import AGENT, unverified
from memman.model.vocabulary import PROTECTED
from memman.pipeline.evidence import Piece
from memman.pipeline.plan import Plan
from memman.store.sqlite.reader import SqliteReader
from memman.store.sqlite.unit import SqliteUnit

# A verdict, the memory it is about, and whether the fact gives way to that, being the older.
Found = tuple[Verdict, int, bool]
# A verdict, the older memory and the newer one.
Pair = tuple[Verdict, int, int]
# Verdicts that close a memory.
ENDING = ("UPDATE", "DELETE")


class Standing:
    """Who stands behind what while a note is stored, with what the note itself bears out."""

    def __init__(
        self,
        reader: SqliteReader,
        plan: Plan,
        known: Mapping[int, int],
        pieces: Sequence[Piece],
        whose: Callable[[int], str],
    ) -> None:
        self._reader, self._whose = reader, whose
        self._borne_out = {memory for memory, _ in pieces}
        self._alone = {n for n in range(len(plan.facts)) if self._unsupported(n, known.get(n))}

    def parted(self, found: Iterable[Found]) -> tuple[list[Found], list[Found]]:
        """Part what may be done now from what waits until somebody bears out the newer of the two."""
        now: list[Found] = []
        later: list[Found] = []
        for one in found:
            (later if self._waits(*one) else now).append(one)
        return now, later

    def _waits(self, verdict: Verdict, memory: int, gives_way: bool) -> bool:
        """Whether nobody but an agent says the newer, and people stand behind the older."""
        n = verdict.fact
        if gives_way:
            return self._only_agents(memory) and n not in self._alone and not unverified(self._whose(n))
        return n in self._alone and upheld(self._reader, memory) and memory not in self._borne_out

    def _unsupported(self, n: int, known: int | None) -> bool:
        """Whether nobody but an agent says a fact, which may be `known` as a memory already."""
        if known is None:
            return self._whose(n) == AGENT and -1 - n not in self._borne_out
        return self._only_agents(known)

    def _only_agents(self, memory: int) -> bool:
        return memory not in self._borne_out and bool(self._reader.unconfirmed([memory]))


def upheld(reader: SqliteReader, memory: int) -> bool:
    """Whether the user, two sessions or a person's review stand behind a memory."""
    if reader.unconfirmed([memory]):
        return False
    row = reader.rows([memory])[memory]
    return not unverified(row.source) or bool(reader.meta(PROTECTED + row.uid))


def contradict(unit: SqliteUnit, pairs: Iterable[Pair], now: int) -> None:
    """Have what only an agent says tell what it is against; what it would end in part, it only maybe is."""
    for verdict, old, new in pairs:
        unit.contradict(new, old, now, verdict.reason, sure=verdict.action in ENDING and not verdict.rest)
