"""What makes a sentence a matter of the moment, a question, a guess, or somebody else's words."""

import re

from memman.llm.builtin.orders import DO, DOING
from memman.llm.builtin.patterns import choice, cues

_ARTEFACT = choice(
    """file function method class test component one line button page case time loop block query section endpoint
    ticket branch pr commit script table column field handler hook module variable screen form modal dialog paragraph
    sentence task step change fix migration call config instance""",
)
_MOMENT = re.compile(
    r"\b(?:for now|for the moment|at the moment|right now|just this once|this once|this time|only today|temporarily|yet"
    rf"|until I|(?:in|for|on|at|to|from|inside|of) (?:this|that|these|those|the same) (?:\w+ )?{_ARTEFACT}s?)\b",
    re.IGNORECASE,
)
_HERE = cues("here above below this_(?:one|way) current")
_GUESS = cues(
    r"""maybe perhaps might not_sure wonder(?:ing)? i_guess what_if suppose let's_say hypothetically imagine probably
    should_(?:we|i) shall_(?:we|i) could_(?:we|i) thinking_(?:of|about) considering would_it someday at_some_point
    (?:will|may|might|could)_(?:\w+_){0,8}in_(?:the_)?future in_(?:the_)?future,?_(?:this|the|more|it|we_may)
    (?:we|you)_may_(?:want|need|have)_to (?:once|if|when|after|until|unless)_we(?:'ve|'re)?""",
)
_ADVISED = re.compile(r"\b(?:if|when|whenever) (?:you(?:'re| are) )?(?:in doubt|unsure|not sure)", re.IGNORECASE)
_REPORTED = re.compile(
    r"(?<!\bI )(?<!\bwe )\b(?:says?|said|saying|stat(?:es?|ed)|claim(?:s|ed)?|reads|complain\w*|suggest(?:s|ed)?"
    r"|recommend(?:s|ed)?|writes|wrote|mention(?:s|ed)?|warns?|according to|(?:tells?|told|asks|asked) (?:me|us)"
    r"|report(?:s|ed)|argues?|thinks?|believes?)\b",
    re.IGNORECASE,
)
_SOURCE = cues(
    """blog post article docs documentation readme book guide slack stack_overflow reviewer wiki tutorial thread tweet
    datasheet manual spec ticket issue comment mail email customer client reads""",
)
_TROUBLE = cues(
    r"""fails? failed failing errors? broke broken breaks? crash(?:es|ed|ing)?
    (?<!every_)(?<!each_)(?<!any_)bugs?(?!_?fix) stack_?trace not_working stuck doesn't_work does_not_work
    isn't_working is_not_working stopped_working exception hangs? too_much too_many weird still
    can't_(?:find|see|run|connect)""",
)
# Somebody states something and then asks for something in one breath.
_TAIL = re.compile(r"(?:,|;| so| and)+ (?:please )?(?:can|could|would|will) (?:you|u)\b[^?]*\?$", re.IGNORECASE)
_DOUBT = re.compile(
    r"(?:or|and|but|so|hmm*|ok)?[, ]*(?:(?:is|was|does|do|would|should|are|did) (?:that|this|it|we"
    r"|you (?:agree|think))\b|or not|what do you|what's your|thoughts|agreed?\b|true\b|any (?:opinion|thoughts))",
    re.IGNORECASE,
)
_ASKING = re.compile(
    r"(?:(?:and|but|so|ok|hey|hi|well|also|please)[, ]+)*"
    r"(?:what(?!ever)|why|how(?! (?:many times|often)\b)|when (?!you)"
    r"|where|which|who|whose|does|did|do (?:we|you|i|they)|is|are|was|were|has"
    r"|have (?:you|we)|can (?:i|we|it)|should|shall|isn't|aren't|doesn't"
    r"|didn't|don't (?:we|you|they|i)|won't|any idea)\b",
    re.IGNORECASE,
)
_POLITE = re.compile(
    r"(?:(?:and|but|so|ok|hey|hi|well|also|please|thanks|btw)[,.! ]+)*"
    r"(?:can|could|would|will) you (?:please |kindly |just |maybe )*",
    re.IGNORECASE,
)
_ONE = r"(?:one|version|option|approach|solution|variant|layout|idea|way|thing)"
_WHICH = choice("first second third last latter former other old new current previous original simple simpler")
# Taking one of what was offered.
_CHOSEN = re.compile(
    r"\b(?:prefer|like|love|want|rather|hate|with|use|keep(?! that in mind)|chose|chosen|picked|agreed on|have)(?: to)?"
    r"(?: have| use| go with| keep| do)? (?:it|that|this|these|those|them|so|yours|option|variant|approach|plan|version"
    rf"|(?:the|your) (?:{_WHICH}|\w+er|\w+ {_ONE}|{_ONE}))\b",
    re.IGNORECASE,
)
# Who does what next is a plan, whoever decided it.
_ASSIGNED = re.compile(
    r"\b(?:decided|agreed|settled|opted)\b.*\b(?:I|you|he|she)(?:'ll| will| should)? (?!can\b)\w+", re.IGNORECASE
)
_PLANNED = re.compile(r"\bto do (?:this|it|that) (?:in|by|step|first|with)\b|\bsteps?\b.*:", re.IGNORECASE)
_OBJECTLESS = re.compile(
    rf"(?:\w+,? ){{0,3}}?(?:{DO}|{DOING}|want) (?:that|this|it|so|them|these|those)\b[\w ]*[.!]*", re.IGNORECASE
)
_TASK = choice(
    """write add implement create translate print show insert put generate handle fix change build log display output
    render rename replace remove document""",
)
_LED = re.compile(rf"(?:please |and |now |then |ok |can you |could you )*{_TASK}\b", re.IGNORECASE)
_PURPOSE = re.compile(
    r"\b(?:check|ensure|because|if|whether|why|what|how|who|which|that|where|when|while|until|unless|as"
    r"|makes sure|ensures)\s*$",
    re.IGNORECASE,
)
_SO = re.compile(rf"(?:please |and |now |then |ok |can you |could you )*(?:{_TASK}|{DO})\b.*[^,] so\s*$", re.IGNORECASE)
# A case that somebody other than the agent brings about.
_CASE = re.compile(r"(?:if|when|while|where|unless)\b(?! (?:you|in doubt|unsure|something|anything)\b)", re.IGNORECASE)
_LOOKED_AT = 80  # characters of a clause in which its object stands


