"""The simple commands of a shell command line, as words: what a shell would run, read and not run.

Quotes, escapes, comments and here-documents are read as a shell reads them, so that what is said in a string is one
word. What is substituted, and what a shell is told to run (`sh -c "…"`), are commands of their own. Text that no shell
takes is read as far as it goes; what is nested too deeply stands as UNREAD. Safe on the hot path.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Stands before a redirection among the words of a command, which no word begins with.
REDIRECTION = "\0"
# The word of a command that stands for others, which are nested too deeply to be read.
UNREAD = REDIRECTION + "unread"
_REDIRECTIONS = ("<<<", "<<-", "&>>", "<<", "<>", "<&", "&>", ">>", ">&", ">|", "<", ">")
_HEREDOCS = (REDIRECTION + "<<", REDIRECTION + "<<-")
# What gives a program the words behind it to read.
_FEEDS = (REDIRECTION + "<<<", *_HEREDOCS)
_BLANKS = " \t\r"


def _options(table: str) -> dict[str, list[str]]:
    """Return the options of each program of a table."""
    rows = [line.partition(":") for line in table.strip().split("\n")]
    return {program: options.split() for programs, _, options in rows for program in programs.split()}


# Programs that run a string as a command, and the options that it stands behind; * where it may be any argument.
_RUNNERS = _options("""
    sh bash zsh dash ksh ash sg mise rtx: -c
    fish nu su runuser flock script vagrant: -c --command --commands --session-command
    powershell pwsh: * -c -C -command -commandwithargs
    cmd: * /c /k
    env: -S --split-string
    npx npm: -c --call
    nix-shell: --run --command
    gcloud doppler: --command
    nodemon: -x --exec
    entr: -s
    eval ssh plink watch trap hyperfine parallel tmux screen xterm heroku pnpm yarn concurrently iex sops: *
    . source at batch: <
""")
# Those of them that also run what they read.
_SHELLS = frozenset(
    "sh bash zsh dash ksh ash fish nu su runuser sg script ssh cmd powershell pwsh at batch . source eval".split()
)
# Clients that run a string as SQL, in the same way.
_SQL = _options("""
    psql: -c --command
    mysql mariadb cqlsh: -e --execute
    sqlite3: *
    duckdb: * -c
    clickhouse-client snowsql: -q --query
    sqlcmd: -q -Q
