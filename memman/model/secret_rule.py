"""What a class of secrets is: how it is found, and an example that it must and one that it must not catch."""

from collections.abc import Callable
from re import Match

from memman.model.secret_shape import entropy

Likely = Callable[[Match[str]], bool]
# A token begins a word, also behind `_` and `-`; an escape such as `\n` or `%22` may stand right before it.
START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-F]{2}))"
# It ends where a word ends, or is longer than any pattern looks: then all that follows goes too.
END = r"(?:(?![A-Za-z0-9])|(?<=\S{200}))"


def whole(name: str, body: str) -> str:
    """Return the group `name` of what `body` takes, none of which is given back for what comes behind.

    It does what `(?>…)` and `++` are for, which Python 3.11.0 to 3.11.4 takes wrongly.
    """
    return f"(?=(?P<{name}>{body}))(?P={name})"


class Rule:
    """One class of secret.

    `words` decide whether the pattern is tried at all, `likely` whether what
    it found is a secret; `caught` and `spared` are examples.
    """

    __slots__ = ("caught", "likely", "name", "pattern", "spared", "words")

    def __init__(
        self, name: str, words: str, pattern: str, caught: str, spared: str, likely: Likely = lambda _: True
    ) -> None:
        self.name, self.words, self.pattern = name, words.split("|"), pattern
        self.caught, self.spared, self.likely = caught, spared, likely


def random(least: float) -> Likely:
    """Return what asks for an entropy of `least` bits a character."""
    return lambda match: entropy(match["secret"]) >= least


def token(name: str, words: str, body: str, caught: str, spared: str, least: float = 2.5) -> Rule:
    """Return the rule of tokens that say by their beginning what they are; `least` is their entropy in bits."""
    return Rule(name, "|".join(words.split()), f"{START}(?P<secret>{body}){END}", caught, spared, random(least))
