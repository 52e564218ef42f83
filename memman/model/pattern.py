"""Whether a rule's pattern matches a command line: its words, whole and in order, in one simple command.

The first is a program that is run, and not an argument. Between two words of a pattern may stand options of the command
with their values, and nothing else; options of the pattern may stand anywhere. `*` is any words, or within a word any
letters; `a | b` is two commands in a row. The hook and `rule test` ask the same function. Safe on the hot path.
"""

from memman.model.shell import REDIRECTION, Command, base, commands, option, places, unversioned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

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


def canonical(program: list[str]) -> "dict[str, str]":
    """Return by each option of a command that has several names the first of them; `program` are its words."""
    return {
        name: group.split()[0]
        for words, groups in _TABLE
        if _within(words.split(), program)
        for group in groups.split("|")
        for name in group.split()
    }


def renamed(words: list[str], names: "dict[str, str]") -> list[str]:
    """Return words with each such option by one name, out of those that stand in one word with others (-Rf)."""
    if not names:
        return words
    split: list[str] = []
    for word in words:
        letters = [f"-{letter}" for letter in word[1:]] if word[:1] == "-" and word[1:].isalnum() else []
        if word not in names and len(letters) > 1 and any(letter in names for letter in letters):
            split += [names.get(letter, letter) for letter in letters]
        else:
            split.append(names.get(word, word))
    return split


def _within(wanted: list[str], words: list[str]) -> bool:
    """Whether words follow each other in others, whatever stands between."""
    left = iter(words)
    return all(word in left for word in wanted)


ANY = "*"
# Letters of what may be several options in one word: -rf, and not -name.
_CLUSTER = 5


def parsed(pattern: str) -> list[Command]:
    """Return a pattern as what is matched; nothing where it has no words."""
    return [Command(_words(one), piped=one.piped) for one in commands(pattern)]


def matches(pattern: list[Command], line: list[Command]) -> bool:
    """Whether commands of a line that follow each other are what a pattern's are."""
    lines = [_words(one) for one in line]
    spoken = [len(_words_before(one)) for one in line]
    last = len(line) - len(pattern)
    return bool(pattern) and any(
        all(
            _found(*_cased(wanted.words, lines[first + n], folded=line[first + n].folded), spoken[first + n])
            and (n == len(pattern) - 1 or line[first + n].piped or not wanted.piped)
            for n, wanted in enumerate(pattern)
        )
        for first in range(last + 1)
    )


def _cased(wanted: list[str], words: list[str], *, folded: bool) -> tuple[list[str], list[str]]:
    return ([word.lower() for word in wanted], [word.lower() for word in words]) if folded else (wanted, words)


def _words_before(command: Command) -> list[str]:
    """Return the words that may be run."""
    return _split(command.words[: command.spoken])


def _words(command: Command) -> list[str]:
    return _split(command.words)


def _split(words: list[str]) -> list[str]:
    """Return words as they are compared: an option apart from its value (`--to=x`), no slash at a path's end."""
    split = []
    for word in words:
        name, equals, value = word.partition("=")
        split += [name + equals, _plain(value)] if option(word) and equals else [_plain(word)]
    return split


def _plain(word: str) -> str:
    word = word[:1] + word[1:].rstrip("/")
    return word.removeprefix("./") or word


def _found(wanted: list[str], words: list[str], spoken: int) -> bool:
    """Whether a pattern's words stand in a command: from a program that is run, and not in what is only spoken of."""
    names = canonical([base(word) for word in wanted if not option(word)])
    asked = renamed(wanted, names)
    if asked[0] == ANY or asked[0][:1] == REDIRECTION:
        return _rest(asked, renamed(words, names), 0, 0, loose=True)
    if option(asked[0]):
        return _rest(asked, words[:spoken], 0, 0, loose=True)
    return any(
        _named_program(asked[0], words[at]) and _rest(asked[1:], renamed(words[at + 1 :], names), 0, 0, loose=False)
        for at in places(words)
    )


def _named_program(wanted: str, word: str) -> bool:
    """Whether a word is a program of that name, wherever it lies, in whatever version: pip3.12 is pip."""
    wanted, name = wanted.removesuffix(".exe"), word if "/" in wanted else base(word) or word
    return _same(wanted, name) or (not wanted[-1:].isdigit() and _same(wanted, unversioned(name)))


def _rest(wanted: list[str], words: list[str], at: int, first: int, *, loose: bool) -> bool:
    """Whether the rest of a pattern stands in `words` from `at` on; `loose`: anywhere, not only behind options."""
    if not wanted:
        return True
    if wanted[0] == ANY:
        return _rest(wanted[1:], words, at, first, loose=True)
    if option(wanted[0]):
        return _option(wanted, words, at, first, loose=loose)
    for place in range(at, len(words)):
        if _same(wanted[0], words[place]) and _rest(wanted[1:], words, place + 1, first, loose=False):
            return True
        if not (loose or _passed(words, place)):
            return False
    return False


def _passed(words: list[str], at: int) -> bool:
    """Whether a word may stand between two of a pattern: an option, the value of one, or `name=value`."""
    name, equals, _ = words[at].partition("=")
    return option(words[at]) or (at > 0 and option(words[at - 1])) or (equals != "" and name.isidentifier())


def _option(wanted: list[str], words: list[str], at: int, first: int, *, loose: bool) -> bool:
    """Do what `_rest` does where an option comes next, which may have the word behind it as its value."""
    pairs = zip(words[first:], words[first + 1 :], strict=False)
    valued = len(wanted) > 1 and not option(wanted[1]) and wanted[1] != ANY
    if (
        valued
        and any(_named(wanted[0], name) and _same(wanted[1], value) for name, value in pairs)
        and _rest(wanted[2:], words, at, first, loose=loose)
    ):
        return True
    for place in _places(wanted[0], words, first):
        bare = place + 1 == len(words) or option(words[place + 1])
        if bare and _rest(wanted[1:], words, at, first, loose=True):
            return True
        if place >= at and _rest(wanted[1:], words, place + 1, first, loose=True):
            return True
    return False


def _places(wanted: str, words: list[str], first: int) -> "Iterator[int]":
    """Return where a command has an option, for several in one word (-rf) where it has the last of them."""
    yield from (at for at in range(first, len(words)) if _named(wanted, words[at]))
    if not _cluster(wanted):
        return
    letters = set(wanted[1:])
    short = [at for at in range(first, len(words)) if _cluster(words[at]) and letters & set(words[at][1:])]
    if letters <= {letter for at in short for letter in words[at][1:]}:
        yield short[-1]
    long = [at for at in range(first, len(words)) if words[at][:2] == "--" and words[at][2:3] in letters]
    if len(letters) > 1 and letters == {words[at][2] for at in long}:
        yield long[-1]


def _named(wanted: str, word: str) -> bool:
    return option(word) and _same(wanted.removesuffix("="), word.removesuffix("="))


def _cluster(word: str) -> bool:
    return word[:1] == "-" and word[1:].isalnum() and len(word) <= 1 + _CLUSTER


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
