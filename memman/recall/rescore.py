"""Anchors looked at again: what their session says, how near each word of the question comes to some word of theirs.

Safe on the hot path. The latter is the late interaction of ColBERT (Khattab and
Zaharia 2020) over tokens without context, each cut down to the signs of its 384
elements: what agrees in all but h of them has a cosine of about cos(pi h / 384)
(Charikar 2002).
"""

from memman.embed.static import pieces, words
from memman.model.terms import STOPWORDS
from memman.recall.hit import Read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from memman.embed.static import StaticTable
    from memman.recall.hit import Anchor
    from memman.store import MemoryRow
    from memman.store.sqlite.reader import SqliteReader

# What an anchor gains by the best of its session, and by maxsim, beside a first score of 1 at most.
SESSION = 0.3
MAXSIM = 0.25
# Anchors whose words are read: a question that is answered at all is nearly always answered among these.
READ = 20
# Words read of a text, and the characters they are looked for in: all of a memory, the beginning of a document.
WORDS_READ, CHARACTERS = 64, 1_000
# The sign of an element is the highest of its four bits.
_SIGNS = 0x88
# The powers of -1 go round the unit circle: a table of cosines, from full agreement to none.
_COSINES = [((-1) ** (n / 384)).real for n in range(193)]


def rescored(reader: "SqliteReader", table: "StaticTable", query: str, anchors: "list[Anchor]") -> list[Read]:
    """Read the sound anchors, best first, and sort them by what they say; scores stay about as high."""
    wanted = {anchor.id for anchor in anchors} | {anchor.stands_for for anchor in anchors if anchor.stands_for}
    rows = reader.rows(wanted)
    anchors = [anchor for anchor in anchors if anchor.id in rows]
    session = _by_session(anchors, rows)
    first = sorted(anchors, key=lambda anchor: (-anchor.score - session.get(anchor.id, 0.0), anchor.id))
    maxsim = _by_words(MaxSim(table, query), first[:READ], rows)
    reads = [_read(anchor, rows, session.get(anchor.id, 0.0), maxsim.get(anchor.id, 0.0)) for anchor in first]
    return sorted(reads, key=lambda read: (-read.score, read.id))


def _read(anchor: "Anchor", rows: "dict[int, MemoryRow]", session: float, maxsim: float) -> Read:
    score = (anchor.score + session + MAXSIM * maxsim) / (1 + SESSION + MAXSIM)
    return Read(anchor, rows[anchor.id], score, rows.get(anchor.stands_for or 0), session, maxsim)


def _by_session(anchors: "list[Anchor]", rows: "dict[int, MemoryRow]") -> dict[int, float]:
    """Return what each anchor gains by the best of its session; an origin that is none gives nothing to others."""
    best: dict[str, float] = {}
    gained = {}
    for anchor in anchors:
        origin = rows[anchor.id].origin
        best.setdefault(origin, anchor.score)
        gained[anchor.id] = SESSION * (anchor.score if origin.startswith("@") else best[origin])
    return gained


def _by_words(asked: "MaxSim", anchors: "list[Anchor]", rows: "dict[int, MemoryRow]") -> dict[int, float]:
    """Return the maxsim of each anchor's words to the question's, or of those it took the place of."""
    texts = {
        anchor.id: [rows[memory].text for memory in (anchor.id, anchor.stands_for) if memory in rows]
        for anchor in anchors
    }
    asked.prepare(text for both in texts.values() for text in both)
    return {memory: max(map(asked.of, both)) for memory, both in texts.items()}


class MaxSim:
    """The tokens of a question, each with its weight: how rarely the table's corpus held it."""

    __slots__ = ("_known", "_mask", "_table", "tokens", "weight")

    def __init__(self, table: "StaticTable", text: str) -> None:
        self._table = table
        self._mask = int.from_bytes(bytes((_SIGNS,)) * (table.dimension // 2), "big")
        self._known: dict[str, dict[int, int]] = {}
        self.tokens = self._tokens(text)
        self.weight = sum(self.tokens.values())

    def prepare(self, texts: "Iterable[str]") -> None:
        """Read the tokens of texts that are going to be compared, in one go."""
        said = {word.lower() for text in texts for word in _beginning(text)}
        self._table.fetch(said - STOPWORDS)

    def of(self, text: str) -> float:
        """Return the weighted mean, over the question's tokens, of the cosine to the nearest of `text`'s: 0 to 1."""
        others = self._tokens(text)
        if not others or not self.weight:
            return 0.0
        near = 0.0
        for token, weight in self.tokens.items():
            least = 0 if token in others else min([(token ^ other).bit_count() for other in others])
            if least < len(_COSINES):
                near += weight * _COSINES[least]
        return near / self.weight

    def _tokens(self, text: str) -> dict[int, int]:
        """Return the tokens of a text's first words, stop words left out, with their weights."""
        found: dict[int, int] = {}
        for word in _beginning(text):
            known = self._known.get(word)
            if known is None:
                rows = () if word.lower() in STOPWORDS else pieces(word, self._table.find)
                known = self._known[word] = {int.from_bytes(blob, "big") & self._mask: scale for scale, blob in rows}
            found |= known
        return found


def _beginning(text: str) -> list[str]:
    return words(text[:CHARACTERS])[:WORDS_READ]
