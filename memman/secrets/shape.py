"""What a value looks like: the name of a thing, a term, or characters that were drawn at random."""

import re
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
