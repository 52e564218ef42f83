"""Sentences to refine the table on, from sources whose provenance and licence can be stated.

* Docstrings, comments and the language reference that ship with the interpreter (PSF licence).
* Word bags and filled templates written here, their words drawn from the teacher's own vocabulary.

No benchmark text is used. The order and the draw are fixed, so one interpreter always gives one corpus.
"""

import ast
import random
import re
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path
from pydoc_data.topics import topics

SEED = 20_261_121
# Words of a sentence that is kept: shorter ones are labels, longer ones are tables.
SHORTEST, LONGEST = 3, 48
BAGS, FILLED = 24_000, 36_000
# BERT's vocabulary is ordered by frequency from "the" on; words are drawn with chance 1 / rank ** this,
# flatter than natural text so that rare words are seen too.
DRAW_EXPONENT = 0.6
# The most frequent word, where the vocabulary's order by frequency begins.
FIRST_WORD = "the"
SKIPPED_FOLDERS = {"site-packages", "pydoc_data"}

TEMPLATES = """
we decided to use {} instead of {} because of {}
the {} service stores {} in {} and reads {} every {} minutes
the user prefers {} over {} for {}
never run {} on the {} without asking about {}
the build fails when {} is missing from the {}
fixed the {} bug: {} was called before {}
the {} test is flaky because {} depends on {}
deploy {} to {} after {} has passed
{} is configured in the {} file under {}
{} owns the {} module and reviews every {}
we moved from {} to {} last {} to save {}
the {} timeout is {} seconds, set by {}
rename {} to {} in the {} package
use {} when the {} is too large for {}
the customer asked for {} with {} and {}
{} depends on {}, which needs {}
do not commit {} to the {} repository
the {} migration adds a {} column to {}
{} caused the outage of {} on {}
the {} endpoint returns {} instead of {}
what did {} say about {}
which {} does the {} use
why was {} replaced by {}
how do we {} the {}
when did {} go to the {}
where is {} stored
who is responsible for {}
what is the {} of the {}
how many {} does {} have
does the {} support {}
what happened after {} met {}
what kind of {} does {} like
how long has {} been {}
what are {}'s plans for {}
{} went to the {} with {} last {}
{} has been {} for three years and loves {}
{} bought a new {} for the {}
{} is worried about {} and {}
{} enjoys {} because it helps with {}
{} told {} about the {} in {}
{} grew up in {} and moved to {}
{} started a {} group to support {}
my {} was {} so I called {}
I am thinking about {} and {}
thanks, the {} was {}, see you at the {}
{} plays {} every {} to relax
{} and {} are planning a {} next {}
{} recommends reading {} about {}
{} gave {} a {} for the birthday
{} felt {} when the {} ended
the {} of {} under {} conditions
an experimental study of {} and {} in {}
effect of {} on {}
{} and {}
{} of the {}
{}, {} and {}
a method for {} with {}
comparison of {} and {} at high {}
the theory of {} applied to {}
""".strip().splitlines()

_BREAK = re.compile(r"(?<=[.!?:;])\s+(?=[A-Z`'\"(])|\n\s*\n|\n\s*[-*]\s+")
_NOISE = re.compile(r"^\s*(>>>|\.\.\.|[|+=~-]{3,})")
_COMMENT = re.compile(r"^\s*#+ ?(.*)$")


def sentences(vocabulary: Sequence[str]) -> list[str]:
    """List all training sentences, without repeats, in a fixed order."""
    draw = random.Random(SEED)
    found = [*_library(), *_invented(vocabulary, draw)]
    return list(dict.fromkeys(found))


def _library() -> Iterator[str]:
    root = Path(sysconfig.get_path("stdlib"))
    for path in sorted(root.rglob("*.py")):
        if not SKIPPED_FOLDERS.intersection(path.relative_to(root).parts):
            source = path.read_text(encoding="utf-8", errors="ignore")
            for block in (*_docstrings(source), *_comments(source)):
                yield from _split(block)
    for topic in sorted(topics):
        yield from _split(topics[topic])


def _docstrings(source: str) -> Iterator[str]:
    try:
        tree = ast.parse(source)
    except SyntaxError:  # a few library files are bad on purpose
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""


def _comments(source: str) -> Iterator[str]:
    """Join each run of whole-line comments to one text."""
    lines = [match and match[1] for match in map(_COMMENT.match, source.splitlines())]
    yield from "\n".join("\0" if line is None else line for line in lines).split("\0")


def _split(block: str) -> Iterator[str]:
    prose = "\n".join(line for line in block.splitlines() if not _NOISE.match(line))
    for part in _BREAK.split(prose):
        text = " ".join(part.split())
        if SHORTEST <= text.count(" ") + 1 <= LONGEST:
            yield text


def _invented(vocabulary: Sequence[str], draw: random.Random) -> Iterator[str]:
    """Word bags of 2 to 9 words, then filled templates."""
    ranked = vocabulary[vocabulary.index(FIRST_WORD) :]
    chances = {word: rank**-DRAW_EXPONENT for rank, word in enumerate(ranked, 1) if word.isalpha() and len(word) > 2}
    names, weights = list(chances), list(chances.values())
    for _ in range(BAGS):
        yield " ".join(draw.choices(names, weights, k=draw.randint(2, 9)))
    for _ in range(FILLED):
        template = draw.choice(TEMPLATES)
        yield template.format(*draw.choices(names, weights, k=template.count("{}")))
