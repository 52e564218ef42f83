"""Words of a text and match expressions, as the text index of SQLite has them."""

from collections.abc import Mapping, Sequence

import apsw

# What a place in each column counts, and the parameters of BM25.
WEIGHTS = {"text": 1.0, "terms": 0.5, "context": 0.35}
K1, B = 1.2, 0.75

_tokenizer = apsw.Connection("").fts5_tokenizer("porter", ["unicode61", "remove_diacritics", "2"])


def tokens(text: str) -> list[str]:
    """Cut a text into words as the index of SQLite does."""
    said = text.encode("utf-8", "surrogatepass")
    return list(_tokenizer(said, apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False))


class Match:
    """A match expression: phrases, each within some columns, of which any or all must be there."""

    def __init__(self, said: str) -> None:
        self.columns = tuple(WEIGHTS)
        if said.startswith("{"):
            head, _, said = said.partition("} : ")
            self.columns = tuple(head[1:].split())
            said = said.removeprefix("(").removesuffix(")") if said.startswith("(") else said
        self.every = " AND " in said
        parts = said.split(" AND " if self.every else " OR ")
        self.phrases = [(tokens(part.rstrip("*").strip('"').replace('""', '"')), part.endswith("*")) for part in parts]

    def frequency(self, row: Mapping[str, Sequence[str]], n: int) -> float:
        """Return how often a row holds phrase `n`, each place by the weight of its column."""
        words, prefix = self.phrases[n]
        found = 0.0
        for column in self.columns:
            said = row[column]
            for at in range(len(said) - len(words) + 1 if words else 0):
                *whole, last = said[at : at + len(words)]
                if whole == words[:-1] and (last.startswith(words[-1]) if prefix else last == words[-1]):
                    found += WEIGHTS[column]
        return found

    def finds(self, row: Mapping[str, Sequence[str]]) -> bool:
        """Whether a row matches."""
        there = (bool(self.frequency(row, n)) for n in range(len(self.phrases)))
        return all(there) if self.every else any(there)
