"""Whether what stands where a secret would stand is one, or a word, a name, a type, a placeholder or code."""

import re
from collections.abc import Callable
from itertools import pairwise
from math import log2

# Names of things: words, each with a number of two digits at most, joined as in files, hosts and variables.
_PIECE = r"(?:k8s|[A-Za-z]{1,14}\d{0,2}|\d{1,4})"
_NAME = rf"{_PIECE}(?:[-_./:=|+]{{1,3}}{_PIECE})*[_.]{{0,3}}"
_TERM = (
    r"(?i:(?:base\d\d|sha\d|md5|argon2|bcrypt|scrypt|pbkdf2|oauth2?|utf-?8|[her]s\d{3}|aes|ed25519|x509|ecdsa|rsa|hmac)"
    r"[\w.-]{0,20}|v\d+(?:\.\d+)*(?:-\w+)?)"
)
_AMOUNT = (
    r"(?i:\d{1,6}(?:\.\d+)?[-_]?(?:[kmgt]?b|k|m|ms|s|secs?|seconds?|min|minutes?|h|hours?|d|days?|weeks?|months?|years?|"
    r"chars?|characters?|bytes?|bits?|digits?|tokens?|words?|times|%|x))"
)
_DATE = r"\d{4}-\d\d-\d\d(?:[T_ ].*)?"
EMAIL = r"[\w.+-]+@[\w-]+(?:\.[A-Za-z]{2,})+"
# Technical terms, amounts and dates.
ORDINARY = f"{_TERM}|{_AMOUNT}|{_DATE}"
# What a program puts behind the name of a machine: `web-7f8d9c6b5-x2k4q`.
POD = r"[a-z][a-z0-9-]{1,60}-[0-9a-f]{8,10}-[a-z0-9]{5}"
# A part that is filled in, a pattern or a hash, wherever it stands in a value.
_HOLE = (
    r"[$#%]?\{\{?\s?[A-Za-z_][\w.]*\s?\}|[$#]\{|\$\(|%[({]\w+[)}]|\w-\w\]|<[a-z_ -]+>|"
    r"\$(?:2[abxy]?|argon2\w*|y|apr1|pbkdf2[\w-]*)\$"
)
UNSPOKEN = r"(?i)[bcdfghjklmnpqrstvwxz]{5}"


def entropy(text: str) -> float:
    """Return the Shannon entropy of `text`, in bits a character."""
    shares = [text.count(char) / len(text) for char in set(text)]
    return -sum(share * log2(share) for share in shares)


def named(value: str) -> bool:
    """Whether it is made of words and short numbers, as files, hosts and variables are called; in a path of any."""
    short = re.sub(r"(?<=/)\d{5,20}(?=/|$)", "1", value)
    return bool(re.fullmatch(_NAME, short)) and not re.search(UNSPOKEN, short)


def scrambled(value: str) -> bool:
    """Whether three kinds of characters take turns as no name's, no date's and no code's do: drawn with punctuation."""
    form = kinds(value)
    if len(value) < 12 or not value.isascii() or len({*form}) < 3 or 2 * turns(form) < len(value):  # noqa: PLR2004
        return False
    if "://" in value or "[redacted:" in value or re.search(_HOLE, value) or entropy(value) < 3.0:  # noqa: PLR2004
        return False
    return not (named(value.lstrip("/.~")) or re.fullmatch(f"{ORDINARY}|{EMAIL}|{POD}", value))


def kinds(value: str) -> str:
    """Say of each character whether it is a small letter, a capital, a digit or a mark."""
    return "".join(
        "a" if char.islower() else "A" if char.isupper() else "0" if char.isdigit() else "-" for char in value
    )


def turns(form: str) -> int:
    """Count how often the kind of character changes."""
    return sum(one != other for one, other in pairwise(form))


Check = Callable[[re.Match[str]], bool]

