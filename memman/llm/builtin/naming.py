"""Corrections and changes told by naming: "no, use pnpm, not npm", "the port is 8081", "we moved to Zustand"."""

import re
from typing import NamedTuple

from memman.llm.builtin.changes import arrival_of, change_of
from memman.llm.builtin.claims import attribute
from memman.llm.builtin.lexicon import LANGUAGES, PRODUCTS, class_of
from memman.llm.builtin.moment import here, passing, trouble
from memman.llm.builtin.orders import NAME, STYLE, WE, filled
from memman.llm.builtin.patterns import choice, cues, wordset
from memman.llm.builtin.roles import ATTRIBUTES
from memman.llm.builtin.statement import Word, plain, sentence
from memman.llm.builtin.values import kinds
from memman.model.terms import STOPWORDS

# What a page or a program shows is a matter of the task, whoever gives it another value.
_SHOWN = wordset(
    """button result output response value status error page icon text label header title heading answer test tests
    count total length width height colour color size padding margin font image logo link menu row column cell line
    return message spinner modal dialog background border input field checkbox list order sum layout problem issue bug
    code function file files folder it this that what there id item expected""",
)
# Nobody settles on one of these for good.
_CONSTRUCTS = wordset(
    """map filter reduce foreach loop let const var div span flexbox grid regex recursion for while if switch try
    usestate usememo useeffect usecallback dict list set tuple array object string int float null true false none
    the a an it this that these those my your our his her its one other another same more less all any some both each
    every here there them me us you i we to be at by of as is are was were in on yes no not now then than so
    only just something anything nothing everything first second third last next left right top bottom blue red green
    yellow black white grey gray orange purple pink bold italic bigger smaller larger option version sure ready done
    working able going using available supported needed allowed correct wrong true visible hidden""",
)
_PASSING_CLASSES = frozenset("colour theme gate health boolean switch manner timing duty tier".split())
_OPENING = choice("no+ nope nah wrong(?:_\\w+)? not_quite incorrect actually correction wait")
_DENIAL = (
    rf"^(?:ok |sorry,? |hm+,? |well,? )*(?:{_OPENING}|you(?:'re| are) wrong"
    r"|(?:that|this|it)(?:'s| is) (?:wrong|not right|incorrect|not correct|outdated|not true))"
)
_MARK = (
    _DENIAL + r"(?:[,.:;!\u2014\u2013-]+\s*|\s+(?=(?:the|we|our|it|its|that|this|use|not|actually|i|you|my|all"
    r"|everything|run)\b))"
    r"(?:(?:no|actually|it's|that's)[,:]?\s+)?"
)
_DONE_WITH = choice("use run deploy build test lint host log format cache store write bundle track monitor manage are")
_ENDS = {"MARK": _MARK, "NEW": rf"(?P<new>{NAME})", "OLD": rf"(?P<old>{NAME})", "WITH": _DONE_WITH}


def _shape(line: str) -> re.Pattern[str]:
    for name, text in _ENDS.items():
        line = line.replace("{" + name + "}", text.replace(" ", "_"))
    return filled(line)


# (category, shape); what is named must be something one settles on.
_NAMED = tuple(
    (category, _shape(line.strip()))
    for category, table in (
        (
            "preference",
            r"""
            {MARK}(?:please_)?(?:use|run|we_use|we_are_using|we're_using|it's|with)_{NEW}(?=$|[,.;!]|_(?:not|please|for|in)\b)
            \b(?:use|using|with|on|in|to|is|are|prefer|want)_{NEW}(?:_\w+){0,3},?_(?:and_)?not_(?:in_|on_|with_|to_|use_)?{OLD}
            {AT}(?:please_|we_)?(?:use|prefer|want)_{NEW}(?:_\w+)?_(?:instead_of|rather_than|over)_{OLD}(?=$|[,.;!]|_\w+)
            ^{NEW},?_(?:and_)?not_{OLD}[.!]*$
            \b(?:isn'?t|is_not|aren'?t|are_not|'s_not|not_on|not_in|not_using)_(?:on_|in_|using_|called_)?{OLD}(?:_\w+){0,3}?[,;.]_(?:it'?s|it_is|they'?re|we'?re|we_are|we_use)_(?:on_|in_|using_|called_)?{NEW}
            ^(?:it's_)?not_{OLD},?_(?:but_|please_|we_|it's_)?(?:use_|using_|on_|with_)?{NEW}
            """,
        ),
        (
            "decision",
            r"""
            \b{WE}_{WITH}_(?:on_|with_|to_|in_)?{NEW}(?=_here|_now|_rather_than|_instead_of|,?_not\b)
            {AT}let'?s_(?:use|go_with|stick_(?:with|to)|stay_with|keep|adopt|settle_on)_{NEW}(?=$|[,.;!]|_for\b|_instead)
            {AT}{WE}(?:'ll|_will)_(?:use|go_with|stick_with|stay_(?:on|with)|keep|adopt)_{NEW}(?=$|[,.;!]|_for\b|_instead)
            """,
        ),
    )
    for line in table.strip().splitlines()
)
_CORRECTED = re.compile(rf"{_MARK}(?P<claim>.+)", re.IGNORECASE)
_DENIED = re.compile(_DENIAL + r"(?: \w+){0,3}[.!\s]*", re.IGNORECASE)
_CONTRASTED = re.compile(r", (?:and )?not \w|\b(?:is|are|in|on|it's|its) \S+ (?:and )?not \w")
_OUR = re.compile(rf"\b(?:{WE}(?:'ve|'re)?|our|us)\b", re.IGNORECASE)
_LASTING = re.compile(
    r"\b(?:is|are|use|run|on|deploy|host|store|keep|call|target|support|has|have|needs?)\b", re.IGNORECASE
)
_NOW = cues("now no_longer any_?more instead not since from_(?:today|this)_\\w+ as_of")
_BORDER = re.compile(r"[;\u2014\u2013]\s|\s-\s|,\s(?:and|but|so)\s")
_SUBJECT_END = re.compile(r"\b(?:is|are|was|should|must|comes?)\b|:")


