"""Whether what stands where a secret would stand is one, or a word, a name, a type, a placeholder or code."""

import re
from itertools import pairwise
from math import log2

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
# Names of things: words, each with a number of two digits at most, joined as in files, hosts and variables.
_PIECE = r"(?:k8s|[A-Za-z]{1,14}\d{0,2}|\d{1,4})"
_NAME = rf"{_PIECE}(?:[-_./:=|+]{{1,3}}{_PIECE})*+[_.]{{0,3}}"
_CAMEL = r"[a-z]{2,}(?:[A-Z][a-z]{2,})+|(?:[A-Z][a-z]{2,})+"
_CALL = r"[A-Za-z_][\w.]*(?:\(|\[|\{|::|->)"
_TERM = (
    r"(?i:(?:base\d\d|sha\d|md5|argon2|bcrypt|scrypt|pbkdf2|oauth2?|utf-?8|[her]s\d{3}|aes|ed25519|x509|ecdsa|rsa|hmac)"
    r"[\w.-]{0,20}|v\d+(?:\.\d+)*(?:-\w+)?)"
)
_AMOUNT = (
    r"(?i:\d{1,6}(?:\.\d+)?[-_]?(?:[kmgt]?b|k|m|ms|s|secs?|seconds?|min|minutes?|h|hours?|d|days?|weeks?|months?|years?|"
    r"chars?|characters?|bytes?|bits?|digits?|tokens?|words?|times|%|x))"
)
_DATE = r"\d{4}-\d\d-\d\d(?:[T_ ].*)?"
_EMAIL = r"[\w.+-]+@[\w-]+(?:\.[A-Za-z]{2,})+"
_ENDING = r"(?:tion|sion|ing|ment|ity|ies|ed|ness|[ai]ble|ally|ology|[ae]nce|ive|ical|ship|ism|er|or|ion|ent|ant)s?"
_UNPRONOUNCEABLE = r"(?i)[bcdfghjklmnpqrstvwxz]{5}"


def entropy(text: str) -> float:
    """Return the Shannon entropy of `text`, in bits a character."""
    shares = [text.count(char) / len(text) for char in set(text)]
    return -sum(share * log2(share) for share in shares)


def password(match: re.Match[str]) -> bool:
    """Whether a password's place holds one: a mixture of seven, or letters that are no word."""
    value = _head(match["secret"])
    if _spared(value) or _variable(value):
        return False
    if value.isdigit():
        return len(value) >= 6 and not match["tail"]  # noqa: PLR2004 - a PIN of six
    if value.isalpha():
        return _no_word(value, 10 if _tight(match) else 16)
    return len(value) >= 7 and any(map(str.isalpha, value))  # noqa: PLR2004 - "hunter2"


def token(match: re.Match[str]) -> bool:
    """Whether a token's place holds one: letters and digits in no order that a name has."""
    value = _head(match["secret"])
    mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    if len(value) < (8 if mixed else 16) or not (mixed or re.search(_UNPRONOUNCEABLE, value)):
        return False
    # Dates and counters have fewer bits a character.
    return entropy(value) >= 2.8 and not (_spared(value) or named(value) or re.fullmatch(_EMAIL, value))  # noqa: PLR2004


def shuffled(match: re.Match[str]) -> bool:
    """Whether 40 characters of base64 are random ones: cases and digits take turns as no path's do."""
    value = match["secret"]
    kinds = ["a" if char.islower() else "A" if char.isupper() else "0" for char in value]
    turns = sum(one != other for one, other in pairwise(kinds))
    return len(set(kinds)) == 3 and turns >= 14 and entropy(value) >= 4.2  # noqa: PLR2004


def login(match: re.Match[str]) -> bool:
    """Whether the part behind a user's name is a password rather than a group or a placeholder."""
    value = match["secret"]
    return value[0] not in "$<{[*%" and not value.isdigit() and value.lower() not in ("password", "pass", "pwd")


def cookie(match: re.Match[str]) -> bool:
    """Whether a cookie holds a value that was drawn at random."""
    values = [pair.partition("=")[2] for pair in match["secret"].split(";")]
    return any(
        len(value) >= 12 and value.isascii() and not _spared(value) and not named(value) and entropy(value) >= 2.8  # noqa: PLR2004
        for value in values
    )


def _head(value: str) -> str:
    """Cut off what follows a value in code or in a sentence."""
    return re.split(r"[,;)}\]<>]", value, maxsplit=1)[0].rstrip(".:?")


def _tight(match: re.Match[str]) -> bool:
    return "=" in match["sep"] or match["open"] != ""


def _spared(value: str) -> bool:
    """Whether it is a placeholder, a marker, code, a technical term, a date, an address or the name of a thing."""
    if not value or value.lower().strip("-_.!*") in _WORDS or entropy(value) < 1.5 or "[redacted:" in value:  # noqa: PLR2004
        return True
    if "://" in value or re.match(_CALL, value) or re.fullmatch(f"{_TERM}|{_AMOUNT}|{_DATE}", value):
        return True
    return named(value) and not value.isalnum()


def named(value: str) -> bool:
    """Whether it is made of words and short numbers, as files, hosts and variables are called."""
    return bool(re.fullmatch(_NAME, value)) and not re.search(_UNPRONOUNCEABLE, value)


def _variable(value: str) -> bool:
    """Whether it is a variable that is called after a secret: `db_password`, `newPassword2`."""
    few = sum(map(str.isdigit, value)) < 2  # noqa: PLR2004 - digits
    return few and bool(re.fullmatch(r"\w+", value)) and bool(re.search(_KEYWORD, value))


def _no_word(value: str, least: int) -> bool:
    """Whether letters are no word: they cannot be spoken, or are many without the ending of a long word."""
    if len(value) >= 10 and re.search(_UNPRONOUNCEABLE, value):  # noqa: PLR2004
        return True
    return len(value) >= least and not re.search(f"{_ENDING}$", value) and not re.fullmatch(_CAMEL, value)
