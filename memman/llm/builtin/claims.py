"""What a sentence claims, as far as two claims can be held against each other."""

import re
from functools import lru_cache

from memman.llm.builtin.lexicon import EXCLUSIVE, PRODUCTS, UNITS, class_of
from memman.llm.builtin.statement import (
    ADVERBS,
    LINKS,
    PREPOSITIONS,
    VACUOUS,
    VERBS,
    Sentence,
    Word,
    content_of,
    root,
)

Span = tuple[Word, ...]

_QUANTITY = re.compile(r"[$-]?v?\d[\d.,_]*(ms|s|m|h|d|k|kb|mb|gb|tb|%|px|x)?")
_SHAPES = (
    ("clock", re.compile(r"\d{1,2}:\d\d|\d{1,2}(?:am|pm)|noon|midnight")),
    ("date", re.compile(r"\d{4}-\d\d(?:-\d\d)?|\d{1,2}(?:st|nd|rd|th)")),
    ("path", re.compile(r"[~.]?(?:/[\w.@\-]+)+|(?:[\w.@\-]+/)+[\w.@\-]*|[\w\-]+\.(?:py|js|ts|toml|ya?ml|json|md|txt|cfg|ini)")),
    ("host", re.compile(r"(?:[\w\-]+\.)+[a-z]{2,}(?::\d+)?|localhost(?::\d+)?|\d+(?:\.\d+){3}(?::\d+)?")),
)
_NUMERALS = frozenset("one two three four five six seven eight nine ten eleven twelve once twice zero".split())
_BE = frozenset("is are be equals".split())
_SUCCEEDING = frozenset({"new", "current"})  # "Priya is the new maintainer"


def _roots(words: str) -> frozenset[str]:
    return frozenset(map(root, words.split()))


# Words that name no subject of their own in "we moved our whole stack from A to B".
GENERIC = _roots(
    """using use team project repo repository codebase code app apps application stack service services platform tool tools
    tooling system infrastructure infra deployments target provider everything all whole entire main primary default current
    new old finally recently completely fully officially just last week month year yesterday ago spring summer autumn
    winter run running runs move moved migrated migrate switched changed change replaced renamed dropped removed no longer
    stopped decided went gone back upgraded bumped updated increased raised lowered reduced been support prefer
    choose chose chosen favor favour away over instead rather not but set got favored now one more up company engineering
    store stored keep kept write written manage managed name named call called actually correction rely depend anymore
    entirely ditched deprecated retired abandoned version from to in on at with by for as of off out and then after before
    during since q1 q2 q3 q4 january february march april may june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday morning good thing workspace organisation organization
    """,
) | {"2023", "2024", "2025", "2026", "2027"}
# Words for the part a product plays; two claims about different parts do not meet.
_PARTS = {
    "hosting": "deploy deploys deployed deploying deployment deployments host hosting hosted ship hosts",
    "database": "database databases db datastore",
    "cache": "cache caching caches",
    "queue": "queue queues queueing broker jobs",
    "search": "search searching",
    "ci": "ci pipeline pipelines",
    "build": "build builds building bundler bundle bundling",
    "manager": "install installs installing dependencies dependency packages",
    "test": "test tests testing runner",
    "lint": "lint linter linting lints",
    "format": "format formatter formatting formats",
    "tracker": "tracker issues tickets",
    "monitoring": "monitoring monitor alerts metrics alerting observability",
    "mail": "mail email emails",
    "auth": "auth authentication login",
    "payments": "payments payment",
    "editor": "editor ide",
    "chat": "chat",
    "sessions": "session sessions",
    "logs": "log logs logging",
    "analytics": "analytics",
    "search index": "indexing",
}
PART = {root(word): part for part, words in _PARTS.items() for word in words.split()}
_ROLE_VERBS = frozenset("runs hosts stores serves handles builds manages powers backs is caches tests lints formats sends".split())
_OWN = _roots("own owns leads lead maintains maintain manages approves reviews")
_FUNCTIONAL = _roots(
    """listen listens live lives reside defaults default point points expire expires belong belongs report reports host hosted
    hosts deploy deploys deployed located store stores stored written scheduled called named resolves owned led
    maintained managed set due served built kept saved""",
) | {"written", "led", "built", "kept", "set", "due"}
_MANY = _roots(
    """support supports include includes contain contains accept accepts provide provides fix fixes test tests add adds see
    visit need expose exposes call calls import imports export exports match matches released release depend depends know
    knows speak speaks read reads send sends mention describe blocks blocked affects works working""",
)
_ATTRIBUTES = _roots(
    """port branch timeout limit version owner lead maintainer manager name url uri region database db email colour color theme
    size count budget deadline license licence language editor shell path directory folder target domain endpoint
    provider schedule day timezone zone price rate threshold interval indentation width length maximum minimum cache
    queue hosting host hostname platform framework bundler runner linter formatter tracker contact reviewer cadence
    frequency window format encoding locale currency level mode strategy retention ttl quota backend orm registry
    repository bucket cluster namespace font""",
)
_UNLIKE = 2  # that many classes of product, or words in a name, are not one thing
_VALUE_WORDS = 4  # a longer difference is another statement
_IRREGULAR_PAST = frozenset("was were went met ran took broke came saw fell wrote sent made found had got gave lost cost hit".split())


