"""The simple commands of a shell command line, as words: what a shell would run, read and not run.

Quotes, escapes, comments and here-documents are read as a shell reads them, so that what is said in a string is one
word. What is substituted, and what a shell is told to run (`sh -c "…"`), are commands of their own. Text that no shell
takes is read as far as it goes; what is nested too deeply stands as UNREAD. Safe on the hot path.
"""

# Stands before a redirection among the words of a command, which no word begins with.
REDIRECTION = "\0"
# The word of a command that stands for others, which are nested too deeply to be read.
UNREAD = REDIRECTION + "unread"
_REDIRECTIONS = ("<<<", "<<-", "&>>", "<<", "<>", "<&", "&>", ">>", ">&", ">|", "<", ">")
_HEREDOCS = (REDIRECTION + "<<", REDIRECTION + "<<-")
_BLANKS = " \t\r"
# Programs that may run what they are told in a string, and clients that run it as SQL.
_SHELLS = frozenset(
    """
    . ash at bash batch cmd concurrently dash doppler entr env eval fish flock gcloud heroku hyperfine iex ksh mise nix
    nix-shell nodemon npm npx nu parallel plink pnpm powershell pwsh rtx runuser screen script sg sh sops source ssh su
    tmux trap vagrant watch xterm yarn zsh
    """.split()
)
_SQL = frozenset("clickhouse-client cqlsh duckdb mariadb mysql psql snowsql sqlcmd sqlite3".split())
_DEEPEST = 8
_BARE = str.maketrans({"\n": " ", "`": " ", '"': " "})


class Command:
    """A simple command: its words, and whether its output goes into the next one. One `folded` is SQL, of any case."""

    __slots__ = ("folded", "piped", "words")

    def __init__(self, words: list[str], *, piped: bool, folded: bool = False) -> None:
        self.words, self.piped, self.folded = words, piped, folded


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


class _Reader:
    """Reads one text; the commands inside its words are read by others. SQL is read as one line, without its quotes."""

    def __init__(self, text: str, found: list[Command], depth: int, *, folded: bool = False) -> None:
        text = text.translate(_BARE) if folded else text.replace("\\\n", "")
        self.text, self.found, self.depth, self.folded = text, found, depth, folded
        self.words: list[str] = []
        # The strings of the commands whose output this one reads.
        self.fed: list[str] = []
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
        return reader.read(at, end)

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
        """End a command, and read those that it runs from strings, its own and those of what is piped into it."""
        self._end_word()
        words, self.words = self.words, []
        if not words:
            return
        self.found.append(Command(words, piped=piped, folded=self.folded))
        said = () if self.folded else (word for word in words if " " in word or "\n" in word)
        strings = list(dict.fromkeys((*self.fed, *said)))
        self.fed = strings if piped else []
        programs = {base(words[at]).lower() for at in places(words)} if strings else set()
        for text in strings:
            if not programs.isdisjoint(_SHELLS):
                self._run(text)
            if not programs.isdisjoint(_SQL):
                _Reader(text, self.found, self.depth + 1, folded=True).read(0, "")

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


# How many of the words behind a program, options and their values aside, may be a program that it runs: the next one,
# or the one behind an argument of its own.
_RUNS = dict.fromkeys(
    """
    ! arch ash bash builtin busybox bunx caffeinate chpst chronic cmd command coproc corepack dash dbus-run-session
    do doas dotenv dumb-init eatmydata elif else entr env envchain eval fakeroot firejail fish flatpak-spawn
    gnome-terminal if ionice ksh lima ltrace nice nix-shell nocorrect noglob nohup npx parallel pkexec pkgx pnpx
    powershell proot proxychains proxychains4 pwsh py python rtk run0 runuser screen script setpriv setsid sh start
    stdbuf strace sudo systemd-inhibit systemd-run then time tini toybox torsocks unbuffer unshare until uvx
    valgrind watch watchexec while winpty wsl xargs xterm xvfb-run zsh {
    """.split(),
    1,
) | dict.fromkeys(
    """
    bwrap chroot chrt distrobox-enter faketime flock gosu mosh nsenter perf repeat s6-setuidgid setarch ssh sshpass
    su-exec taskset timeout
    """.split(),
    2,
)
# Words of any program that run what stands behind them, and programs of which they have an argument of their own.
_RUNNING = frozenset(
    "-X -exec -execdir -ok -okdir -x activate develop dlx enter exec new new-session new-window run shell x".split()
)
_PLACES = frozenset("direnv distrobox docker docker-compose kubectl limactl mise nerdctl nix nvm oc podman rtx".split())


def places(words: list[str]) -> list[int]:
    """Return the numbers of the words that may be a program, in order."""
    found, left, behind = [], 1, 1
    for at, word in enumerate(words):
        name, equals, _ = word.partition("=")
        named = base(word).lower()
        switch = word[:1] == "/" and len(word) == 2  # noqa: PLR2004 - as Windows has them: /c
        if left and not (option(word) or switch or (equals and name.isidentifier())):
            found.append(at)
            # What stands behind an option may be its value.
            left = _RUNS.get(named) or _RUNS.get(unversioned(named)) or left - (at == 0 or not option(words[at - 1]))
        behind = 2 if named in _PLACES else behind
        left = behind if word in _RUNNING else left
    return found


def unversioned(name: str) -> str:
    """Return the name of a program without a version behind it: pip3.12 is pip."""
    return name.rstrip("0123456789.") or name
