"""Decision records, guides for contributors and agents, and the README: what they state, passage by passage."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from memman.belief import FILE
from memman.bootstrap.checkout import Checkout, Tracked
from memman.bootstrap.statements import WORTH, packed, worthy
from memman.config.scope import PATH
from memman.judge.judge import Judge
from memman.llm.builtin.markdown import Block, blocks
from memman.llm.builtin.split import leans, sentences
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
_CODE = re.compile(r"(`[^`]*`)")
_MARKS = re.compile(r"(?<!\w)[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}(?!\w)")
# A passage of eight words or more that ends.
_SENTENCE = re.compile(r"(?:\S+ ){7,}\S+[.!]")
_LINK = re.compile(r"\[([^\]]*)\]\([^)\s]*\)")
_HEADING = re.compile(r"^(?:#{1,6} +(.+?)(?: #+)?|([^\n]+)\n(?:={3,}|-{3,}))$", re.MULTILINE)
# How a sentence ends that goes on elsewhere, or asks.
_OPEN = frozenset(":,?")
# Sections of which nothing is learned.
_LEGAL = re.compile(r"\W*(?:licen[cs]e|credits|acknowledg|contributors|change ?log|version history)", re.IGNORECASE)


def decisions(checkout: Checkout, judge: Judge | None) -> Iterator[Item]:
    """Yield what decision records decided, of those that hold still."""
    paths = [path for path in checkout.paths if _is_record(path)]
    for file in checkout.files(sorted(paths)[-_MOST_RECORDS:]):
        channel = checkout.channel(file.author)
        yield from (replace(_item(file, text), channel=channel) for text in _decided(file.text, judge))


def guides(checkout: Checkout, judge: Judge | None) -> Iterator[Item]:
    """Yield what guides for contributors and agents say, each for the folder that it lies in."""
    paths = [
        one for one in checkout.paths if os.path.basename(one).lower() in rules.NAMES or _CONTRIBUTING.fullmatch(one)
    ]
    for file in checkout.files(sorted(paths, key=lambda path: (path.count("/"), path))[:_MOST_GUIDES]):
        yield from _passages(file, judge, WORTH, len(file.text))


def readme(checkout: Checkout, judge: Judge | None) -> Iterator[Item]:
    """Yield the few things that a README says surely, in whole sentences."""
    for file in checkout.files([path for path in checkout.paths if _README.fullmatch(path)][:1]):
        yield from _passages(file, judge, _SURELY, _OF_A_README, whole=True)


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
    chosen = [block for block in read if _DECISION.match(block.text) or any(map(_DECISION.match, block.labels[-1:]))]
    told = _sentences(chosen or read)
    yield from packed(about, told if chosen else worthy(judge, about, told), _OF_A_RECORD)


def _sentences(read: Sequence[Block]) -> list[str]:
    """Return the sentences of blocks, without the word that a section begins with in bold."""
    told = [one for block in read for one in sentences(_plain(block.text))]
    return [one for one in told if one.rstrip(".:").casefold() not in {"decision", "context", "consequences"}]


def _passages(file: Tracked, judge: Judge | None, bar: float, most: int, *, whole: bool = False) -> Iterator[Item]:
    said = [(about, told) for about, told in _said(file.text) if not whole or _SENTENCE.fullmatch(told)]
    # What is worth keeping may seem so by itself, or only with what it is about.
    lines = [f"{about}: {told}" for about, told in said], *([] if whole else [[told for _, told in said]])
    rated = zip(*(judge.lines(some) for some in lines), strict=True) if judge else ()
    worth = [max(one[0] for one in both) for both in rated] or [1.0] * len(said)
    kept = [one for one, is_worth in zip(said, worth, strict=True) if is_worth >= bar]
    for about, told in kept[:most]:
        yield from (_item(file, text) for text in packed(about, sentences(told), 2))


def _said(text: str) -> Iterator[tuple[str, str]]:
    """Yield each passage that can be understood alone, and what it is about: its section, the line above its list."""
    headings = {_plain(one or other) for one, other in _HEADING.findall(text)}
    section = ""
    for block in blocks(text):
        if block.kind == "code" or any(map(_LEGAL.match, block.labels)):
            continue
        labels = [_plain(label).rstrip(",:") for label in block.labels]
        section = next((label for label in reversed(labels) if label in headings), section)
        leads = (label for label in labels if label not in headings)
        about = ": ".join(dict.fromkeys(filter(None, (section, *leads))))
        told = [one for one in sentences(_plain(block.text)) if not _broken(one, block)]
        if told and not leans(told[0]) and len(" ".join(told).split()) >= _WORDS:
            yield about, " ".join(told)


def _broken(sentence: str, block: Block) -> bool:
    """Whether a sentence begins before its block, behind code or a list, or ends behind it."""
    return sentence[-1] in _OPEN or (block.kind == "prose" and (sentence[0].islower() or sentence[0] == "("))


def _plain(text: str) -> str:
    """Return Markdown without emphasis and the addresses of links, code as it is."""
    parts = _CODE.split(_LINK.sub(r"\1", text))
    return " ".join("".join(part if part[:1] == "`" else _MARKS.sub("", part) for part in parts).split())


def _item(file: Tracked, text: str) -> Item:
    folder = os.path.dirname(file.path)
    nested = folder if os.path.basename(file.path).lower() in rules.NAMES else ""
    return Item(
        text, at=file.at, source=FILE, scope=PATH + nested if nested else "", revision=f"{file.commit}:{file.path}"
    )