def verbal(words: Span, i: int) -> bool:
    """Whether word `i` reads as the verb of the sentence."""
    form = words[i].form
    if form in VERBS:
        return not (words[i].owner or (i and words[i - 1].form in {"the", "a", "an", "our", "my"}))
    if not form.isalpha():
        return False
    after_we = i > 0 and words[i - 1].form in {"we", "i", "they", "you", "not", "never", "always", "to"}
    return after_we or (i > 0 and form.endswith("s") and not form.endswith("ss") and not class_of(form)) or form.endswith("ed")


@lru_cache(maxsize=4096)
def kinds(form: str) -> tuple[str, ...]:
    """What kind of value a word is, a number with its unit as two; () for an ordinary word."""
    quantity = _QUANTITY.fullmatch(form)
    if quantity:
        unit = quantity[1]
        return ("number", {"%": "share"}.get(unit, "time" if unit in {"ms", "s", "m", "h", "d"} else "size")) if unit else ("number",)
    if form in UNITS:
        return (UNITS[form],)
    if form in _NUMERALS:
        return ("number",)
    known = class_of(form)
    if known:
        return (known,)
    return next(((name,) for name, shape in _SHAPES if shape.fullmatch(form)), ())


def _apart(old: Span, new: Span) -> tuple[Span, Span]:
    """What each of two spans has that the other has not."""
    olds, news = {w.stem for w in old}, {w.stem for w in new}
    return tuple(w for w in old if w.stem not in news), tuple(w for w in new if w.stem not in olds)


def exchangeable(old: Span, new: Span) -> bool:
    """Whether two values are of one kind: ports, weekdays, versions, databases, paths."""
    old, new = _apart(old, new)
    were, are = [kinds(word.form) for word in old], [kinds(word.form) for word in new]
    return bool(were and are) and all(were) and all(are) and sum(were, ()) == sum(are, ())


def _nameable(words: Span) -> bool:
    """Whether a value reads as a name: capital, digit, identifier or a known word."""
    return bool(words) and any(
        word.raw[:1].isupper() or not word.form.isalpha() or class_of(word.form) for word in words
    )


def _meaning(words: Span) -> Span:
    return tuple(word for word in words if word.form not in VACUOUS)


def _narrow(words: Span) -> bool:
    """Whether a value drags a place, time or condition behind it."""
    return any(word.form in PREPOSITIONS or word.form in LINKS for word in words)


@lru_cache(maxsize=1024)
def attribute(sentence: Sentence) -> tuple[frozenset[str], Span] | None:
    """Read "the X is Y", "X: Y" and "Y is the X" as (words of X, Y)."""
    words = sentence.words
    colon = next((i for i, w in enumerate(words[:6]) if sentence.text.find(w.raw + ":") >= 0 and w.closed), None)
    if colon is not None:
        cutoff, value = colon + 1, words[colon + 1 :]
        if any(verbal(words, i) for i in range(colon + 1, len(words))):
            return None
    else:
        be = next((i for i, w in enumerate(words) if w.form in _BE), None)
        if be is None or be == 0 or be + 1 >= len(words):
            return None
        cutoff, value = be, words[be + 1 :]
    subject = words[:cutoff]
    if colon is None and value[0].form in {"the", "our", "my"} and set(content_of(value)) & _ATTRIBUTES:
        subject, value = tuple(word for word in value if word.form not in _SUCCEEDING), subject
    value, scope = _headed(_meaning(value))
    name = frozenset(content_of(subject + scope)) - PREPOSITIONS
    return (name, value) if name and value else None