def polite(text: str) -> str:
    """Turn "could you please always …?" into the order it is."""
    asked = _POLITE.match(text)
    return text[asked.end() :].rstrip("?! ") if asked else text


def stated(text: str) -> str:
    """Leave out what is asked at the end of a sentence that states something first: "we use tabs, can you …?"."""
    asked = text.endswith("?") and _TAIL.search(text)
    return text[: asked.start()] if asked else text


def doubted(after: str) -> bool:
    """Whether a sentence asks what to think of the one before it."""
    return after.endswith("?") and bool(_DOUBT.match(after))


def asking(text: str) -> bool:
    """Whether a sentence asks."""
    return text.endswith("?") or bool(_ASKING.match(text))


def guessing(text: str) -> bool:
    """Whether a sentence weighs what might be."""
    return bool(_GUESS.search(text)) and not _ADVISED.search(text)


def here(text: str) -> bool:
    """Whether a sentence points at what is on the screen."""
    return bool(_HERE.search(text))


def trouble(text: str) -> bool:
    """Whether a sentence tells of something that goes wrong."""
    return bool(_TROUBLE.search(text))


def leaning(clause: str) -> bool:
    """Whether a clause says what to do only with something said before it."""
    return bool(_OBJECTLESS.fullmatch(clause))


def tasked(lead: str) -> bool:
    """Whether what leads up to a clause is an order of its own."""
    return bool(_LED.match(lead))


def passing(text: str, at: int, *, offered: bool = True) -> bool:
    """Whether the clause at `at` is of the moment, reported, part of a task, or, if `offered`, a choice of what was."""
    lead, clause = text[:at], text[at:]
    if lead.rstrip().endswith(":") and _SOURCE.search(lead):
        return True
    if _PURPOSE.search(lead) or _SO.match(lead) or _REPORTED.search(lead) or _CASE.match(lead):
        return True
    if any(shape.search(clause) for shape in (_MOMENT, _ASSIGNED, _PLANNED)):
        return True
    return (offered and bool(_CHOSEN.search(clause[:_LOOKED_AT]))) or (lead.rstrip().endswith(":") and tasked(lead))
