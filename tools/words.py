"""The end of memman/secrets/__init__.py: what the search before the rules looks for, derived from them; the version."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import memman.secrets
from memman.secrets import SCREEN
from memman.secrets.rules import FRAGMENTS, PLACES, PRIVATE, RULES

HERE = Path(memman.secrets.__file__).parent
FILE = HERE / "__init__.py"
_FROM = "# fmt: off\n# Written by `make docs` from `rules.toml`.\n"
_WIDTH = 116
# Words that a part is worth looking for first, and characters of the part.
_MANY, _PART = 3, 3
# Digits of the digest in SCREEN; before them it is counted how often that has changed.
_DIGITS = 12


def module() -> str:
    """Write the module with the tables of today's rules."""
    code, tables = FILE.read_text().partition(_FROM)[0], "".join(_tables())
    parts = [code, tables, *(path.read_text() for path in sorted(HERE.iterdir()) if _counts(path))]
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:_DIGITS].upper()
    # Counted up with each change, so that of two versions on one store the newer is known.
    count = (SCREEN >> 4 * _DIGITS) + (not f"{SCREEN:X}".endswith(digest))
    return f"{code}{_FROM}SCREEN = 0x{count:X}{digest}\n{tables}"


def _counts(path: Path) -> bool:
    """Whether a file decides what is found."""
    return path.suffix in {".py", ".toml"} and path != FILE


def _tables() -> Iterator[str]:
    words = {place: set(_words(place)) for place in (*PLACES, "letters")}
    capitals = {word for word in words["within"] if word.isupper()}
    words["within"] -= capitals
    # What is found anywhere need not be looked for elsewhere.
    for place in ("within", "beside", "command"):
        words[place] = {word for word in words[place] if not _holds(word, words["anywhere"])}
    stems = dict(_stems(_fewest(words.pop("anywhere"))))
    yield "ANYWHERE: dict[str, tuple[str, ...]] = {\n"
    for stem in filter(stems.get, stems):
        yield f"{_quoted(stem)}: ({_lines(stems[stem])}),\n"
    yield f"}} | dict.fromkeys(({_lines([stem for stem in stems if not stems[stem]])}), ())\n"
    for name, kept in (words | {"capitals": capitals}).items():
        yield f"{name.upper()} = ({_lines(_fewest(kept))})\n"
    yield f'HIDDEN = "{FRAGMENTS["hidden"]}"  # noqa: E501\n'


def _words(place: str) -> Iterator[str]:
    for rule in (PRIVATE, *RULES):
        if place in rule.row:
            yield from rule.row[place].split("|")


def _holds(word: str, others: Iterable[str]) -> bool:
    return any(other in word for other in others)


def _fewest(words: Iterable[str]) -> list[str]:
    """Return words without those that hold another of them."""
    kept: list[str] = []
    for word in sorted(words, key=lambda word: (len(word), word)):
        if not _holds(word, kept):
            kept.append(word)
    return sorted(kept)


def _stems(words: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Group words by parts that many of them share: most texts are done with a part. A word alone is its own."""
    left = sorted(words)
    while left:
        shared = Counter(part for word in left for part in _parts(word))
        stem, many = max(shared.items(), key=lambda one: (one[1], len(one[0]), one[0]))
        if many < _MANY:
            break
        held = [word for word in left if stem in word]
        yield stem, held
        left = [word for word in left if stem not in word]
    yield from ((word, []) for word in left)


def _parts(word: str) -> set[str]:
    return {word[start:end] for start in range(len(word)) for end in range(start + _PART, len(word) + 1)}


def _lines(words: Sequence[str]) -> str:
    """Write the strings of a tuple, in lines where they are many."""
    said = [f"{_quoted(word)}, " for word in words]
    if sum(map(len, said)) < _WIDTH - 20:
        return "".join(said).strip() if len(said) == 1 else "".join(said)[:-2]
    lines = [""]
    for one in said:
        if len(lines[-1]) + len(one) > _WIDTH:
            lines.append("")
        lines[-1] += one
    return "".join(f"\n    {line.strip()}" for line in lines) + "\n"


def _quoted(word: str) -> str:
    """Write a string in quotes; of a character that joins another, its code."""
    mark = "'" if '"' in word else '"'
    return mark + word.replace("\u0308", "\\u0308") + mark