def _headed(value: Span) -> tuple[Span, Span]:
    """Part "on Monday at noon" into what the value is and what narrows it."""
    while value and value[0].form in PREPOSITIONS:
        value = value[1:]
    end = next((i for i, word in enumerate(value) if word.form in PREPOSITIONS or word.form in LINKS), len(value))
    return value[:end], value[end:]


def same_attribute(new: Sentence, old: Sentence) -> bool:
    """Whether both sentences give one attribute, each its own value."""
    ours, theirs = attribute(new), attribute(old)
    if not ours or not theirs or ours[0] != theirs[0]:
        return False
    was, now = _apart(theirs[1], ours[1])
    if not was or not now or max(len(was), len(now)) > _VALUE_WORDS:
        return False
    if exchangeable(theirs[1], ours[1]):
        return True
    named = {ours[1][0].form, theirs[1][0].form} <= {"named", "called"}
    labelled = ":" in new.text and ":" in old.text
    return named or (bool(ours[0] & _ATTRIBUTES) and (labelled or (_nameable(was) and _nameable(now))))


def _differing(new: Span, old: Span) -> tuple[int, int]:
    """How many words two spans share at their beginning and at their end."""
    shortest = min(len(new), len(old))
    first = next((i for i in range(shortest) if new[i].stem != old[i].stem), shortest)
    rest = shortest - first
    last = next((i for i in range(rest) if new[-1 - i].stem != old[-1 - i].stem), rest)
    return first, last


def _past(words: Span, verb: int) -> bool:
    """Whether the verb tells an event rather than a state."""
    form = words[verb].form
    passive = verb > 0 and words[verb - 1].form in {"is", "are", "be", "been", "not"}
    return not passive and (form in _IRREGULAR_PAST or (form.endswith("ed") and form != "need"))


def changed_value(new: Sentence, old: Sentence, *, told: bool) -> bool:
    """Whether the sentences agree but for the value: "listens on 8080", "listens on 9090".

    `told` means that the new one says itself that something changed.
    """
    ours, theirs = _meaning(new.words), _meaning(old.words)
    first, last = _differing(ours, theirs)
    was, now = theirs[first : len(theirs) - last], ours[first : len(ours) - last]
    if not was or not now or max(len(was), len(now)) > _VALUE_WORDS:
        return False
    if first == 0:
        return _other_owner(ours, was, now)
    at = new.words.index(now[0])
    verbs = [i for i in range(at) if verbal(new.words, i)]
    if not verbs or _narrow(was) or _narrow(now) or _past(new.words, verbs[-1]):
        return False
    verb = new.words[verbs[-1]]
    classes = {class_of(word.form) for word in (*was, *now)} - {""}
    passive = verbs[-1] > 0 and new.words[verbs[-1] - 1].form in _BE
    functional = verb.stem in _FUNCTIONAL and (passive or verb.stem not in _OWN)
    if exchangeable(was, now):
        return told or functional or classes <= EXCLUSIVE and verb.stem not in _MANY
    subject = set(content_of(new.words[: verbs[-1]])) - GENERIC
    named = _nameable(was) and _nameable(now)
    if functional:
        return named and bool(subject)
    if not subject - set(PART):
        return False
    like = named or (verb.form not in _BE and _nameable(was) == _nameable(now))
    return told and like and len(classes) < _UNLIKE and max(len(was), len(now)) < _UNLIKE


def _other_owner(words: Span, was: Span, now: Span) -> bool:
    """Whether two sentences differ only in who holds what one party holds."""
    verb = words[len(now)] if len(words) > len(now) else None
    people = all(w.raw[:1].isupper() or w.form in {"team", "squad", "group"} for w in (*was[-1:], *now[-1:]))
    return bool(verb and verb.stem in _OWN and people) and not any(class_of(w.form) for w in (*was, *now))


def _position(words: Span, part: Span) -> int:
    """Where `part` begins in `words`, or -1."""
    wanted = [word.stem for word in part if word.form not in VACUOUS]
    stems = [word.stem for word in words]
    size = len(wanted)
    return next((i for i in range(len(stems) - size + 1) if size and stems[i : i + size] == wanted), -1)