# Values that stand for a secret, or say that there is one.
_WORDS = frozenset(
    """
    apikey basic bearer changeme change_me change-me default digest disabled dummy empty enabled encrypted example
    expired false foobar hashed hidden incorrect invalid masked missing mandatory none null optional placeholder
    plaintext redacted removed replaceme required rotated sample secretstr something string testing todo true
    undefined unknown unset unspecified 1password lastpass bitwarden keychain vaultwarden
    """.split()
)
_KEYWORD = r"(?i:pass|pwd|secret|token|key|cred|auth)"
_CAMEL = r"[a-z]{2,}(?:[A-Z][a-z]{2,})+|(?:[A-Z][a-z]{2,})+"
_CALL = r"[A-Za-z_][\w.]*(?:\(|\[|\{|::|->)"
# The same between quotes, where code comes with the bracket that closes it.
_WHOLE_CALL = r"[A-Za-z_][\w.]*(?:\(.*\)|\[.*\]|\{.*\}|::.*|->.*)(?:\.\w+)*[;,]?"
# A variable, a template, a hash, a type, a link, a pattern of characters: what may stand in a value's place.
_TEMPLATE = (
    r"\$(?:[{(]|(?:argon2\w*|2[abxy]?|1|5|6|7|y|gy|apr1|pbkdf2[\w-]*|scrypt|sha\d+|bcrypt\w*)\$|"
    r"[A-Za-z_]\w*(?![\w$!@#%^&*+~?]))|[{(\[]{2}|\{%|\[(?:[^\]\s]{0,80}\]\(|[^\]\s]{0,80}(?:a-z|A-Z|0-9))|"
    r"[{/](?![^\s]{0,80}[!#^*$])|<[^<>]{1,80}>+$|%\(|%\w+%$|[.:&][\w.-]+$|(?:\.{1,2}|~)/"
)
# Letters of languages that put no blank behind a value.
_EASTERN = r"[\u3000-\u9fff\uac00-\ud7af\uff00-\uffef]"
# First characters that a value without quotes has only if it was drawn at random.
_ODD_STARTS = "<.~%&>|:…"
_MARKS = r"[!@#$%^&*?+~]"
_TURN = r"(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])"
# Users' names and passwords as programs come with them.
_DEFAULTS = frozenset(
    """
    admin changeme example guest minio minioadmin mysql pass password postgres pwd rabbitmq root secret test user
    """.split()
)
# Keys that find something: in a table, a cache, a map.
_FINDS = (
    r"(?i)(?:public|pub|cache|primary|foreign|partition|sort|row|object|s3|idempotency|routing|map|dict|index|hash|"
    r"search|unique|composite|natural|surrogate|item|group|bucket|lookup|blob|file|artifact|restore|dedup\w*|request|"
    r"correlation|trace|shard|redis|kms|range|message|translation|feature|query|react|arrow|registry)$"
)
_SECURES = (
    r"(?i)(?:encrypt\w*|decrypt\w*|sign\w*|master|deploy\w*|licen[cs]e|ssh|private|hmac|webhook|shared|preshared|account|"
    r"auth\w*|app|admin|root|client|consumer|secur\w*|crypto|cipher|aes|jwt|wifi|data|product|subscription|activation|"
    r"write|integration|bot|service|session|access|storage|creds?|api|secret|token|recovery|totp|code)$"
)
# Tokens that say where a list goes on.
_PAGES = "page|next|continuation|starting"
_PAGING = rf"(?:(?<![A-Za-z])(?i:{_PAGES})|{_PAGES.title()})[ _.-]?(?i:token)"
# Characters before a name in which it is said which one, or that it is a token of a service.
_BEFORE = 24
# What stands by a key of a service, by what is none, and the form of everyday ids: a key only where it is called one.
_NAMING = r"(?i)key|token|secret|api|auth|access|client|cred|pass|pwd|licen[cs]e|private"
_DIGEST = r"(?i)sha-?\d|md5|digest|hash|checksum|commit|revision|integrity|etag|public"
_PLAIN = r"[0-9a-fA-F-]+"
_FILLED = r"[\"']?[A-Za-z0-9+/=]{8,}"
_HEX = r"(?i)[0-9a-f-]+|[0-9a-f]{8,}[:/][0-9a-f]+"
_ENDING = r"(?:tion|sion|ing|ment|ity|ies|ed|ness|[ai]ble|ally|ology|[ae]nce|ive|ical|ship|ism|er|or|ion|ent|ant)s?"


