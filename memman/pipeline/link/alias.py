"""Other names for the same thing, read from what facts say: k8s = Kubernetes, the billing service is called Ledger."""

import re
from collections.abc import Iterator

from memman.model.terms import STOPWORDS, name, parts, words

# Characters and words of a name, pairs one fact may give, and characters of a sentence: longer ones are data.
_SHORTEST, _LONGEST, _WORDS, _MOST = 2, 40, 4, 6
_LONGEST_SENTENCE = 400
# A text without any of these names nothing twice.
_CUES = ("(", "=", "call", "named", "known", "a.k.a", "aka", "short", "stands", "mean", "refer", "alias", "formerly",
         "abbreviat", "dubbed", "acronym", "codename", "code name", "synonym", "nickname", "another name", "\u2261",
         "\u2194")  # fmt: skip
# A word that shortens another is at most this part of it.
_SHORTENS = 0.7

# What a sentence says of a thing, or how, and never what it is called.
_NO_NAMES = STOPWORDS | frozenset(
    """formerly usual usually needed required necessary expected described planned intended stated possible appropriate
    documented written agreed such before always well ever follows good bad fast slow quick stable unstable reliable
    unreliable safe unsafe secure insecure easy hard difficult simple complex flaky noisy expensive cheap new old big
    small best worst better worse great nice broken deprecated legacy experimental official final ready done important
    optional mandatory friendly strict slower faster twice once thrice daily weekly monthly yearly hourly nightly
    often rarely directly quickly slowly again later early late first last today tomorrow yesterday
    quality reliability speed truth reference law standard rule guide basis authority source example project team
    company user people thing somebody someone everyone nobody nothing everything it them way place time
    monday tuesday wednesday thursday friday saturday sunday""".split()
)

# Single sign-on, dial-in: these end a name.
_PARTICLES = frozenset(["on", "in", "up", "off", "out", "down"])

_QUOTES = str.maketrans(dict.fromkeys('`"*\u201c\u201d\u00ab\u00bb'))
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|[;\n]+")
_WORD = r"[^\W_](?:[\w+#/&-]|\.(?=\w))*"
_RUN = rf"{_WORD}(?: {_WORD}){{0,{_WORDS - 1}}}"
_THE = r"(?:(?:the|our|an?|my|its|their|this) )?"
# What a thing is called: several words in capitals, or one.
_COINED = rf"(?:[A-Z]\w*(?: [A-Z]\w*){{1,2}}|{_WORD})"
_END = r"(?=\s*(?:[.,:!?)\]]|$)| (?:and|but|because|since|so|in|for|which|internally|here|now|by|when|on|at|to)\b)"
_PARTICIPLES = "nicknamed|codenamed|code-named|dubbed|abbreviated(?: as| to)?"
_KNOWN = "known as|referred to as"

_WE = r"\b(?:we|they|people|everyone|everybody) (?:also |often |usually )?"
_ALIAS = r"(?:an? (?:alias|abbreviation|nickname|shorthand|synonym|acronym))"
_IS_NAME = r"(?:our|another|the) (?:name|word|nickname|codename|code name)"
_OTHER_NAMES = r"(?:alias|abbreviation|nickname|codename|code name|short name|acronym)"
_AKA = r"(?:aka|a\.k\.a\.?|also known as|also called|formerly known as|formerly called)"
_BEING = r"(?:(?:is|are|was|were) )?(?:also |usually |often |internally )?"
_BEFORE = r"(?:^|\b(?:the|our|with|on|of|in|to|for|use|uses|from|that|and|where) )"
_IS = r"(?i:is|are|was) (?i:(?:also|now|usually|internally) )?(?i:called|named)"
_ONE, _OTHER = rf"(?P<one>{_WORD})", rf"(?P<other>{_RUN}?)"

# Words that leave no doubt that one name means another.
_SURE = (
    rf"\b{_ONE} (?:is|are) (?:{_ALIAS}|{_IS_NAME}) (?:for|of) {_THE}{_OTHER}{_END}",
    rf"\bby {_ONE} (?:we|i|they|people) mean {_THE}{_OTHER}{_END}",
    rf"\b{_OTHER_NAMES} (?:for|of) {_THE}{_OTHER} is {_ONE}{_END}",
    rf"{_WE}abbreviate {_THE}{_OTHER} (?:as|to) {_THE}{_ONE}{_END}",
    rf"{_WE}refer to {_THE}{_OTHER} (?:as|to) (?:the|our) {_ONE}{_END}",
    rf"{_BEFORE}{_THE}{_OTHER},? {_BEING}(?:{_PARTICIPLES}) {_THE}{_ONE}{_END}",
    rf"{_BEFORE}{_THE}{_OTHER},? [(]?{_BEING}{_AKA} {_THE}{_ONE}{_END}",
)
# Words that also praise and describe: a side must look like a name, or shorten the other.
_LIKELY = (
    rf"\b{_ONE} (?:is|are) (?:short|shorthand) for {_THE}{_OTHER}{_END}",
    rf"\b{_ONE} stands for {_THE}{_OTHER}{_END}",
    rf"{_WE}refer to {_THE}{_OTHER} (?:as|to) {_ONE}{_END}",
    rf"{_BEFORE}{_THE}{_OTHER},? {_BEING}(?:{_KNOWN}) {_THE}{_ONE}{_END}",
)
# Words that also call functions and people: what is called must look like a name.
_CALLED = (
    rf"(?i:{_WE}(?:call|nickname|named) (?:the|our|this|that)) {_OTHER} (?P<one>{_COINED}){_END}",
    rf"(?i:(?:^|\b(?:the|our|that|and) )(?:(?:the|our|my|its) )?){_OTHER} {_IS} (?P<one>{_COINED}){_END}",
)
_LIKELY_RULES = [re.compile(rule, re.IGNORECASE) for rule in _LIKELY]
_SURE_RULES = [re.compile(rule, re.IGNORECASE) for rule in _SURE]
_CALLED_RULES = [re.compile(rule) for rule in _CALLED]
_EQUALS = "(?:=|==|:=|<=>|\u2261|\u2194)"
_EQUAL = re.compile(
    rf"(?:^|[(:,] ?){_THE}(?P<one>{_RUN}) ?{_EQUALS} ?{_THE}(?P<other>{_RUN})(?=[.,)]|$)", re.IGNORECASE
)
_ASIDE = re.compile(rf"(?P<one>{_RUN}) [(]{_THE}(?P<other>{_RUN})[)]", re.IGNORECASE)