def parts(stems: frozenset[str]) -> frozenset[str]:
    """The parts that are played by what the words speak of."""
    return frozenset(PART[stem] for stem in stems if stem in PART)


def _head(words: Span, end: int) -> bool:
    """Whether the name ending at `end` stands for itself and does not qualify the next word."""
    if words[end - 1].owner:
        return False
    if end == len(words) or words[end - 1].closed:
        return True
    after = words[end]
    return after.form in PREPOSITIONS or after.form in LINKS or after.form in ADVERBS or after.form in VACUOUS or kinds(after.form) == ("number",)


def _governed(words: Span, start: int, topic: frozenset[str]) -> bool:
    """Whether "we use", "X is", "X:" or the like leads up to the name at `start`."""
    verbs = [i for i in range(start) if verbal(words, i) or (words[i].closed and i < 5)]  # noqa: PLR2004 - a label is short
    if not verbs:
        return start == 0 and len(words) == 1
    first, last = verbs[0], verbs[-1]
    between = [w for w in words[last + 1 : start] if w.form not in VACUOUS and w.form not in PREPOSITIONS]
    subject = set(content_of(words[: first + words[first].closed])) - GENERIC - set(PART) - PREPOSITIONS
    return subject <= topic and all(w.stem in GENERIC or w.stem in PART or w.stem in topic for w in between)


def _performs(words: Span, start: int, end: int) -> bool:
    """Whether the name is the subject of a sentence about the part it plays for us."""
    if any(word.form not in VACUOUS for word in words[:start]) or end >= len(words):
        return False
    ours = any(word.form in {"our", "we", "us", "the", "all"} for word in words[end + 1 : end + 3])
    return words[end].form in _ROLE_VERBS and ours


def holds(memory: Sentence, old: Span, topic: frozenset[str]) -> bool:
    """Whether the main claim of `memory` is that `old` is what is used, set or in force, within `topic`."""
    words = memory.words
    start = _position(words, old)
    if start < 0:  # "the staging branch preview" where the memory has "the staging branch is preview"
        return len(old) > 1 and holds(memory, old[-1:], topic | {word.stem for word in old[:-1]})
    end = start + len(_meaning(old))
    stems = frozenset(content_of(words)) - frozenset(word.stem for word in old)
    about = topic - GENERIC - set(PART) - PREPOSITIONS
    if not about <= stems:
        return False
    ours, theirs = parts(topic), parts(stems)
    if ours and theirs and not ours & theirs:
        return False
    if _shared(words, old, topic):
        return False
    weak = all(kinds(word.form) == ("number",) or word.form in UNITS for word in old)
    if weak:
        left = stems - topic - GENERIC - PREPOSITIONS - set(UNITS)
        return bool(about or ours & theirs) and len(left) < 3  # noqa: PLR2004 - subject and verb
    return _performs(words, start, end) or (_head(words, end) and _governed(words, start, topic))


def about(memory: Sentence, thing: Span) -> bool:
    """Whether `memory` has a thing of our own, not a product, as its subject."""
    words = memory.words
    start, end = _position(words, thing), 0
    if start >= 0:
        end = start + len(_meaning(thing))
    ours = not any(word.form in PRODUCTS for word in thing) and len(content_of(thing)) > 1
    leading = all(word.form in VACUOUS for word in words[:start])
    return ours and 0 < end < len(words) and leading and not words[end - 1].owner and verbal(words, end)


def _shared(words: Span, old: Span, topic: frozenset[str]) -> bool:
    """Whether the memory names a second product beside the old one, which must not go with it."""
    mine = {word.stem for word in old}
    return any(word.form in PRODUCTS and word.stem not in mine and word.stem not in topic for word in words)


def rival(memory: Sentence, new: Span, topic: frozenset[str]) -> Span:
    """The name or version in `memory` that `new` takes the place of, or ()."""
    kind = class_of(new[-1].form) if new else ""
    mine = {word.stem for word in new}
    for i, word in enumerate(memory.words):
        if kind and class_of(word.form) == kind and word.stem not in mine and holds(memory, (word,), topic):
            return (word,)
        if i and kinds(word.form) == ("number",) and word.stem not in mine:
            named = memory.words[i - 1].stem
            versioned = named in mine or (named in topic and kinds(new[-1].form) == ("number",))
            if versioned and holds(memory, memory.words[i - 1 : i], topic - mine - {named}):
                return memory.words[i - 1 : i + 1]
    return ()