def password(match: re.Match[str]) -> bool:
    """Whether a password's place holds one: a mixture of seven, or letters that are no word."""
    value = _value(match)
    if scrambled(match["secret"]):
        return True
    if _spared(value, quoted=_quoted(match)) or _variable(value):
        return False
    if value.isdigit():
        return len(value) >= 6 and not match.groupdict().get("tail")  # noqa: PLR2004 - a PIN of six
    if value.isalpha():
        return _no_word(value, 10 if _tight(match) else 16)
    return len(value) >= 7 and any(map(str.isalpha, value))  # noqa: PLR2004 - "hunter2"


def mentioned(match: re.Match[str]) -> bool:
    """Whether the word beside a password's name is one: behind `with` a mixture of seven, else one that no name is."""
    value = _value(match)
    if match.groupdict().get("lead") and scrambled(match["secret"]):
        return True
    if not _mixed(value) or _spared(value) or _variable(value) or re.fullmatch(rf"{EMAIL}|\w+@[\w.-]+", value):
        return False
    if match.groupdict().get("lead"):
        return len(value) >= 7  # noqa: PLR2004 - "hunter2"
    odd = re.search(_MARKS, value) is not None or len(re.findall(_TURN, value)) >= 3  # noqa: PLR2004 - "k3y9Zq27"
    return len(value) >= 8 and odd and not named(value)  # noqa: PLR2004


def token(match: re.Match[str]) -> bool:
    """Whether a token's place holds one: letters and digits in no order that a name has, and no page of a list."""
    if _paging(match):
        return False
    if scrambled(match["secret"]):
        return True
    quoted = _quoted(match)
    value = _first(match["secret"]) if quoted else _head(match["secret"])
    mixed = _mixed(value)
    if len(value) < (8 if mixed else 16) or not (mixed or re.search(UNSPOKEN, value)):
        return False
    if re.match(_TEMPLATE, value) or value[0] in ("" if quoted else "$({[/=" + _ODD_STARTS):
        return False
    if _spared(value, quoted=quoted) or named(value) or re.fullmatch(f"{EMAIL}|{POD}", value):
        return False
    # Dates and counters have fewer bits a character.
    return entropy(value) >= 2.8  # noqa: PLR2004


def drawn(match: re.Match[str]) -> bool:
    """Whether a key's place holds random characters, and the key is not one that finds a thing."""
    value, which = match["secret"], _which(match)
    if re.search(_FINDS, which) or _paging(match) or entropy(value) < 3.0:  # noqa: PLR2004 - bits a character
        return False
    if _quoted(match) and scrambled(value):
        return True
    if not _mixed(value):
        return False
    if re.fullmatch(_HEX, value) and not re.search(_SECURES, which):
        return False
    return len(re.findall(_TURN, value)) >= 3 and token(match)  # noqa: PLR2004


def _paging(match: re.Match[str]) -> bool:
    """Whether the name is that of a page's token."""
    start = max(0, match.start() - _BEFORE)
    said = match.string[start : match.start("secret")]
    return any(start + found.end() > match.start() for found in re.finditer(_PAGING, said))


def _which(match: re.Match[str]) -> str:
    """Return the word that says which key it is: `primary` of `primary_key`, and `creds` of `creds`."""
    called = match.groupdict().get("called") or ""
    said = match.string[max(0, match.start("called") - _BEFORE) : match.start("called")] + called if called else called
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", re.sub(r"(?i)key.*", "", said))
    return words[-1] if words else ""


def field(match: re.Match[str]) -> bool:
    """Whether a field that is called after a secret holds one of its kind."""
    called = match["called"].lower()
    if re.search("pass|pwd|kennwort", called):
        return password(match)
    return token(match) if re.search("secret|token|api|access|cred", called) else drawn(match)


def shuffled(match: re.Match[str]) -> bool:
    """Whether 40 characters of base64 are random ones: cases and digits take turns as no path's do."""
    form = kinds(match["secret"])
    return {*"aA0"} <= {*form} and turns(form) >= 14 and entropy(match["secret"]) >= 4.2  # noqa: PLR2004


def login(match: re.Match[str]) -> bool:
    """Whether the part behind a user's name is a password rather than a group, a placeholder or a program's own."""
    value = match["secret"]
    if scrambled(value):
        return True
    if value[0] in "*%<" or re.match(_TEMPLATE, value) or value.lower() in _DEFAULTS or "[redacted:" in value:
        return False
    return len(value) >= 6 or not value.isdigit()  # noqa: PLR2004 - more digits than a port has


