"""Whether a rule's pattern matches a command line: its words, whole and in order, in one simple command.

The first is a program that is run, and not an argument. Between two words of a pattern may stand options of the command
with their values, and nothing else; options of the pattern may stand anywhere. `*` is any words, or within a word any
letters; `a | b` is two commands in a row. The hook and `rule test` ask the same function. Safe on the hot path.
"""

from memman.model.shell import Command, base, option, places, unversioned

# The words of a command, and its options in groups; the first of a group stands for all of it.
_TABLE = (
    ("rm", "-r -R --recursive|-f --force"),
    ("cp", "-r -R --recursive|-f --force"),
    ("chmod", "-R --recursive"),
    ("chown", "-R --recursive"),
    ("git push", "--force -f|--delete -d|--set-upstream -u"),
    ("git commit", "--no-verify -n|--all -a"),
    ("git clean", "--force -f"),
    ("git branch", "--force -f|--delete -d|--move -m"),
    ("git checkout", "--force -f"),
    ("docker system prune", "--force -f|--all -a"),
    ("docker rm", "--force -f|--volumes -v"),
    ("docker rmi", "--force -f"),
    ("docker compose down", "--volumes -v"),
    ("kubectl", "--all-namespaces -A|--namespace -n|--filename -f"),
    ("npm", "--global -g|--save-dev -D|--force -f"),
    ("curl", "--insecure -k|--request -X"),
    ("terraform", "-auto-approve --auto-approve"),
)


ANY = "*"
# Letters of what may be several options in one word: -rfv, and not -exec.
_CLUSTER = 3


def matches(pattern: list[Command], line: list[Command]) -> bool:
    """Whether commands of a line that follow each other are what those of a pattern are; nothing is without any."""
    return bool(pattern) and any(
        all(
            _found(wanted, there) and (n == len(pattern) - 1 or there.piped or not wanted.piped)
            for n, (wanted, there) in enumerate(zip(pattern, line[first : first + len(pattern)], strict=True))
        )
        for first in range(len(line) - len(pattern) + 1)
    )


def _found(pattern: Command, command: Command) -> bool:
    """Whether a pattern's words stand in a command, from a program on that is run."""
    wanted, words = _split(pattern.words), _split(command.words)
    if command.folded:
        wanted, words = ([word.lower() for word in some] for some in (wanted, words))
    names = _names([base(word) for word in wanted if not option(word)])
    wanted, words = ([names.get(word, word) for word in some] for some in (wanted, words))
    if wanted[0] == ANY or option(wanted[0]):
        return _rest(wanted, words, 0, loose=True)
    return any(
        _named_program(wanted[0], words[at]) and _rest(wanted[1:], words[at + 1 :], 0, loose=False)
        for at in places(words)
    )


def _split(words: list[str]) -> list[str]:
    """Return words as they are compared: options apart from values and each other, no slash at a path's end."""
    split = []
    for word in words:
        name, equals, value = word.partition("=")
        if not option(word):
            split.append(_plain(word))
        elif equals:
            split += [name, _plain(value)]
        elif word[1:].isalpha() and len(word) <= 1 + _CLUSTER:
            split += [f"-{letter}" for letter in word[1:]]
        else:
            split.append(word)
    return split


def _plain(word: str) -> str:
    word = word[:1] + word[1:].rstrip("/")
    return word.removeprefix("./") or word


def _names(program: list[str]) -> "dict[str, str]":
    """Return by each option of a command that has several names the first of them; `program` are its words."""
    return {
        name: group.split()[0]
        for words, groups in _TABLE
        if _within(words.split(), program)
        for group in groups.split("|")
        for name in group.split()
    }


def _within(wanted: list[str], words: list[str]) -> bool:
    """Whether words follow each other in others, whatever stands between."""
    left = iter(words)
    return all(word in left for word in wanted)


def _named_program(wanted: str, word: str) -> bool:
    """Whether a word is a program of that name, wherever it lies, in whatever version: pip3.12 is pip."""
    wanted, name = wanted.removesuffix(".exe"), word if "/" in wanted else base(word) or word
    return _same(wanted, name) or (not wanted[-1:].isdigit() and _same(wanted, unversioned(name)))


def _rest(wanted: list[str], words: list[str], at: int, *, loose: bool) -> bool:
    """Whether the rest of a pattern stands in `words` from `at` on; `loose`: anywhere, not only behind options."""
    if not wanted:
        return True
    if wanted[0] == ANY:
        return _rest(wanted[1:], words, at, loose=True)
    if option(wanted[0]):
        return _option(wanted, words, at, loose=loose)
    for place in range(at, len(words)):
        if _same(wanted[0], words[place]) and _rest(wanted[1:], words, place + 1, loose=False):
            return True
        if not (loose or _passed(words, place)):
            return False
    return False


def _passed(words: list[str], at: int) -> bool:
    """Whether a word may stand between two of a pattern: an option, the value of one, or `name=value`."""
    name, equals, _ = words[at].partition("=")
    return option(words[at]) or (at > 0 and option(words[at - 1])) or (equals != "" and name.isidentifier())


def _option(wanted: list[str], words: list[str], at: int, *, loose: bool) -> bool:
    """Do what `_rest` does where an option comes next: it may stand anywhere, with the word behind it as its value."""
    for place in (n for n, word in enumerate(words) if _same(wanted[0], word)):
        bare = place + 1 == len(words) or option(words[place + 1])
        if bare and _rest(wanted[1:], words, at, loose=True):
            return True
        valued = not bare and len(wanted) > 1 and _same(wanted[1], words[place + 1])
        if valued and _rest(wanted[2:], words, at, loose=loose):
            return True
        if place >= at and _rest(wanted[1:], words, place + 1, loose=True):
            return True
    return False


def _same(wanted: str, word: str) -> bool:
    """Whether a word is the one wanted, in which * stands for any letters."""
    if ANY not in wanted:
        return wanted == word
    begin, *middle, end = wanted.split(ANY)
    if len(word) < len(begin) + len(end) or not (word.startswith(begin) and word.endswith(end)):
        return False
    at, last = len(begin), len(word) - len(end)
    for part in middle:
        found = word.find(part, at, last)
        if found < 0:
            return False
        at = found + len(part)
    return True