def aliases(text: str) -> list[tuple[str, str]]:
    """Return the pairs of names that `text` says mean the same, as names are compared."""
    plain = text.lower()
    if not any(cue in plain for cue in _CUES):
        return []
    sentences = _SENTENCE_END.split(text.translate(_QUOTES))
    said = (pair for sentence in sentences if len(sentence) <= _LONGEST_SENTENCE for pair in _said(sentence))
    found = (_pair(one, other) for one, other in said)
    return list(dict.fromkeys(pair for pair in found if pair))[:_MOST]


def _said(sentence: str) -> Iterator[tuple[str, str]]:
    for rule in _SURE_RULES:
        yield from ((match["one"], match["other"]) for match in rule.finditer(sentence))
    for rule in _LIKELY_RULES:
        yield from ((match["one"], match["other"]) for match in rule.finditer(sentence) if _named(match))
    for rule in _CALLED_RULES:
        yield from ((match["one"], match["other"]) for match in rule.finditer(sentence) if _coined(match["one"]))
    for match in _EQUAL.finditer(sentence):
        one, other = match["one"], match["other"]
        if abbreviates(one, other) or abbreviates(other, one):
            yield one, other
    for match in _ASIDE.finditer(sentence):
        yield from _aside(match["one"].split(" "), match["other"].split(" "))


def _aside(before: list[str], inside: list[str]) -> Iterator[tuple[str, str]]:
    """Find what in Continuous Integration (CI), or in k8s (Kubernetes), is the same."""
    for size in range(1, len(before) + 1):
        long = " ".join(before[-size:])
        if len(inside) == 1 and abbreviates(inside[0], long):
            yield inside[0], long
            return
    if abbreviates(before[-1], " ".join(inside)):
        yield before[-1], " ".join(inside)


def abbreviates(short: str, long: str) -> bool:
    """Whether one word is made of the letters of a longer name: CI, k8s, db, GHA."""
    if " " in short or not short[:1].isalnum() or short.casefold() == long.casefold():
        return False
    letters, whole = short.casefold(), long.casefold()
    initials = "".join(piece[0] for word in words(long) for piece in parts(word)).casefold()
    if letters == initials and len(letters) >= _SHORTEST:
        return True
    if " " in long or letters[0] != whole[0] or len(letters) > _SHORTENS * len(whole):
        return False
    middle = letters[1:-1]
    if middle.isdigit():
        return int(middle) == len(whole) - 2 and letters[-1] == whole[-1]
    rest = iter(whole)
    return len(letters) >= _SHORTEST and letters.isalpha() and whole.isalpha() and all(c in rest for c in letters)


def _coined(one: str) -> bool:
    """Whether a word is a name by its shape: called Ledger, called billing-v2, not called twice."""
    return one != one.lower() or not one.isalpha()


def _named(match: re.Match[str]) -> bool:
    """Whether one of two names is coined, which a capital at the start of a sentence does not tell, or is shortened."""
    one, other = match["one"], match["other"]
    if abbreviates(one, other) or abbreviates(other, one):
        return True
    return any(
        (word[1:] != word[1:].lower() or not word.isalpha() or (word[0].isupper() and at > 0))
        for side in ("one", "other")
        for at, word in enumerate(match[side].split(" "), match.start(side))
    )


def _pair(one: str, other: str) -> tuple[str, str] | None:
    first, second = name(one), name(other)
    return (first, second) if first != second and _nameable(first) and _nameable(second) else None


def _nameable(one: str) -> bool:
    split = one.split(" ")
    whole = _SHORTEST <= len(one) <= _LONGEST and len(split) <= _WORDS
    sound = split[0] not in STOPWORDS and (split[-1] not in _NO_NAMES or (len(split) > 1 and split[-1] in _PARTICLES))
    return whole and sound and not all(word.isdigit() for word in split)
