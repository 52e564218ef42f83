"""What a sentence says has changed: out with the old, in with the new."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from memman.llm.builtin.statement import LINKS, PREPOSITIONS, VACUOUS, VERBS, Sentence, Word, content_of, root, words_of

_MOVED = (
    r"(?:moved|migrated|switched|changed|converted|ported|transitioned|went|gone|shifted|bumped|upgraded|downgraded|updated"
    r"|increased|decreased|raised|lowered|reduced|cut|renamed|rewrote|rewritten|swapped|flipped|extended|shortened"
    r"|relocated|grew|dropped|jumped|rose|fell|reverted|rolled|ended up \w+ing)"
)
_REMOVED = (
    r"(?:dropped|removed|deprecated|retired|ditched|abandoned|deleted|sunset|sunsetted|decommissioned|phased out|axed|scrapped"
    r"|got rid of|shut down|turned off|switched off|killed|killed off|gave up on|moved off|moved away from|migrated off"
    r"|migrated away from|switched away from|stopped using|quit using|ceased using|uninstalled|discontinued|tore out|ripped out)"
)
_GONE = (
    r"(?:dropped|removed|deprecated|retired|ditched|abandoned|deleted|sunset|decommissioned|phased out|shut down|turned off"
    r"|switched off|killed|killed off|gone|dead|uninstalled|discontinued|scrapped|history)"
)
_USING = r"(?:using|use|uses|used|running|run|runs|deploy|deploying|deploys|host|hosting|build|building|rely|depend|test|store|need|have)"
_BE = r"(?:was|were|is|are|has been|have been|had been|got|is being)"
_P = r"(?<!\S)[^\s,;:!?()]+(?: [^\s,;:!?()]+){0,5}?"
_END = (
    r"(?=$|[,;:!?()]|\.$|\.\s| [—–-] | (?:because|since|for|in|on|as|to|after|before|due|so|and|but|when|while|with|at|by|last"
    r"|this|yesterday|today|which|now|from|instead|everywhere|across|during|entirely|completely|altogether|again|ago|a while"
    r"|over the)\b)"
)
_OLD, _NEW = rf"(?P<old>{_P})", rf"(?P<new>{_P})"


def _compiled(*shapes: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(shape, re.IGNORECASE) for shape in shapes)


# The first shape that fits is taken, so the ones that name both ends come first.
_BOTH = _compiled(
    rf"\b{_MOVED}\b(?: [^\s,;:]+){{0,6}}? (?:away |over )?from {_OLD},? (?:over )?to {_NEW}{_END}",
    rf"\b{_MOVED}\b(?: [^\s,;:]+){{0,6}}? (?:over |back )?to {_NEW} from {_OLD}{_END}",
    rf"\b(?:replaced|swapped|swapped out|exchanged|traded|traded in|substituted) {_OLD} (?:with|by|for) {_NEW}{_END}",
    rf"\bswapped {_OLD} out (?:with|by|for) {_NEW}{_END}",
    rf"{_OLD} {_BE} (?:now |since |finally )?(?:replaced|superseded|succeeded|swapped out) (?:by|with|for) {_NEW}{_END}",
    rf"{_NEW} (?:has |have |now )?(?:replaces|replaced|supersedes|superseded|took over from|takes over from|succeeds|succeeded) {_OLD}{_END}",
    rf"\b{_REMOVED} {_OLD} (?:in favou?r of|for|and (?:now |we )?(?:moved|switched|migrated|went|use|run|deploy)(?: back| over)?(?: to| on)?) {_NEW}{_END}",
    rf"{_OLD} {_BE} (?:now |finally )?{_GONE} in favou?r of {_NEW}{_END}",
    rf"\brenamed {_OLD} (?:to|as|into) {_NEW}{_END}",
    rf"{_OLD} {_BE} (?:now )?renamed (?:to|as|into) {_NEW}{_END}",
    rf"{_OLD} (?:is|are) now (?:called|named|known as) {_NEW}{_END}",
    rf"(?:^|[,;.] )(?:the )?(?P<old>(?-i:[A-Z])[^\s,;:]+) (?:is|are|became) now (?P<new>(?-i:[A-Z])[^\s,;:]*){_END}",
    rf"{_NEW} (?:instead of|rather than|in place of|in lieu of) (?:using |on |with |in |to )?{_OLD}{_END}",
    rf"{_NEW}(?: now)?,(?: and)? not (?:on |in |with |at |using )?{_OLD}(?: anymore)?{_END}",
    rf"\bnot (?:on |in |with |at )?{_OLD},? but (?:rather )?{_NEW}{_END}",
)
_RETIRED = _compiled(
    rf"{_OLD} (?:is|are) no longer (?:used|supported|needed|available|in use|part|maintained|required|running|deployed){_END}",
    rf"\bno longer (?:{_USING} |supports? |deployed |hosted )?(?:on |with |in |to )?{_OLD}{_END}",
    rf"\bnot {_USING}? ?(?:on |with |in |to )?{_OLD} anymore",
    rf"{_OLD} (?:is|are) not (?:used|in use|supported|needed|available) anymore",
    rf"\bstopped (?:{_USING}|deploying|hosting|building|running|relying) (?:on |with |in |to )?{_OLD}{_END}",
)
_REMOVALS = _compiled(
    rf"\b{_REMOVED} (?:support for )?{_OLD}{_END}",
    rf"{_OLD} {_BE} (?:now |finally |fully |completely |all )?{_GONE}{_END}",
)
_ARRIVED = _compiled(
    rf"\b(?:moved|migrated|switched|converted|transitioned|went|gone|upgraded|bumped|updated|downgraded|reverted|rolled"
    rf"|changed|settled)\b(?: [^\s,;:]+){{0,5}}? (?:over |back )*(?:to|on) {_NEW}{_END}",
    rf"\bnow (?:{_USING} )?(?:on |with |in |to )?{_NEW}{_END}",
    rf"\b{_USING} (?:on |with |in |to )?{_NEW} now\b",
    rf"\bback (?:on|to|with) {_NEW}{_END}",
)
# What follows an old end that is out of use: "…, now B", "…; we use B instead".
_FOLLOWED = _compiled(
    rf"[,;.] (?:and |but |so )?(?:we |it |they |everything )?(?:now|instead|use|using|is now|are now|moved to|switched to)"
    rf"(?: now| instead)?(?: {_USING})?(?: on| with| in| to)? {_NEW}(?=$|[,;.]| (?:now|instead|for|in|because|since)\b)",
    rf"[,;] {_NEW} (?:now|instead|is used)\b",
)
_CUES = re.compile(
    r"^(?:correction|update|edit|fix|erratum|actually|in fact|(?:it )?turns out|as of [^,]{1,30}|from now on|these days"
    r"|going forward|nowadays|no)[,:;]? (?:that )?"
    r"|,? \b(?:now|nowadays|these days|actually|from now on|going forward|instead)\b",
    re.IGNORECASE,
)
# No shape can match without one of these.
_TRIGGER = re.compile(
    r"\b(?:from|replace[sd]|swapped|exchanged|traded|substituted|superseded|supersedes|succeed(?:s|ed)|took|takes|instead|rather"
    r"|not|place|lieu|longer|anymore|stopped|quit|ceased|now|moved|migrated|switched|gave|got|tore|ripped|gone|dead|history"
    rf"|renamed|{_REMOVED[3:-1]})\b",
    re.IGNORECASE,
)


# Changes of a value told without the old one, written as the value that now holds.
_RESTATED = tuple(
    (re.compile(shape, re.IGNORECASE), plain)
    for shape, plain in (
        (r"\b(?:was|were|is|are|has been|have been|got) (?:now )?renamed (?:to|as)\b", "is named"),
        (r"^(?:we |i )?(?:have |has )?(?:just )?renamed (.{1,60}?) (?:to|as) ", r"\1 is named "),
        (r"\b(?:was|were|is|are|has been|have been|got|went|moved) (?:now )?(?:changed|moved|raised|lowered|set|bumped|upgraded"
         r"|increased|reduced|decreased|updated|extended|shortened|switched|cut|up|down)(?: up| down| back)? to\b", "is"),
        (r"^(?:we |i )?(?:have |has )?(?:just )?(?:changed|raised|lowered|set|bumped|increased|reduced|decreased|updated|extended"
         r"|shortened|switched|moved) (.{1,60}?) (?:to|at) ", r"\1 is "),
    )
)  # fmt: skip
_DENIED = re.compile(r"\bno longer\b|\bnot\b.*\banymore\b", re.IGNORECASE)
_NOT = re.compile(r"\b(?:no longer|not|anymore)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Change:
    """What was, what is; `new` is empty where nothing took its place. `rest` is what else the sentence says.

    `gone` means that the old end itself is no more, not only our use of it.
    """

    old: tuple[Word, ...]
    new: tuple[Word, ...]
    rest: frozenset[str]
    gone: bool = False


def _trimmed(phrase: str) -> tuple[Word, ...]:
    """Leave the articles and pronouns at the edges of a phrase out of it."""
    words = list(words_of(phrase))
    while words and (words[0].form in VACUOUS or words[0].form in PREPOSITIONS):
        words.pop(0)
    while words and words[-1].form in VACUOUS:
        words.pop()
    return tuple(words)


def _noun(phrase: str) -> tuple[Word, ...]:
    """Take the noun at the end of "we use pnpm" in "we use pnpm instead of npm"."""
    words = _trimmed(phrase)
    borders = [i for i, word in enumerate(words) if word.form in VERBS or word.form in PREPOSITIONS or word.form in LINKS]
    return words[borders[-1] + 1 :] if borders and borders[-1] + 1 < len(words) else words


_CHANGING = frozenset(root(word) for word in re.findall(r"[a-z]+", f"{_MOVED} {_REMOVED} {_GONE} {_USING} no longer anymore rather not"))
_ASIDE = frozenset("after before when while despite during until once though although".split())


def topic_of(sentence: Sentence, *known: tuple[Word, ...]) -> frozenset[str]:
    """What the sentence speaks of besides the ends of its change and the circumstances."""
    end = next((i for i, word in enumerate(sentence.words) if i > 1 and word.form in _ASIDE), None)
    said = {word.stem for words in known for word in words}
    return frozenset(content_of(sentence.words[:end])) - said - _CHANGING - PREPOSITIONS - LINKS


def _match(shapes: Iterable[re.Pattern[str]], text: str, start: int = 0) -> Iterator[re.Match[str]]:
    """Each shape that fits `text`, in the order of the table."""
    return (found for shape in shapes if (found := shape.search(text, start)))


@lru_cache(maxsize=1024)
def change_of(sentence: Sentence) -> Change | None:
    """Read the change a sentence states whose old end it names; None when it states none."""
    text = sentence.text
    if not _TRIGGER.search(text):
        return None
    for found in _match(_BOTH, text):
        old, new = _noun(found["old"]), _noun(found["new"])
        if old and new and content_of(old) != content_of(new):
            return Change(old, new, topic_of(sentence, old, new))
    for found in _match((*_RETIRED, *_REMOVALS), text):
        old = _noun(found["old"])
        if old:
            after = next(_match(_FOLLOWED, text, found.end("old")), None)
            new = _noun(after["new"]) if after else ()
            return Change(old, new, topic_of(sentence, old, new), gone=found.re in _REMOVALS)
    return None


@lru_cache(maxsize=1024)
def arrival_of(sentence: Sentence) -> tuple[Word, ...]:
    """The new end of a change that does not name the old one: "we switched to B", "we now use B"."""
    found = next(_match(_ARRIVED, sentence.text), None)
    return _noun(found["new"]) if found else ()


@lru_cache(maxsize=1024)
def settled(text: str) -> str:
    """Leave the words out that only say that something is new: "actually", "now", "correction:"."""
    for shape, stated in _RESTATED:
        text = shape.sub(stated, text, count=1)
    return " ".join(_CUES.sub(" ", text).split())


def denied(text: str) -> str:
    """What "no longer" or "not … anymore" says was so before, or ''."""
    if not _DENIED.search(text):
        return ""
    return " ".join(_NOT.sub(" ", text.split(",", 1)[0].split(";", 1)[0]).split())
