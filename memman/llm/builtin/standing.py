"""What a user says that shall hold beyond the turn. None is the normal outcome."""

import re
from typing import NamedTuple

from memman.llm.builtin.circumstances import CIRCUMSTANCES
from memman.llm.builtin.customs import CUSTOMS, INSISTED, ORDERED
from memman.llm.builtin.moment import asking, guessing, here, leaning, passing, polite, stated, tasked, trouble
from memman.llm.builtin.naming import changed, corrected, named, shown
from memman.llm.builtin.orders import SHAPES, Shape, clauses, openings
from memman.llm.builtin.patterns import wordset
from memman.model.terms import STOPWORDS, words

_SPAN = re.compile(r'"[^"\n]{1,300}"|\u201c[^\u201d\n]{1,300}\u201d|`[^`\n]{1,300}`')
_TOLD_OF = (*CUSTOMS, *CIRCUMSTANCES)
_OPENINGS = openings((*SHAPES, *_TOLD_OF))
# Words a rule is made of; what is left must say something.
_FRAME = STOPWORDS | wordset(
    """always never please prefer like love hate want rather ever use stop now future forward rule next time remember
    mind forget actually wrong correction keep make sure don doesn didn won rather go ask just really every commits
    single commit""",
)
# What is to be remembered is what follows.
_REMINDER = re.compile(
    r"(?:please |and |also |ok(?:ay)?,? |but )*(?:(?:always )?remember|keep in mind|bear in mind|(?:don't|never) forget"
    r"|for the record|memori[sz]e|note (?:for later|to self)|make a note|take note)(?: that\b|:|,)\s*",
    re.IGNORECASE,
)


class Kept(NamedTuple):
    """A clause that states something lasting."""

    text: str
    category: str


def standing(said: str, before: str = "") -> Kept | None:
    """Judge one sentence of the user's own words; `before` is the one it may lean on."""
    text = stated(polite(said.replace("\u2019", "'")))
    bare = _masked(text)
    if asking(text) or guessing(bare):
        return None
    kept = _shaped(SHAPES, text, bare, before)
    if kept:
        return kept
    told = named(bare) or corrected(bare) or corrected(bare, before) or changed(bare)
    if told:
        return _kept(text[told.at :], told.category)
    return _shaped(_TOLD_OF, text, bare) or _insisted(text, bare, before)


def _masked(text: str) -> str:
    """Blank what stands in quotes or is code, where it is more than a name: it is mentioned, not said."""
    return _SPAN.sub(lambda span: re.sub(r"\w", "\u00b7", span[0]) if " " in span[0] else span[0], text)


def _insisted(text: str, bare: str, before: str) -> Kept | None:
    """Judge an order by the sentence before it: that it had to be given before."""
    said_before = INSISTED.search(before) and ORDERED.match(bare)
    return None if not said_before or here(bare) or shown(bare) or passing(bare, 0) else _kept(text, "preference")


def _shaped(shapes: tuple[Shape, ...], text: str, bare: str, before: str = "") -> Kept | None:
    """Judge by the shapes of orders, preferences, decisions, customs and reminders."""
    starts = clauses(bare, _OPENINGS)
    for shape in shapes:
        for at in shape.places(bare, starts):
            if (
                passing(bare, at, offered=not shape.strong)
                or (shape.weak and here(bare))
                or (shape.wary and trouble(bare))
            ):
                continue
            # What leads up to it explains it, but for a task of this turn.
            return _kept(text[at:] if tasked(bare[:at]) else text, shape.category, before if shape.strong else "")
    return None


def _kept(clause: str, category: str, before: str = "") -> Kept | None:
    clause = _REMINDER.sub("", clause, count=1) if _REMINDER.match(clause) else clause
    clause = clause.strip(" ,;:-\u2014\u2013(")
    empty = leaning(clause) or not ("`" in clause or set(map(str.lower, words(clause))) - _FRAME)
    if empty and (not before or asking(before) or guessing(before)):
        return None
    return Kept(f"{before} {clause}" if empty else clause, category)
