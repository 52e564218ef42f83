"""The embedded embedder inside the agent's turn: a token table read by look-ups, without numpy.

A text's vector is the sum of its tokens' vectors, which `tools/train_embedder` distilled from a sentence
transformer and rounded to 4 bits. Element i of a token's vector is `scale * (2 * nibble - 15)`, where the
nibbles of elements 0..n/2-1 are the low halves of the blob's bytes and those of n/2..n-1 the high halves.
All sums are exact integers, so every reader of the table agrees to the last bit before normalising.
"""

from memman.sqlite import by_address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import TypeVar

    Row = TypeVar("Row")

TABLE = __file__.removesuffix("static.py") + "static.db"
# Characters read of one text. Keeps a sum within its lane: a character gives two tokens at most, and
# 65,536 tokens * 15 * MAX_SCALE < 2**32.
TEXT_LIMIT = 32_768
# A token's scale has 12 bits: 0.2 % of rounding for the lightest words, nothing for the others.
MAX_SCALE = 4095
# The longest word that is spelled out, as in BERT; longer ones are data, not language.
WORD_LIMIT = 100
# Words kept expanded, 1.7 kB each.
CACHE_LIMIT = 2048
# Tokens kept as they are stored, 0.3 kB each, also those that are not.
ROWS_LIMIT = 8192

# A vector that is compared has PLANES bits an element, its levels spread over this many times the root mean square
# either way: cosines to the exact vector average .992, and no figure of retrieval moves by more than 0.3.
PLANES = 4
LEVELS = 2**PLANES
CLIP = 2.7

_LANE = 4
_LOW = bytes(byte & 15 for byte in range(256))
_HIGH = bytes(byte >> 4 for byte in range(256))
# What each byte of levels is in a plane, written as a digit.
_BITS = [bytes([48 + (level >> plane & 1) for level in range(256)]) for plane in range(PLANES)]
_ASCII = frozenset(map(chr, range(128)))
_LETTERS_AND_DIGITS = "".join([chr(code) if chr(code).isalnum() else " " for code in range(128)])
# Scripts written without spaces: CJK ideographs with their extensions and compatibility forms, as in BERT.
IDEOGRAPHS = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2FA1F))
# Scripts of which the table has the letters and no words: Greek to Thai, Georgian, kana, and Hangul, which is taken
# apart. Any two texts would be alike.
_SPELLED = ((0x0370, 0x0E7F), (0x10A0, 0x10FF), (0x3040, 0x30FF), (0x1100, 0x11FF), (0xAC00, 0xD7A3))


class StaticTable:
    """The packaged token table, read-only, for one thread. Raises apsw.Error when it is missing or no table."""

    def __init__(self, path: str = TABLE) -> None:
        # Immutable: no lock is taken for the hundreds of look-ups, and a read-only folder will do.
        self._db = by_address(path, "immutable=1")
        self._cursor = self._db.cursor()
        meta = dict(self._cursor.execute("SELECT key, value FROM meta"))
        self.model: str = meta["model"]
        self.version: str = meta["version"]
        self.dimension = int(meta["dimension"])
        self.judge = meta.get("judge", "")
        self._words: dict[str, tuple[int, int]] = {}
        self._rows: dict[str, tuple[int, bytes] | None] = {}

    def vector(self, text: str) -> list[float]:
        """Embed `text`: `dimension` floats of unit length, all zero when no token of it is known."""
        lanes = total = 0
        for word in words(text):
            known = self._words.get(word) or self._expand(word)
            lanes += known[0]
            total += known[1]
        raw = lanes.to_bytes(self.dimension * _LANE, "little")
        sums = [2 * lane - 15 * total for lane in memoryview(raw).cast("I")]
        norm = sum([value * value for value in sums]) ** 0.5 or 1.0
        return [value / norm for value in sums]

    def fetch(self, tokens: "Iterable[str]") -> None:
        """Read those of `tokens` that are in the table in one go, a fifth of the cost of as many look-ups."""
        # Of letters and digits alone: nothing that JSON would have to escape.
        wanted = [token for token in tokens if token not in self._rows and token.isalnum() and token.isascii()]
        sql = "SELECT tok, scale, v FROM token WHERE tok IN (SELECT value FROM json_each(?))"
        listed = '","'.join(wanted)
        self._rows |= dict.fromkeys(wanted)
        self._rows |= {tok: (scale, v) for tok, scale, v in self._cursor.execute(sql, (f'["{listed}"]',))}

    def find(self, token: str) -> "tuple[int, bytes] | None":
        """Scale and blob of one token; None when it is not in the table."""
        if token not in self._rows:
            if len(self._rows) >= ROWS_LIMIT:
                self._rows.clear()
            sql = "SELECT scale, v FROM token WHERE tok = ?"
            self._rows[token] = self._cursor.execute(sql, (token,)).fetchone()
        return self._rows[token]

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _expand(self, word: str) -> tuple[int, int]:
        """Sum the tokens of `word`: `scale * nibble` in 32-bit lanes, an element a lane; and their scales."""
        lanes = total = 0
        for scale, blob in pieces(word, self.find):
            spread = bytearray(self.dimension * _LANE)
            half = len(spread) // 2
            spread[:half:_LANE] = blob.translate(_LOW)
            spread[half::_LANE] = blob.translate(_HIGH)
            lanes += int.from_bytes(spread, "little") * scale
            total += scale
        if len(self._words) >= CACHE_LIMIT:
            self._words.clear()
        self._words[word] = lanes, total
        return lanes, total


