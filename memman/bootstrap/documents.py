"""Decision records, guides for contributors and agents, and the README: what they state, passage by passage."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile, groupby

from memman.belief import FILE
from memman.bootstrap.checkout import Checkout, Tracked
from memman.bootstrap.manifests import COMMAND
from memman.bootstrap.statements import WHOLE, packed
from memman.config.scope import PATH
from memman.judge.judge import Judge
from memman.llm.builtin.extract import WORTH
from memman.llm.builtin.markdown import Block, blocks
from memman.llm.builtin.split import leans, refers, sentences
from memman.portable.formats import rules
from memman.portable.incoming import Item

_TEXTS = (".md", ".mdx", ".markdown", ".rst", ".txt", ".adoc")
# Folders of decision records, of which the newest so many are read, and passages of one.
_RECORDS = frozenset(("adr", "adrs", "decisions", "decision-records", "rfc", "rfcs"))
_MOST_RECORDS, _OF_A_RECORD = 200, 16
# The last is what adr-tools writes into each repository.
_INDEXES = ("readme", "index", "template", "0000-", "0001-record-architecture-decisions.")
# As records are written: sections "Decision", "Decision Outcome", "Proposal", what follows from it, and a status that
# says that it holds no longer.
_DECISION = re.compile(r"\W*(?:decision\b(?! (?:drivers?|makers?)\b)|propos(?:al|ed)\b)", re.IGNORECASE)
_CONSEQUENCES = re.compile(r"\W*consequences?\b", re.IGNORECASE)
_BEFORE = re.compile(r"\W*(?:context|background|motivation|problem)\b", re.IGNORECASE)
_OVER = re.compile(r"\W*(?:status\W+)?(?:superseded|deprecated|rejected)\b", re.IGNORECASE)
_STATUS = re.compile(r"\W*(?:status|date)\b", re.IGNORECASE)
_NUMBERED = re.compile(r"^(?:ADR|RFC)?[\s#-]*[\dX]+\s*[.:)-]+\s*", re.IGNORECASE)
_GUIDE = re.compile(r"(?:.*/)?(?:contributing|develop(?:ment|ing)|developer[-_ ]?guide|hacking)\.\w+", re.IGNORECASE)
_README = re.compile(r"readme(?:\.\w+)?", re.IGNORECASE)
# Guides that are read, those nearest to the root, and passages of a README.
_MOST_GUIDES, _OF_A_README = 20, 40
# Words of a passage that may say something.
_WORDS = 4
_CODE, _SPAN = re.compile(r"(`[^`]*`)"), re.compile(r"`([^`]+)`\W*")
_MARKS = re.compile(r"(?<!\w)[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}(?!\w)")
_LINK = re.compile(r"\[([^\]]*)\]\([^)\s]*\)")
# How a sentence ends that goes on elsewhere, or asks.
_OPEN = frozenset(":,?")
# Sections of which nothing is learned.
_LEGAL = re.compile(
    r"\W*(?:main )?(?:licen[cs]e|credits|acknowledg|contributors|sponsors|backers|adopters|who\W+s using|used by"
    r"|change ?log|version history)",
    re.IGNORECASE,
)
# Fences that hold commands, those that may, and lines of commands that are still no script.
_SHELLS = frozenset(("sh", "bash", "shell", "zsh", "console", "terminal", "shell-session"))
_UNNAMED = frozenset(("", "text"))
_PROMPT, _LINES, _LONGEST = "$ ", 6, 160
_COMMENT = re.compile(r"(?:^|\s+)#+\s+(.*)$")
# What everybody knows, and is in every guide; what runs whatever an address serves, which nobody is told to.
_KNOWN = re.compile(r"(?:git|cd|mkdir|export) .*")
_SERVED = re.compile(r"\|\s*(?:sudo\s+)?\w*sh\b|(?:\$\(|<\(|`)\s*(?:curl|wget)")
# Items of a list are told together where each is so short. One that is but a link is a line of a table of contents.
_ITEM = 120
_LINKED = re.compile(r"\W*(?:\[[^\]]*\]\([^)\s]*\)|https?://\S+)\W*")
_ORNAMENT = re.compile(r"^(?:[^\w`<@.\"'(\[]+|\d+[.)]\s+)+")


@dataclass(frozen=True, slots=True)
class _Passage:
    """The sentences of a passage or the short items of a list, the headings above and what introduces it.

    Of the items of a list all are kept or none; a `command` is not judged.
    """

    headings: tuple[str, ...]
    leads: tuple[str, ...]
    told: tuple[str, ...]
    command: bool = False
    item: bool = False
    short: bool = False

    @property
    def place(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Where it stands."""
        return self.headings, self.leads

    @property
    def about(self) -> str:
        """Its section, and the lines above its list."""
        return ": ".join(dict.fromkeys(filter(None, (*self.headings[-1:], *self.leads))))


