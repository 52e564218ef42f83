"""How near each word of a question comes to some word of a text. Safe on the hot path.

The late interaction of ColBERT (Khattab and Zaharia 2020) over tokens without
context, each cut down to the signs of its 384 elements: what agrees in all but
h of them has a cosine of about cos(pi h / 384) (Charikar 2002).
"""

from memman.embed.static import pieces, words
from memman.model.terms import STOPWORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from memman.embed.static import StaticTable

# Words read of a text, and the characters they are looked for in: all of a memory, the beginning of a document.
WORDS_READ, CHARACTERS = 64, 1_000
# The sign of an element is the highest of its four bits.
_SIGNS = 0x88
# The powers of -1 go round the unit circle: a table of cosines, from full agreement to none.
_COSINES = [((-1) ** (n / 384)).real for n in range(193)]


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