class Told(NamedTuple):
    """Where in a sentence something lasting begins, and of what kind it is."""

    at: int
    category: str


def named(text: str) -> Told | None:
    """Read "use pnpm, not npm" and its like."""
    if here(text) and not _OUR.search(text):
        return None
    for category, shape in _NAMED:
        found = shape.search(text)
        if not found or shown(text[: found.start("new")]) or passing(text, found.start()):
            continue
        ends = [found[name] for name in ("new", "old") if name in shape.groupindex and found[name]]
        if not any(end.strip("`'\"").lower() in _CONSTRUCTS for end in ends) and any(map(_settled, ends)):
            return Told(_clause(text, found.start()), category)
    return None


def corrected(text: str, before: str = "") -> Told | None:
    """Read "no, the port is 8081": a value given to something that lasts. The "no" may be the sentence `before`."""
    denied = bool(_DENIED.fullmatch(before))
    marked = _CORRECTED.match(f"no, {text}" if denied else text)
    claim = marked["claim"] if marked else text if _CONTRASTED.search(text) else ""
    if not claim or passing(text, 0) or trouble(claim) or here(claim) or shown(claim):
        return None
    read = sentence(plain(claim))
    about, value = attribute(read) or (frozenset(), ())
    lasts = not about.isdisjoint(ATTRIBUTES) or any(map(_telling, value))
    ours = marked and (denied or _OUR.search(claim)) and _LASTING.search(claim) and any(map(_telling, read.words[1:]))
    return Told(0, "fact") if lasts or ours or (marked and _swapped(claim)) else None


def changed(text: str) -> Told | None:
    """Read "we moved from Redux to Zustand": a change of what we use."""
    if not _OUR.search(text) or passing(text, 0) or trouble(text):
        return None
    read = sentence(plain(text))
    change = change_of(read)
    ends = (*change.old, *change.new) if change else arrival_of(read) if _NOW.search(text) else ()
    return Told(0, "decision") if any(_settled(word.raw) for word in ends) else None


def _swapped(claim: str) -> bool:
    """Whether one value of a kind is denied for another: "nightly, not weekly"."""
    found = re.search(rf"\b({NAME}),? not ({NAME})", claim)
    one, other = (class_of(found[n].lower()) for n in (1, 2)) if found else ("", "")
    return bool(one) and one == other and one not in _PASSING_CLASSES


def _clause(text: str, at: int) -> int:
    """Find where the clause around `at` begins."""
    return max((mark.end() for mark in _BORDER.finditer(text, 0, at)), default=0)


def shown(claim: str) -> bool:
    """Whether the subject of a claim is what a page or a program shows."""
    subject = _SUBJECT_END.split(claim, maxsplit=1)[0]
    return not _SHOWN.isdisjoint(re.findall(r"[a-z]+", subject.lower()))


def _telling(word: Word) -> bool:
    return (bool(kinds(word.form)) and class_of(word.form) not in _PASSING_CLASSES) or _settled(word.raw)


def _settled(name: str) -> bool:
    """Whether a name is of something one settles on: a product, a language, a convention, an identifier."""
    bare = name.strip("`'\".,")
    form = bare.lower()
    if form in PRODUCTS or form in LANGUAGES or re.fullmatch(STYLE, form):
        return True
    if form in _CONSTRUCTS or form in _SHOWN or form in STOPWORDS:
        return False
    kind = class_of(form)
    identifier = not bare.isalpha() and any(map(str.isalpha, bare))
    return bool(kind and kind not in _PASSING_CLASSES) or identifier or (bare[:1].isupper() and len(bare) > 1)