def decisions(checkout: Checkout, judge: Judge | None) -> Iterator[Item]:
    """Yield what decision records decided, and what follows from it, of those that hold still."""
    paths = [path for path in checkout.paths if _is_record(path)]
    for file in checkout.files(sorted(paths)[-_MOST_RECORDS:]):
        channel = checkout.channel(file.author)
        yield from (replace(_item(file, text), channel=channel) for text in _decided(file.text, judge))


def guides(checkout: Checkout, judge: Judge | None) -> Iterator[Item]:
    """Yield what guides for contributors and agents say, each for the folder that it lies in."""
    paths = filter(_is_guide, checkout.paths)
    for file in checkout.files(sorted(paths, key=lambda path: (path.count("/"), path))[:_MOST_GUIDES]):
        yield from _passages(file, judge, len(file.text))


def readme(checkout: Checkout, judge: Judge | None) -> Iterator[Item]:
    """Yield the first of what a README says, and of its commands."""
    for file in checkout.files([path for path in checkout.paths if _README.fullmatch(path)][:1]):
        yield from _passages(file, judge, _OF_A_README)


def _is_guide(path: str) -> bool:
    """Whether contributors or agents read it; agents read AGENTS.md, and a page named agents.md is something else."""
    name = os.path.basename(path)
    return bool(_GUIDE.fullmatch(path)) or (name.lower() in rules.NAMES and not name.islower())


def _is_record(path: str) -> bool:
    *folders, name = path.lower().split("/")
    return bool(_RECORDS.intersection(folders)) and name.endswith(_TEXTS) and not name.startswith(_INDEXES)


def _decided(text: str, judge: Judge | None) -> Iterator[str]:
    read = [*blocks(text)]
    if any(
        _OVER.match(block.text) and (_STATUS.match(block.text) or any(map(_STATUS.match, block.headings)))
        for block in read
    ):
        return
    said = [*_said(read)]
    title = next((_heading(block.headings[0]) for block in read if block.headings), "")
    said = [one for one in said if not (_STATUS.match(one.told[0]) or any(map(_STATUS.match, one.headings)))]
    chosen = [one for one in said if _under(_DECISION, one, title)]
    rest = [one for one in said if not _under(_BEFORE, one, title)]
    follows = [one for one in rest if _under(_CONSEQUENCES, one, title)] if chosen else rest
    kept = [*chosen, *_worthy(judge, follows, title)]
    for one in kept[:_OF_A_RECORD]:
        named = (head for head in one.headings[-1:] if not (_DECISION.match(head) or _CONSEQUENCES.match(head)))
        about = dict.fromkeys(filter(None, (_NUMBERED.sub("", title), *named, *one.leads)))
        yield from packed(": ".join(about), one.told, fits=WHOLE)


def _under(section: re.Pattern[str], passage: _Passage, title: str) -> bool:
    return any(head != title and section.match(head) for head in passage.headings)


def _passages(file: Tracked, judge: Judge | None, most: int) -> Iterator[Item]:
    for one in _worthy(judge, [*_said(blocks(file.text))])[:most]:
        yield from (_item(file, text) for text in packed(one.about, one.told, fits=WHOLE))


