"""Category and importance of a statement, by weighted cue words."""

import re

from memman.model.records import DEFAULT_IMPORTANCE

# Category → (weight, cues). The earlier category wins a tie.
_CUES: dict[str, tuple[tuple[int, str], ...]] = {
    "preference": (
        (3, r"\bprefers?\b|\bpreferred\b|\bi (?:really )?(?:like|love|hate|want|dislike)\b|\bpreference\b"
            r"|^(?:always|never|please|avoid|do not|don't|make sure)\b|\b(?:user|he|she) (?:wants|likes|hates)\b"
            r"|\b(?:should|must) (?:always|never)\b|\bi'd rather\b|\bfavou?rite\b"),
        (2, r"^use\b|\bplease\b|: (?:always|never|use|prefer|avoid|don't|do not)\b|\bwe (?:always|never)\b"
            r"|\b(?:don't|do not) (?:use|add|write|commit|push|touch)\b|\bnever (?:use|add|commit|push|touch|run)\b"),
        (1, r"\balways\b|\bnever\b|\bshould\b|\bmust\b|^(?:keep|run|write|put|add|ask)\b"),
    ),
    "decision": (
        (3, r"\bdecided\b|\bdecision\b|\bwe(?:'ve| have)? (?:chose|chosen|picked|agreed|settled|opted)\b"
            r"|\b(?:going|went|go) with\b|\bwe(?:'ll| will) (?:use|go|keep|adopt|ship)\b|\bagreed (?:to|on|that)\b"
            r"|\bsettled on\b|\bopted (?:for|to)\b|\bwe chose\b"),
        (3, r"\b(?:switched|migrated|moved|changed) (?:\S+ ){0,4}?(?:to|from|off|over)\b|\breplaced\b|\bno longer\b"
            r"|\binstead of\b|\bstopped using\b|\bin favou?r of\b|\brenamed\b|\bfrom now on\b"),
        (2, r"\bdropped\b|\badopted\b|\bdeprecated\b|\brejected\b|\bchosen\b|\bpicked\b|\bupgraded\b|\bapproved\b"),
    ),
    "insight": (
        (4, r"\bturns? out\b|\broot cause\b|\blessons?\b|\blearn(?:ed|t)\b|\bthe trick\b|\bgotcha\b|\bthe reason\b"
            r"|\bworkaround\b|\bpitfall\b|\bbeware\b|\bcaveat\b|\btil\b|\brealised\b|\brealized\b|\bdiscovered\b"),
        (2, r"\bbecause\b|\bcaused by\b|\bdue to\b|\bthe (?:fix|problem|issue|bug|key|cause|culprit) (?:is|was)\b"
            r"|\bfound (?:out|that)\b|\bonly works?\b|\bfixed by\b|\bas a result\b|\bleads? to\b|\bwatch out\b"),
    ),
    "context": (
        (3, r"\bcurrently\b|\bworking on\b|\bin progress\b|\bnext steps?\b|\bthis (?:week|month|sprint|morning)\b"
            r"|\bto ?do:|\btodo\b|\bwip\b|\bright now\b|\bat the moment\b|\bblocked (?:on|by)\b|\bwaiting (?:for|on)\b"),
        (2, r"\btoday\b|\btomorrow\b|\byesterday\b|\bnext week\b|\bfor now\b|\bdone:|\btemporar(?:y|ily)\b|\bdeadline\b"),
    ),
}  # fmt: skip
_THRESHOLD = 2
# What moves importance away from the middle, each counted once.
_SHIFTS = (
    (1, r"\balways\b|\bnever\b|\bmust\b|\bmandatory\b|\brequired\b|\bforbidden\b|\bdo not\b|\bdon't\b"),
    (1, r"\bsecur(?:ity|e)\b|\bproduction\b|\bcritical\b|\bimportant\b|\bbreaking\b|\bdata loss\b|\boutage\b"
        r"|\bsecrets?\b|\bcredentials?\b|\bpasswords?\b|\bvulnerab\w{0,10}\b|\bincident\b|\bcompliance\b|\bgdpr\b"),
    (1, r"\bactually\b|\bcorrection\b|\bno longer\b|\bwrong\b|\binstead of\b|\bnot\b[^.]{1,60}\bbut\b|\broot cause\b"),
    (1, r"\bdecided\b|\bdecision\b|\bagreed\b|\bremember\b"),
    (-1, r"\bmaybe\b|\bperhaps\b|\bmight\b|\bpossibly\b|\bprobably\b|\bnot sure\b|\bi think\b|\bseems?\b|\bcould\b"),
    (-1, r"\btoday\b|\bcurrently\b|\bright now\b|\bat the moment\b|\bfor now\b|\bin progress\b|\bthis (?:week|morning)\b"
         r"|\bwip\b|\bworking on\b"),
    (-1, r"\btrivial\b|\bminor\b|\bfyi\b|\bnit\b|\bcosmetic\b|\bby the way\b"),
)  # fmt: skip
_BOUND = 2000  # characters looked at; a statement is far shorter


def _compiled(cues: str) -> re.Pattern[str]:
    """Compile cues that are matched against lower-case text."""
    return re.compile(cues)


_CATEGORY = {name: tuple((weight, _compiled(cue)) for weight, cue in cues) for name, cues in _CUES.items()}
_IMPORTANCE = tuple((shift, _compiled(cue)) for shift, cue in _SHIFTS)


def category(text: str) -> str:
    """Name the category whose cues weigh most, 'fact' when none weighs enough."""
    said = text[:_BOUND].lower()
    weights = {name: sum(w for w, cue in cues if cue.search(said)) for name, cues in _CATEGORY.items()}
    best = max(weights, key=lambda name: weights[name])
    return best if weights[best] >= _THRESHOLD else "fact"


def importance(text: str) -> int:
    """Rate a statement from 1 (may be forgotten) to 5 (must not be)."""
    said = text[:_BOUND].lower()
    return min(5, max(1, DEFAULT_IMPORTANCE + sum(shift for shift, cue in _IMPORTANCE if cue.search(said))))