def spelled(text: str) -> bool:
    """Whether a third of the letters of `text` are of scripts that the table has no words of, and none an ideograph."""
    if text.isascii() or any(map(ideograph, text)):
        return False
    letters = [char for char in text if char.isalnum()]
    foreign = [char for char in letters if any(low <= ord(char) <= high for low, high in _SPELLED)]
    return 3 * len(foreign) >= max(len(letters), 1)


def ideograph(char: str) -> bool:
    """Whether `char` is a word by itself in Chinese or Japanese."""
    return any(low <= ord(char) <= high for low, high in IDEOGRAPHS)


def words(text: str) -> list[str]:
    """Split the first TEXT_LIMIT characters into runs of letters and digits, case kept, accents not."""
    text = text[:TEXT_LIMIT]
    if not text.isascii():
        text = _plain(text)[:TEXT_LIMIT]
    return text.translate(_LETTERS_AND_DIGITS).split()


def pieces(word: str, find: "Callable[[str], Row | None]") -> "list[Row]":
    """Find the tokens of `word`: the whole word, or its humps (`getUserById`), or its longest pieces.

    A capitalised word with humps gives both humps and pieces: it may be a class (`UserService`), or a name
    that others write in lower case (`GitHub`).
    """
    humps = _humps(word)
    if len(humps) == 1:
        return spell(word.lower(), find)
    whole = find(word.lower())
    if whole is not None:
        return [whole]
    rows = [row for hump in humps for row in spell(hump.lower(), find)]
    if word[0].isupper() and word.isalpha():
        rows += spell(word.lower(), find)
    return rows


def sign_code(vector: "Sequence[float]") -> bytes:
    """Pack one bit an element, 1 above zero, most significant first: 48 bytes for 384 elements."""
    bits = "".join(["1" if value > 0 else "0" for value in vector])
    size = (len(bits) + 7) // 8
    return int(bits.ljust(size * 8, "0"), 2).to_bytes(size, "big")


def query_planes(vector: "Sequence[float]") -> tuple[int, ...]:
    """Round to PLANES bits an element, two's complement; return the planes, least significant first."""
    size = (sum([value * value for value in vector]) / (len(vector) or 1)) ** 0.5
    scale = LEVELS / 2 / (CLIP * size) if size else 0.0
    most = LEVELS // 2 - 1
    levels = bytes([max(-most, min(most, round(value * scale))) & LEVELS - 1 for value in vector])
    levels += bytes(-len(levels) % 8)
    return tuple([int(levels.translate(plane), 2) for plane in _BITS])


def spell(word: str, find: "Callable[[str], Row | None]") -> "list[Row]":
    """Greedy WordPiece; as in BERT a word that cannot be spelled to its end has no tokens."""
    rows: list[Row] = []
    start, mark = 0, ""
    end = len(word) if len(word) <= WORD_LIMIT else 0
    while start < end:
        row = find(mark + word[start:end])
        if row is None:
            end -= 1
            continue
        rows.append(row)
        start, end, mark = end, len(word), "##"
    return rows if start == len(word) else []


def _humps(word: str) -> list[str]:
    """Split where case or kind changes: parseURL2 is parse, URL, 2; HTTPServer is HTTP, Server."""
    if len(word) > WORD_LIMIT or (word.isalpha() and (word.islower() or word.isupper() or word.istitle())):
        return [word]
    cuts = [0]
    for i in range(1, len(word)):
        before, here = word[i - 1], word[i]
        starts_word = here.isupper() and (before.islower() or (word[i + 1 : i + 3].islower() and i + 2 < len(word)))
        if starts_word or before.isdigit() != here.isdigit():
            cuts.append(i)
    return [word[low:high] for low, high in zip(cuts, [*cuts[1:], len(word)], strict=True)]


def _plain(text: str) -> str:
    """Strip accents, isolate ideographs, blank what is neither letter, digit nor mark, and scripts known by letter."""
    from unicodedata import category, normalize  # 0.2 ms, only beyond ASCII

    text = normalize("NFD", text)
    table = {}
    for char in set(text) - _ASCII:
        kind = category(char)
        if kind == "Mn":
            table[ord(char)] = ""
        elif kind[0] not in "LNM" or any(low <= ord(char) <= high for low, high in _SPELLED):
            table[ord(char)] = " "
        elif ideograph(char):
            table[ord(char)] = f" {char} "
    return text.translate(table)