def drawn_within(match: re.Match[str]) -> bool:
    """Whether what stands between a user's name and the last `@` of an address was drawn at random."""
    return scrambled(match["secret"])


def cookie(match: re.Match[str]) -> bool:
    """Whether a cookie holds a value that was drawn at random."""
    values = [pair.partition("=")[2] for pair in match["secret"].split(";")]
    return any(
        len(value) >= 12 and value.isascii() and not _spared(value) and not named(value) and entropy(value) >= 2.8  # noqa: PLR2004
        for value in values
    )


def filled(match: re.Match[str]) -> bool:
    """Whether one of a manifest's values is more than a template."""
    return any(re.match(_FILLED, line.partition(":")[2].strip()) for line in match[0].splitlines())


def keyed(match: re.Match[str]) -> bool:
    """Whether what follows a service's name is a key of it rather than a name, a digest or an id."""
    value, gap = match["secret"], match["gap"]
    said = match.string[max(0, match.start() - _BEFORE) : match.start()] + gap
    if not any(map(str.isdigit, value)) or re.search(_DIGEST, gap) or named(value):
        return False
    if re.fullmatch(_PLAIN, value):
        return bool(re.search(_NAMING, said))
    return entropy(value) >= 2.4  # noqa: PLR2004 - bits a character


_NAMED: dict[str, Check] = {
    check.__name__: check
    for check in (cookie, drawn, drawn_within, field, filled, keyed, login, mentioned, password, shuffled, token)
}


def check(said: str) -> Check:
    """Return what judges a match: by name, as `entropy 2.5` that many bits a character, and '' nothing."""
    name, _, least = said.partition(" ")
    if name == "entropy":
        bits = float(least)
        return lambda match: entropy(match["secret"]) >= bits
    return _NAMED[name] if name else lambda _: True


def _value(match: re.Match[str]) -> str:
    """Return a password without what surrounds it; nothing for a variable, a template, a path or a type."""
    value, quoted = match["secret"], _quoted(match)
    if re.match(_TEMPLATE, value) or "[redacted:" in value or (value[0] in _ODD_STARTS and not quoted):
        return ""
    bare = value.lstrip("$({[/=")
    return _first(bare) if quoted else _head(bare)


def _quoted(match: re.Match[str]) -> bool:
    return bool(re.search(r"[\"'`]", match.groupdict().get("open") or ""))


def _first(value: str) -> str:
    """Return the first word of what stands between quotes."""
    return value.split(maxsplit=1)[0] if value.strip() else ""


def _head(value: str) -> str:
    """Cut off what follows a value in code or in a sentence."""
    return re.split(rf"[,;)}}\]<>\"'`]|{_EASTERN}", value, maxsplit=1)[0].rstrip(".:?")


def _mixed(value: str) -> bool:
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def _tight(match: re.Match[str]) -> bool:
    found = match.groupdict()
    return "=" in found.get("sep", "=") or found.get("open", "'") != ""


def _spared(value: str, *, quoted: bool = False) -> bool:
    """Whether it is a placeholder, a marker, code, a technical term, a date, an address or the name of a thing."""
    if not value or value.lower().strip("-_.!*") in _WORDS or entropy(value) < 1.5 or "[redacted:" in value:  # noqa: PLR2004
        return True
    called = re.fullmatch(_WHOLE_CALL, value) if quoted else re.match(_CALL, value)
    if "://" in value or called or re.fullmatch(ORDINARY, value):
        return True
    return named(value) and not value.isalnum()


def _variable(value: str) -> bool:
    """Whether it is a variable that is called after a secret: `db_password`, `newPassword2`."""
    few = sum(map(str.isdigit, value)) < 2  # noqa: PLR2004 - digits
    return few and bool(re.fullmatch(r"\w+", value)) and bool(re.search(_KEYWORD, value))


def _no_word(value: str, least: int) -> bool:
    """Whether letters are no word: they cannot be spoken, or are many without the ending of a long word."""
    if len(value) >= 10 and re.search(UNSPOKEN, value):  # noqa: PLR2004
        return True
    return len(value) >= least and not re.search(f"{_ENDING}$", value) and not re.fullmatch(_CAMEL, value)