def _worthy(judge: Judge | None, said: Sequence[_Passage], title: str = "") -> list[_Passage]:
    """Return commands, and what the judge finds worth keeping by itself, or with what it is about; lists whole."""
    wholes = [" ".join(one.told) for one in said]
    abouts = [": ".join(filter(None, (title, one.about, whole))) for one, whole in zip(said, wholes, strict=True)]
    rated = zip(judge.lines(wholes), judge.lines(abouts), strict=True) if judge else ()
    worth = [max(one[0] for one in both) for both in rated] or [1.0] * len(said)
    lists: dict[object, float] = {}
    for one, each in zip(said, worth, strict=True):
        if one.item:
            lists[one.place] = max(each, lists.get(one.place, 0.0))
    return [
        one
        for one, whole, each in zip(said, wholes, worth, strict=True)
        if one.command or (len(whole.split()) >= _WORDS and (lists[one.place] if one.item else each) >= WORTH)
    ]


def _said(read: Iterable[Block]) -> Iterator[_Passage]:
    """Yield each passage that can be understood alone, lists of short items whole, and the commands that are shown."""
    for short, some in groupby(_purposeful(_each(read)), lambda one: one.short and one.place):
        found = [*some]
        if short:
            found = [replace(found[0], told=tuple(item for one in found for item in one.told))]
        yield from found


def _purposeful(said: Iterable[_Passage]) -> Iterator[_Passage]:
    """Yield passages, a sentence above a command as what the command is for, if they can be shown together."""
    held: _Passage | None = None
    for one in said:
        if held and one.command and not one.leads and held.headings == one.headings:
            made = replace(one, leads=(held.told[0].rstrip("."),))
            if len(f"{made.about}: {made.told[0]}") <= WHOLE:
                held = None
                yield made
                continue
        if held:
            yield held
        held = one if len(one.told) == 1 and not (one.command or one.item) else None
        if not held:
            yield one
    if held:
        yield held


def _each(read: Iterable[Block]) -> Iterator[_Passage]:
    for block in read:
        if any(map(_LEGAL.match, block.headings)) or _LINKED.fullmatch(block.text):
            continue
        headings = tuple(map(_heading, block.headings))
        leads = tuple(map(_heading, block.leads)) if block.leads != block.headings else ()
        alone = block.kind == "prose" and _SPAN.fullmatch(block.text)
        if alone or block.kind == "code":
            for what, run in _commands(alone[1] if alone else block.text, block.language):
                yield _Passage(headings, tuple(filter(None, (*leads, what))), (run,), command=True)
            continue
        told = [one for one in sentences(_plain(block.text)) if not _broken(one, block)]
        item = block.kind == "item"
        if told and leans(told[0]) and not item:
            told = [*dropwhile(refers, told)]
        if told:
            short = item and len(block.text) <= _ITEM
            said = ["; ".join(one.rstrip(".") for one in told)] if short else told
            yield _Passage(headings, leads, tuple(said), item=item, short=short)


def _commands(code: str, language: str) -> Iterator[tuple[str, str]]:
    """Yield what a shell is told in a block of code, and what the comment above or behind it says it is for."""
    lines = [line.strip() for line in re.sub(r"\\\n\s*", "", code).split("\n")]
    if prompted := [line.removeprefix(_PROMPT) for line in lines if line.startswith(_PROMPT)]:
        lines = prompted
    elif language not in _SHELLS and not (language in _UNNAMED and all(map(COMMAND.fullmatch, lines))):
        return
    groups: list[tuple[str, list[str]]] = [("", [])]
    for line in lines:
        command, remark = (*_COMMENT.split(line), "")[:2]
        if remark:
            groups.append((remark, [command] if command else []))
            groups += [("", [])] if command else []
        else:
            groups[-1][1].append(command)
    for what, commands in groups:
        if (
            commands
            and len(commands) <= _LINES
            and not all(map(_KNOWN.fullmatch, commands))
            and all(len(one) <= _LONGEST and "`" not in one and not _SERVED.search(one) for one in commands)
        ):
            yield _plain(what).rstrip(".:"), ", ".join(f"`{one}`" for one in commands) + "."


def _broken(sentence: str, block: Block) -> bool:
    """Whether a sentence begins before its block, behind code or a list, or ends behind it."""
    return sentence[-1] in _OPEN or (block.kind == "prose" and (sentence[0].islower() or sentence[0] == "("))


def _heading(text: str) -> str:
    return _ORNAMENT.sub("", _plain(text)).rstrip(",:")


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
