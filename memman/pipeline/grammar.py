"""A text by its grammar: sentences, clauses and words, and which of them are denied.

Each table holds a closed class (denials, prepositions, conjunctions, numerals) of English, German, French, Spanish,
Portuguese and Chinese, and nothing of what words mean.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal
from unicodedata import normalize

from memman.llm.builtin.split import sentences
from memman.model.terms import STOPWORDS, folded, stem, unspaced

Kind = Literal["word", "name", "number", "link"]


def _class(words: str) -> frozenset[str]:
    return frozenset(map(folded, words.split()))


DENIALS = _class(
    """not no never none nothing nobody nowhere neither nor cannot dont doesnt didnt isnt arent wasnt werent wont cant
    nicht kein keine keinen keinem keiner keines nie niemals nichts niemand weder noch
    ne n pas jamais aucun aucune rien ni nunca jamás ningún ninguna ninguno nada tampoco não nenhum nenhuma nem
    不 没 沒 别 別 无 無 勿 未 非"""
)
# Verbs that deny what follows as "not" does: "stop adding docstrings".
DENIALS |= _class("stop avoid vermeide vermeiden arrete évite éviter evita evitar evite 避 停")
# Where one of these stands, "no" is the Portuguese "in the".
_PORTUGUESE = frozenset("não são os um uma com dos das ao em na nas nos".split())
# They deny what stands behind them alone; some only with the word that makes them more than an adverb.
EXCEPTIONS = dict.fromkeys(_class("without statt anstatt ohne sans sin sem"), "") | {
    "instead": "of", "rather": "than", "lieu": "de", "lugar": "de", "vez": "de",
}  # fmt: skip
# What narrows a statement; one that is lost or added makes another of it.
RESTRICTIONS = tuple(
    _class(words)
    for words in (
        """only solely exclusively alone nur allein ausschließlich seulement uniquement solo solamente sólo só somente
        apenas 只 仅""",
        "except unless besides excluding außer ausgenommen sauf excepté excepto salvo exceto 除",
        "without ohne sans sin sem",
        "least minimum min mindestens mínimo",
        "most maximum max höchstens máximo",
    )
)
CONJUNCTIONS = _class(
    """but because if unless until when while whereas since although though
    aber sondern weil wenn falls bis während obwohl damit mais parce puisque quand lorsque tandis quoique
    pero sino porque cuando mientras aunque mas embora quando enquanto 但 而 因 如 虽"""
)
AND = _class("and or und oder et ou y e 和 或 及")
LINKS = _class(
    """by over under above below before after from to into onto with for of on in at than against via through as per
    between within during behind von durch über unter vor nach zu zum zur mit für auf aus im bei gegen als zwischen
    par sur sous avant après de du des au aux vers dans avec pour en chez entre contre por sobre bajo antes después
    desde hasta hacia con para del al depois até da das dos com em na nas nos ao
    从 到 在 比 被 给 为 对 向 由"""
)
# Who acts, where the verb is passive.
BY = _class("by von durch par por 被 由")
# What is turned round when both sides change places.
TURNED = {"before": "after", "vor": "nach", "avant": "apres", "antes": "despues", "above": "below"}
TURNED |= {two: one for one, two in TURNED.items()} | {"depois": "antes"}
# What bounds the number behind it from below, and from above.
AT_LEAST = _class("over above more least minimum min über mehr mindestens plus más mais")
AT_MOST = _class("under below less fewer most maximum max unter weniger höchstens moins menos")
_FROM_TWO = (
    "two zwei deux dos dois duas 两 二", "three drei trois tres três 三", "four vier quatre cuatro quatro 四",
    "five fünf cinq cinco 五", "six sechs seis 六", "seven sieben sept siete sete 七", "eight acht huit ocho oito 八",
    "nine neun neuf nueve nove 九", "ten zehn dix diez dez 十", "eleven elf onze", "twelve zwölf douze doce doze",
)  # fmt: skip
NUMERALS = {name: str(n) for n, names in enumerate(_FROM_TWO, 2) for name in _class(names)}
# Articles, pronouns and auxiliaries.
_WEIGHTLESS = STOPWORDS | _class(
    """der die das den dem des ein eine einen einem einer wir ich ihr sie es ist sind wird werden wurde hat haben
    le la les un une il elle on nous je est sont c d j l m qu s t se el los las una lo son o os um uma são é
    的 是 了"""
)

# What parts paragraphs, items of a list, and a short line, which was not wrapped, from the next.
_ITEM = re.compile(r"\n\s*\n|(?:^|\n)\s*(?:[-*+\u2022#>]+|\d{1,3}[.)])\s+|(?<!.{45})\n")
_OPENING, _CLOSING = "\"'`([{*\u201c\u201e\u00ab\u2018", "\"'`)]}*.,;:!?\u2026\u201d\u201c\u00bb\u2019"
_PARTS = frozenset(",;:.!?()\u2026")
_DASHES = frozenset(["-", "--", "\u2013", "\u2014"])
_NUMBER = re.compile(r"v?(\d+(?:[.,:/-]\d+)*)-?([^\W\d_]+|%)?", re.IGNORECASE)
_THOUSANDS = re.compile(r",(?=\d{3}(?:\D|$))")
_PLAIN = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_ELIDED = re.compile(r"(?:[cdjlmnst]|qu)'(?=\w)", re.IGNORECASE)
# A shorter root keeps its last letters: "key" is no form of "ke".
_SHORTEST = 4


@dataclass(frozen=True, slots=True)
class Word:
    """One word: `root` is what is compared, a `link` a preposition or a bound."""

    root: str
    kind: Kind
    capital: bool


@dataclass(frozen=True)
class Clause:
    """What is said, or denied, together; between its `parts` stands "and"."""

    parts: tuple[tuple[Word, ...], ...]
    denied: bool

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """All words in order."""
        return tuple(word for part in self.parts for word in part)

    @cached_property
    def roots(self) -> frozenset[str]:
        """What it speaks of: prepositions only where there is nothing else."""
        return roots(self.words) or frozenset(word.root for word in self.words)


@dataclass(frozen=True)
class Sentence:
    """One sentence, as it is written and as it is compared."""

    text: str
    clauses: tuple[Clause, ...]

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """All words in order."""
        return tuple(word for clause in self.clauses for word in clause.words)

    @cached_property
    def parts(self) -> tuple[tuple[Word, ...], ...]:
        """The parts of all clauses."""
        return tuple(part for clause in self.clauses for part in clause.parts)

    @cached_property
    def roots(self) -> frozenset[str]:
        """What it speaks of."""
        return roots(self.words)


def roots(words: Iterable[Word]) -> frozenset[str]:
    """Return what some words speak of."""
    return frozenset(word.root for word in words if word.kind != "link")


@lru_cache(512)
def parsed(text: str) -> tuple[Sentence, ...]:
    """Return the sentences of a text; items of a list are parted, wrapped lines are not."""
    told = (one for item in _ITEM.split(text) for one in sentences(item))
    return tuple(Sentence(one, tuple(_clauses(one))) for one in told)


def _clauses(sentence: str) -> Iterator[Clause]:
    """Part a sentence where its marks and conjunctions do, and before what denies the rest alone."""
    parts: list[list[Word]] = [[]]
    denied = False
    tokens = [*_tokens(sentence)]
    denials = DENIALS - {"no"} if _portuguese(sentence) else DENIALS
    for n, (form, words) in enumerate(tokens):
        following = tokens[n + 1][0] if n + 1 < len(tokens) else ""
        excepts = form in EXCEPTIONS and EXCEPTIONS[form] in ("", following)
        begins = form == "" or form in CONJUNCTIONS or excepts or (form in AND and following in denials)
        if begins:
            if any(parts):
                yield Clause(tuple(tuple(part) for part in parts if part), denied)
            parts, denied = [[]], excepts
        elif form in AND:
            parts.append([])
        elif form in denials or form.endswith("n't"):
            denied = True
        if not (excepts or form in CONJUNCTIONS):
            parts[-1] += words
    if any(parts):
        yield Clause(tuple(tuple(part) for part in parts if part), denied)


def _portuguese(sentence: str) -> bool:
    return any(word.lower() in _PORTUGUESE for word in sentence.split() if not word.isupper())


def _tokens(sentence: str) -> Iterator[tuple[str, list[Word]]]:
    """Yield the form of each word and what is compared of it; '' for a mark that parts clauses."""
    first = True
    for chunk in _spaced(sentence).split():
        core = chunk.lstrip(_OPENING).rstrip(_CLOSING)
        opened, closed = chunk.partition(core)[::2] if core else (chunk, "")
        if core in _DASHES or not _PARTS.isdisjoint(opened):
            yield "", []
        if core and core not in _DASHES:
            for piece in _pieces(core):
                yield folded(piece), _words(piece, first=first)
                first = False
        if not _PARTS.isdisjoint(closed):
            yield "", []


def _spaced(text: str) -> str:
    """Set apart the characters of scripts without spaces, and write marks in one way."""
    if text.isascii():
        return text
    text = normalize("NFKC", text).replace("\u2019", "'").replace("\u3002", ". ").replace("\u3001", ", ")
    return "".join(f" {char} " if unspaced(char) else char for char in text)


def _pieces(core: str) -> list[str]:
    """Part what is written in one: n'utilise, end-to-end; what belongs to somebody goes without its 's."""
    if core.lower().endswith("n't"):
        return [core]
    elided = _ELIDED.match(core)
    before = [elided[0][:-1]] if elided else []
    core = core[elided.end() :] if elided else core
    core = core.partition("'")[0] or core
    return before + (core.split("-") if _PLAIN.fullmatch(core) else [core])


def _words(piece: str, *, first: bool) -> list[Word]:
    form, capital = folded(piece), piece[:1].isupper()
    number = _NUMBER.fullmatch(piece)
    if number:
        value = Word(_THOUSANDS.sub("", number[1]), "number", capital=False)
        return [value, Word(_root(folded(number[2])), "word", capital=False)] if number[2] else [value]
    if form in NUMERALS:
        return [Word(NUMERALS[form], "number", capital=False)]
    if form in LINKS or form in AT_LEAST or form in AT_MOST:
        return [Word(form, "link", capital)]
    letters = "".join(filter(str.isalnum, form))
    if not letters or form in DENIALS or form in _WEIGHTLESS or form in AND or form.endswith("n't"):
        # "US" is no pronoun, nor "IT" one.
        return [Word(letters, "name", capital)] if len(piece) > 1 and piece.isupper() and not first else []
    named = not piece.isalpha() or piece[1:] != piece[1:].lower() or (capital and not first)
    return [Word(letters if not piece.isalpha() else _root(letters), "name" if named else "word", capital)]


def _root(form: str) -> str:
    """Cut off endings, and what they double or leave: "running" and "run", "deploys" and "deploy" have one root."""
    root = stem(form)
    if len(root) >= _SHORTEST and (root[-1] == root[-2] or root[-1] in "yei"):
        return root[:-1]
    return root