""")
_EVERY = "*"
# Letters of an option that has one, and of what may be several in one word.
_SHORT, _CLUSTER = 2, 6
# Programs, and words of a shell, that show or name what they are told, and run none of it.
_TALKERS = frozenset(
    "alias apropos case cowsay echo figlet for help info logger man print printf say tldr type".split()
    + "whatis whereis which".split()
)
# What they write for a line end, where they are told so.
_ESCAPED = ("\\n", "\n")
_DEEPEST = 8
_BARE = str.maketrans({"\n": " ", "`": " ", '"': " "})


class Command:
    """A simple command: its words, and whether its output goes into the next one. One `folded` is SQL, of any case."""

    __slots__ = ("folded", "piped", "words")

    def __init__(self, words: list[str], *, piped: bool, folded: bool = False) -> None:
        self.words, self.piped, self.folded = words, piped, folded

    @property
    def spoken(self) -> int:
        """How many words may be run; what follows them is only shown or named."""
        named = (at for at, word in enumerate(self.words) if base(word) in _TALKERS and not _value(self.words, at))
        return next(named, len(self.words)) + 1

    @property
    def said(self) -> "list[str]":
        """What it may put out, as far as its words say so: the text of a talker, and strings."""
        told = " ".join(word for word in self.words[self.spoken :] if word[:1] not in ("%", "-"))
        return [text.replace(*_ESCAPED) for text in dict.fromkeys([told, *self.words]) if " " in text]


def base(word: str) -> str:
    """Return the name of a program that is called by its path, or as Windows calls it."""
    name = word.rpartition("/")[2]
    return name[:-4].lower() if name[-4:].lower() == ".exe" else name


def option(word: str) -> bool:
    """Whether a word is an option, or a redirection, which stands in a command as an option does."""
    return (word[:1] == "-" and len(word) > 1) or word[:1] == REDIRECTION


def commands(line: str) -> list[Command]:
    """Return every simple command of a line, in order; those inside others follow them."""
    found: list[Command] = []
    _Reader(line, found, 0).read(0, "")
    return found


def _value(words: list[str], at: int) -> bool:
    """Whether a word may be the value of an option."""
    return at > 0 and option(words[at - 1])


def _told(words: list[str], table: dict[str, list[str]]) -> "Iterator[str]":
    """Yield the strings that a command has programs of a table run."""
    later, values = "", []
    for word in reversed(words):
        values.append(later)
        later = word if " " in word or not option(word) else later
    values.reverse()
    for at, word in enumerate(words):
        options = table.get(base(word).lower(), ())
        for flag, value in zip(words[at + 1 :], values[at + 1 :], strict=True) if options else ():
            if option(flag) or flag[:1] == "/":
                yield from _values(flag, value, options)
            if _EVERY in options and " " in flag:
                yield flag


def _programs(words: list[str]) -> frozenset[str]:
    """Return the names of what may be a program that a command runs, `eval` for what is substituted."""
    from memman.model.position import places

    return frozenset("eval" if words[at][:1] == "$" else base(words[at]).lower() for at in places(words))


def _values(flag: str, later: str, options: "Iterable[str]") -> "Iterator[str]":
    """Yield the value of what may be one of `options`, or several in a word (-lc): what is in it, or comes `later`."""
    if flag in _FEEDS:
        yield later
    for name in options:
        if len(name) > _SHORT or name[0] == "/":
            if flag.lower() == name:
                yield later
            elif flag.startswith(name + "="):
                yield flag[len(name) + 1 :]
        elif flag[0] == name[0] == "-" != flag[1] and name[1] in flag:
            together = len(flag) <= _CLUSTER or " " in flag
            if together or flag.startswith(name):
                yield flag.partition(name[1])[2]
                yield later


class _Reader:
    """Reads one text; the commands inside its words are read by others. SQL is read as one line, without its quotes."""

    def __init__(self, text: str, found: list[Command], depth: int, *, folded: bool = False) -> None:
        text = text.translate(_BARE) if folded else text.replace("\\\n", "")
        self.text, self.found, self.depth, self.folded = text, found, depth, folded
        self.words: list[str] = []
        # What earlier commands may have put out, what those inside this command may, and whether this one reads a pipe.
        self.said: list[str] = []
        self.within: list[str] = []
        self.fed = False
        self.word: list[str] | None = None
        # Here-documents whose bodies begin at the next line: where their mark stands, and the words it stands among.
        self.bodies: list[tuple[list[str], int]] = []

    def read(self, at: int, end: str) -> int:
        """Read up to an unquoted `end`, or all of it; return where what follows begins."""
        inner = 0
        while at < len(self.text):
            char = self.text[at]
            if char == end and not inner:
                self._command()
                return at + 1
            if end == ")" and char in "()":
                inner += 1 if char == "(" else -1
            at = self._char(at, char)
        self._command()
        return at

    def _char(self, at: int, char: str) -> int:
        """Read what begins with a character; return where what follows begins."""
        text = self.text
        after = text[at + 1 : at + 2]
        if char in _BLANKS:
            self._end_word()
        elif char == "#" and self.word is None:
            return _upto(text, "\n", at)
        elif char in "\"'\\`" or (char == "$" and after and after in "('\"{"):
            return self._quoted(at, char, after)
        elif char in "<>" and after == "(":
            self.fed = self.fed or char == "<"
            return self._inside(at + 2, ")")
        elif operator := next((one for one in _REDIRECTIONS if text.startswith(one, at)), ""):
            return self._redirection(at, operator)
        elif char in ";&|()\n":
            return self._separator(at, char)
        else:
            self._add(char)
        return at + 1

    def _quoted(self, at: int, char: str, after: str) -> int:
        """Read what is quoted or substituted: 'a', "a", one escaped letter, `a`, $(a), ${a}, $'a'."""
        text = self.text
        if char == '"':
            return self._double(at + 1)
        if char == "`" or after == "(":
            return self._inside(at + 1, char) if char == "`" else self._inside(at + 2, ")")
        if char == "$" and after != "{":
            return at + 1
        first, end = at + 1, at + 2
        if char in "'$":
            first, end = (at + 1, _upto(text, "'", at + 1)) if char == "'" else (at, _upto(text, "}", at) + 1)
        self._add(text[first:end])
        return end + (char == "'")

    def _double(self, at: int) -> int:
        """Read what stands in double quotes, where substitutions are still made."""
        text = self.text
        self._add("")
        while at < len(text) and text[at] != '"':
            if text[at] == "`":
                at = self._inside(at + 1, "`")
            elif text.startswith("$(", at):
                at = self._inside(at + 2, ")")
            else:
                at += text[at] == "\\" and text[at + 1 : at + 2] in tuple('"\\$`')
                self._add(text[at : at + 1])
                at += 1
        return at + 1

    def _inside(self, at: int, end: str) -> int:
        """Read the commands of a substitution; it is a part of the word that no pattern names."""
        self._add("$")
        if self.depth >= _DEEPEST:
            self.found.append(Command([UNREAD], piped=False))
            return _upto(self.text, end, at) + 1
        reader = _Reader("", self.found, self.depth + 1)
        reader.text = self.text
        at = reader.read(at, end)
        self.within += reader.said
        return at

    def _redirection(self, at: int, operator: str) -> int:
        if self.word is not None and "".join(self.word).isdigit():
            self.word = None
        self._end_word()
        self.words.append(REDIRECTION + operator)
        if self.words[-1] in _HEREDOCS:
            self.bodies.append((self.words, len(self.words)))
        return at + len(operator)

    def _separator(self, at: int, char: str) -> int:
        pipe = char == "|" and self.text[at + 1 : at + 2] != "|"
        self._end_word()
        if char == "\n" and self.bodies:
            at = self._heredocs(at)
        self._command(piped=pipe)
        return at + (2 if self.text[at : at + 2] in {"||", "&&", "|&"} else 1)

    def _heredocs(self, at: int) -> int:
        """Put the bodies of here-documents in the place of their marks; return where the line after them begins."""
        for words, place in self.bodies:
            mark = words[place] if place < len(words) else ""
            body = []
            while at < len(self.text):
                start, at = at + 1, _upto(self.text, "\n", at + 1)
                line = self.text[start:at]
                if line.strip("\t\r") == mark:
                    break
                body.append(line)
            words[place:] = ["\n".join(body), *words[place + 1 :]]
        self.bodies = []
        return at

    def _add(self, text: str) -> None:
        self.word = self.word or []
        self.word.append(text)

    def _end_word(self) -> None:
        if self.word is not None:
            self.words.append("".join(self.word).replace(REDIRECTION, ""))
            self.word = None

    def _command(self, *, piped: bool = False) -> None:
        """End a command, and read those that it has a shell run, or that it hands to one."""
        self._end_word()
        words, self.words = self.words, []
        if not words:
            self.fed = self.fed or piped
            return
        command = Command(words, piped=piped, folded=self.folded)
        self.found.append(command)
        read = [*(self.said if self.fed else ()), *self.within]
        self.said += [*command.said, *self.within]
        self.fed, self.within = piped, []
        if self.folded:
            return
        heard = words[: command.spoken]
        programs = _programs(heard) if read else frozenset()
        for text in dict.fromkeys([*_told(heard, _RUNNERS), *(read if programs & _SHELLS else ())]):
            self._run(text)
        for text in dict.fromkeys([*_told(heard, _SQL), *(read if not programs.isdisjoint(_SQL) else ())]):
            told: list[Command] = []
            _Reader(text, told, self.depth + 1, folded=True).read(0, "")
            # Alone, and as what the client is told.
            self.found += [*told, *(Command([*words, *one.words], piped=False, folded=True) for one in told)]

    def _run(self, text: str) -> None:
        """Read a text that a shell is told to run."""
        if self.depth >= _DEEPEST:
            self.found.append(Command([UNREAD], piped=False))
        else:
            _Reader(text, self.found, self.depth + 1).read(0, "")


def _upto(text: str, end: str, at: int) -> int:
    """Return where `end` stands next, the length of the text where it does not."""
    found = text.find(end, at)
    return len(text) if found < 0 else found
