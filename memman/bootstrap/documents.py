"""Decision records, guides for contributors and agents, and the README: what they state, passage by passage."""

import os
import re
from collections.abc import Iterator, Sequence

from memman.belief import FILE
from memman.bootstrap.checkout import Checkout, Tracked
from memman.bootstrap.statements import WORTH, packed, worthy
from memman.config.scope import PATH
from memman.judge.judge import Judge
from memman.llm.builtin.markdown import Block, blocks
from memman.llm.builtin.split import sentences
from memman.portable.formats import rules
from memman.portable.incoming import Item

_TEXTS = (".md", ".mdx", ".markdown", ".rst", ".txt", ".adoc")
# Folders of decision records, of which the newest so many are read.
_RECORDS = frozenset(("adr", "adrs", "decisions", "decision-records", "rfc", "rfcs"))
_MOST_RECORDS, _OF_A_RECORD = 200, 2
_INDEXES = ("readme", "index", "template", "0000-")
# As records are written: sections "Decision" or "Decision Outcome", and a status that says that it holds no longer.
_DECISION = re.compile(r"\W*decision\b", re.IGNORECASE)
_OVER = re.compile(r"\W*(?:status\W+)?(?:superseded|deprecated|rejected)\b", re.IGNORECASE)
_STATUS = re.compile(r"\W*status\b", re.IGNORECASE)
_NUMBERED = re.compile(r"^(?:ADR|RFC)?[\s#-]*\d+\s*[.:)-]+\s*", re.IGNORECASE)
_CONTRIBUTING = re.compile(r"(?:.*/)?contributing\.\w+", re.IGNORECASE)
_README = re.compile(r"readme(?:\.\w+)?", re.IGNORECASE)
# Guides that are read, those nearest to the root; statements of a README, and what each is worth.
_MOST_GUIDES, _OF_A_README, _SURELY = 20, 8, 0.9
# Words of a passage that may say something.
_WORDS = 4
_MARKS = re.compile(r"\*\*|__|(?<=\w)\]\([^)\s]*\)|\[(?=[^\]]*\]\()")


def decisions(checkout: Checkout, judge: Judge | None) -> Iterator[Item]:
    """Yield what decision records decided, of those that hold still."""
    paths = [path for path in checkout.paths if _is_record(path)]
    for file in checkout.files(sorted(paths)[-_MOST_RECORDS:]):
        yield from (_item(file, text) for text in _decided(file.text, judge))


def guides(checkout: Checkout, judge: Judge | None) -> Iterator[Item]:
    """Yield what guides for contributors and agents say, each for the folder that it lies in."""
    paths = [
        one for one in checkout.paths if os.path.basename(one).lower() in rules.NAMES or _CONTRIBUTING.fullmatch(one)
    ]
    for file in checkout.files(sorted(paths, key=lambda path: (path.count("/"), path))[:_MOST_GUIDES]):
        yield from _passages(file, judge, WORTH, len(file.text))


def readme(checkout: Checkout, judge: Judge | None) -> Iterator[Item]:
    """Yield the few things that a README says surely."""
    for file in checkout.files([path for path in checkout.paths if _README.fullmatch(path)][:1]):
        yield from _passages(file, judge, _SURELY, _OF_A_README)


def _is_for_agents(path: str) -> bool:
    return os.path.basename(path).lower() in rules.NAMES


def _is_record(path: str) -> bool:
    *folders, name = path.lower().split("/")
    return bool(_RECORDS.intersection(folders)) and name.endswith(_TEXTS) and not name.startswith(_INDEXES)


def _decided(text: str, judge: Judge | None) -> Iterator[str]:
    read = [block for block in blocks(text) if block.kind != "code"]
    if any(
        _OVER.match(block.text) and (_STATUS.match(block.text) or any(map(_STATUS.match, block.labels)))
        for block in read
    ):
        return
    about = _NUMBERED.sub("", next((block.labels[0] for block in read if block.labels), ""))
    chosen = [block for block in read if _DECISION.match(block.text) or any(map(_DECISION.match, block.labels[1:]))]
    told = _sentences(chosen or read)
    yield from packed(about, told if chosen else worthy(judge, about, told), _OF_A_RECORD)


def _sentences(read: Sequence[Block]) -> list[str]:
    """Return the sentences of blocks, without the word that a section begins with in bold."""
    told = [one for block in read for one in sentences(_plain(block.text))]
    return [one for one in told if one.rstrip(".:").casefold() not in {"decision", "context", "consequences"}]


def _passages(file: Tracked, judge: Judge | None, bar: float, most: int) -> Iterator[Item]:
    said = [_plain(text) for text in rules.passages(file.text)]
    whole = [text for text in said if len(text.split()) >= _WORDS and not text.endswith((":", "?"))]
    rated = judge.lines(whole) if judge else [(1.0, "")] * len(whole)
    kept = [text for text, (worth, _) in zip(whole, rated, strict=True) if worth >= bar]
    for passage in kept[:most]:
        for text in packed("", sentences(passage), 2):
            yield _item(file, text)


def _plain(text: str) -> str:
    return " ".join(_MARKS.sub("", text).split())


def _item(file: Tracked, text: str) -> Item:
    folder = os.path.dirname(file.path)
    nested = folder if os.path.basename(file.path).lower() in rules.NAMES else ""
    return Item(
        text, at=file.at, source=FILE, scope=PATH + nested if nested else "", revision=f"{file.commit}:{file.path}"
    )
