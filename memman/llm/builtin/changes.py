"""What a sentence says has changed: out with the old, in with the new."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from memman.llm.builtin.grammar import ASIDES, LINKS, PREPOSITIONS, VACUOUS, VERBS
from memman.llm.builtin.patterns import choice, cues
from memman.llm.builtin.statement import Sentence, Word, content_of, root, words_of

_MOVED = choice(
    r"""moved migrated switched changed converted ported transitioned went gone shifted bumped upgraded downgraded
    updated increased decreased raised lowered reduced cut renamed rewrote rewritten swapped flipped extended
    shortened relocated grew dropped jumped rose fell reverted rolled ended_up_\w+ing""",
)
_GONE = choice(
    """dropped removed deprecated retired ditched abandoned deleted sunset decommissioned phased_out shut_down
    turned_off switched_off killed killed_off gone dead uninstalled discontinued scrapped axed history""",
)
_REMOVED = choice(
    """dropped removed deprecated retired ditched abandoned deleted sunset sunsetted decommissioned phased_out axed
    scrapped got_rid_of shut_down turned_off switched_off killed killed_off gave_up_on moved_off moved_away_from
    migrated_off migrated_away_from switched_away_from stopped_using quit_using ceased_using uninstalled
    discontinued tore_out ripped_out""",
)
_USING = choice(
    """using use uses used running run runs deploy deploying deploys host hosting build building rely relying
    depend test store need have""",
)
_BE = choice("was were is are has_been have_been had_been got is_being")
_UNUSED = choice("used supported needed available in_use part maintained required running deployed")
_TOOK_OVER = choice("replaces replaced supersedes superseded took_over_from takes_over_from succeeds succeeded")
_INSTEAD = choice(
    r"""in_favou?r_of for
    and_(?:now_|we_)?(?:moved|switched|migrated|went|use|run|deploy)(?:_back|_over)?(?:_to|_on)?"""
)
_AT = "(?:using |on |with |in |to |at )?"
_P = r"(?<!\S)[^\s,;:!?()]+(?: [^\s,;:!?()]+){0,5}?"
_AFTER = choice(
    """because since for in on as to after before due so and but when while with at by last this yesterday today
    which now from instead everywhere across during entirely completely altogether again ago a_while over_the""",
)
_END = rf"(?=$|[,;:!?()]|\.$|\.\s| [\u2014\u2013-] | {_AFTER}\b)"
_OLD, _NEW = rf"(?P<old>{_P})", rf"(?P<new>{_P})"


def _compiled(*shapes: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(shape, re.IGNORECASE) for shape in shapes)


# The first shape that fits is taken, so the ones that name both ends come first.
_BOTH = _compiled(
    rf"\b{_MOVED}\b(?: [^\s,;:]+){{0,6}}? (?:away |over )?from {_OLD},? (?:over |back )?to {_NEW}{_END}",
    rf"\b{_MOVED}\b(?: [^\s,;:]+){{0,6}}? (?:over |back )?to {_NEW} from {_OLD}{_END}",
    rf"\bswapped {_OLD} out (?:with|by|for) {_NEW}{_END}",
    rf"\b(?:replaced|swapped|swapped out|exchanged|traded|traded in) {_OLD} (?:with|by|for) {_NEW}{_END}",
    rf"{_OLD} {_BE} (?:now |finally )?(?:replaced|superseded|succeeded|swapped out) (?:by|with|for) {_NEW}{_END}",
    rf"{_NEW} (?:has |have |now )?{_TOOK_OVER} {_OLD}{_END}",
    rf"\b{_REMOVED} {_OLD} {_INSTEAD} {_NEW}{_END}",
    rf"{_OLD} {_BE} (?:now |finally )?{_GONE} in favou?r of {_NEW}{_END}",
    rf"\brenamed {_OLD} (?:to|as|into) {_NEW}{_END}",
    rf"{_OLD} {_BE} (?:now )?renamed (?:to|as|into) {_NEW}{_END}",
    rf"{_OLD} (?:is|are) now (?:called|named|known as) {_NEW}{_END}",
    rf"(?:^|[,;.] )(?P<old>(?-i:[A-Z])[^\s,;:]+) (?:is|are|became) now (?P<new>(?-i:[A-Z])[^\s,;:]*){_END}",
    rf"{_NEW} (?:instead of|rather than|in place of|in lieu of) {_AT}{_OLD}{_END}",
    rf"{_NEW}(?: now)?,(?: and)? not {_AT}{_OLD}(?: anymore)?{_END}",
    rf"\bnot {_AT}{_OLD},? but (?:rather )?{_NEW}{_END}",
)
_RETIRED = _compiled(
    rf"{_OLD} (?:is|are) no longer {_UNUSED}{_END}",
    rf"\bno longer (?:{_USING} |supports? |deployed |hosted )?{_AT}{_OLD}{_END}",
    rf"\bnot {_USING}? ?{_AT}{_OLD} anymore",
    rf"{_OLD} (?:is|are) not {_UNUSED} anymore",
    rf"\bstopped {_USING} {_AT}{_OLD}{_END}",
)
_REMOVALS = _compiled(
    rf"\b{_REMOVED} (?:support for )?{_OLD}{_END}",
    rf"{_OLD} {_BE} (?:now |finally |fully |completely |all )?{_GONE}{_END}",
)
_ARRIVED = _compiled(
    rf"\b{_MOVED}\b(?: [^\s,;:]+){{0,5}}? (?:over |back )*(?:to|on) {_NEW}{_END}",
    rf"\bnow (?:{_USING} )?{_AT}{_NEW}{_END}",
    rf"\b{_USING} {_AT}{_NEW} now\b",
    rf"\bback (?:on|to|with) {_NEW}{_END}",
)
# What follows an old end that is out of use: "…, now B", "…; we use B instead".
_FOLLOWED = _compiled(
    r"[,;.] (?:and |but |so )?(?:we |it |they |everything )?"
    rf"(?:now|instead|use|using|is now|are now|moved to|switched to)(?: now| instead)?(?: {_USING})? ?{_AT}{_NEW}"
    r"(?=$|[,;.]| (?:now|instead|for|in|because|since)\b)",
    rf"[,;] {_NEW} (?:now|instead|is used)\b",
)
_CUES = re.compile(
    r"^(?:correction|update|edit|fix|erratum|actually|in fact|(?:it )?turns out|as of [^,]{1,30}|from now on"
    r"|these days|going forward|nowadays|no)[,:;]? (?:that )?"
    r"|,? \b(?:now|nowadays|these days|actually|from now on|going forward|instead)\b",
    re.IGNORECASE,
)
# No shape can match without one of these.
_TRIGGER = cues(
    """from replaces replaced swapped exchanged traded superseded supersedes succeeds succeeded took takes instead
    rather not place lieu longer anymore stopped quit ceased now moved migrated switched gave got tore ripped
    gone dead history renamed became """
    + _REMOVED[3:-1].replace(" ", "_").replace("|", " "),
)
# Changes of a value told without the old one, written as the value that now holds.
_SET = choice(
    """changed moved raised lowered set bumped upgraded increased reduced decreased updated extended shortened
    switched cut""",
)
_RESTATED = tuple(
    (re.compile(shape, re.IGNORECASE), stated)
    for shape, stated in (
        (rf"\b{_BE} (?:now )?renamed (?:to|as)\b", "is named"),
        (r"^(?:we |i )?(?:have |has )?(?:just )?renamed (.{1,60}?) (?:to|as) ", r"\1 is named "),
        (rf"\b(?:{_BE}|went|moved) (?:now )?(?:{_SET}|up|down)(?: up| down| back)? to\b", "is"),
        (rf"^(?:we |i )?(?:have |has )?(?:just )?{_SET} (.{{1,60}}?) (?:to|at) ", r"\1 is "),
    )
)
_DENIED = re.compile(r"\bno longer\b|\bnot\b.*\banymore\b", re.IGNORECASE)
_NOT = cues("no_longer not anymore")


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
    borders = [
        i for i, word in enumerate(words) if word.form in VERBS or word.form in PREPOSITIONS or word.form in LINKS
    ]
    return words[borders[-1] + 1 :] if borders and borders[-1] + 1 < len(words) else words


_CHANGING = frozenset(
    root(word)
    for word in re.findall(r"[a-z]+", f"{_MOVED} {_REMOVED} {_GONE} {_USING} no longer anymore rather not going back")
)


def topic_of(sentence: Sentence, *known: tuple[Word, ...]) -> frozenset[str]:
    """Gather what the sentence speaks of besides the ends of its change and the circumstances."""
    end = next((i for i, word in enumerate(sentence.words) if i > 1 and word.form in ASIDES), None)
    said = {word.stem for words in known for word in words}
    return frozenset(content_of(sentence.words[:end])) - said - _CHANGING - PREPOSITIONS - LINKS


def _match(shapes: Iterable[re.Pattern[str]], text: str, start: int = 0) -> Iterator[re.Match[str]]:
    """Try each shape that fits `text`, in the order of the table."""
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
    """Find the new end of a change that does not name the old one: "we switched to B", "we now use B"."""
    found = next(_match(_ARRIVED, sentence.text), None)
    return _noun(found["new"]) if found else ()


@lru_cache(maxsize=1024)
def settled(text: str) -> str:
    """Leave the words out that only say that something is new: "actually", "now", "correction:"."""
    for shape, stated in _RESTATED:
        text = shape.sub(stated, text, count=1)
    return " ".join(_CUES.sub(" ", text).split())


def denied(text: str) -> str:
    """Tell what "no longer" or "not … anymore" says was so before, or ''."""
    if not _DENIED.search(text):
        return ""
    return " ".join(_NOT.sub(" ", text.split(",", 1)[0].split(";", 1)[0]).split())
