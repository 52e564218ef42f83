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


# What runs the words behind it: its first words, how many of its own arguments come before those, and its options that
# have a value; ? where any may have one, and * where nobody can tell how many words are its own.
_TABLE = """
    ! 0|{ 0|do 0|elif 0|else 0|if 0|then 0|until 0|while 0|time 0 -f -o|builtin 0|command 0|exec 0 -a|nohup 0
    setsid 0|sudo 0 -u -g -h -p -C -r -t -T -U -D --user --group --host --prompt --chdir|doas 0 -u -C
    env 0 -u -C --unset --chdir|nice 0 -n --adjustment|ionice 0 -c -n -p|stdbuf 0 -i -o -e|caffeinate 0 -t -w
    timeout 1 -k -s --kill-after --signal|xargs 0 -I -n -P -L -d -a -s -E|parallel 0 ?|watch 0 -n|entr 0
    flock 1 -w -E|chroot 1 ?|gosu 1|su-exec 1|strace 0 -e -o -p|ltrace 0 -e -o|perf stat 0 ?|taskset 1|chrt 1
    unshare 0 ?|systemd-run 0 ?|systemd-inhibit 0 ?|proxychains 0|proxychains4 0|torsocks 0|unbuffer 0|firejail 0
    faketime 1|script 1 -c|ssh 1 -p -i -l -o -F -J -L -R -D -b -c -E -W|mosh 1 ?|nsenter 0 ?|sshpass 0 -p -f
    docker run 1 ?|docker exec 1 ?|docker compose run 1 ?|docker compose exec 1 ?|docker-compose run 1 ?
    docker-compose exec 1 ?|podman run 1 ?|podman exec 1 ?|kubectl exec 1 ?|oc exec 1 ?|heroku run 0 ?
    npx 0 -p --package|bunx 0|pnpx 0|uvx 0 --from --with|pipx run 0 --spec|npm exec 0 ?|pnpm exec 0|pnpm dlx 0
    yarn exec 0|yarn dlx 0|bun x 0|bundle exec 0|uv run 0 ?|poetry run 0|pipenv run 0|pdm run 0|hatch run 0
    rye run 0|conda run 0 -n -p|mise exec 0 ?|rbenv exec 0|pyenv exec 0|nvm exec 1|direnv exec 1|python -m 0
    python3 -m 0|py -m 0|mise exec *|mise x *|rtx exec *|rtx x *|asdf exec 0|nodenv exec 0|volta run 0 ?|fnm exec 0 ?
    corepack 0|pixi run 0 ?|pixi exec 0 ?|micromamba run 0 ?|mamba run 0 ?|devbox run 0 -c -e|nix run *|nix shell *
    nix develop *|guix shell *|busybox 0|toybox 0|toolbox run 0 ?|distrobox enter *|distrobox-enter *|flatpak-spawn 0
    bwrap *|firejail 0|fakeroot 0|unshare *|nsenter *|xvfb-run 0 ?|dbus-run-session 0|valgrind 0|eatmydata 0|setarch 1
    perf record 0 ?|runuser 0 -u -g -G --user|pkexec 0 --user|run0 0 ?|chpst 0 ?|s6-setuidgid 1|dotenv 0 ?|envchain 1
    docker container exec 1 ?|nerdctl exec 1 ?|nerdctl run 1 ?|limactl shell 1 ?|lima 0|wsl 0 -d -u --cd|winpty 0
    noglob 0|nocorrect 0|coproc 0|repeat 1|setpriv 0|chronic 0|railway run 0|watchexec 0 ?|gnome-terminal 0 ?|xterm -e 0
    eval 0|screen 0 ?|tmux new 0 ?|tmux new-session 0 ?|tmux new-window 0 ?|flox activate 0 ?|tini 0 ?|dumb-init 0 ?
    arch 0 ?|proot 0 ?|ddev exec 0 ?|devcontainer exec 0 ?|pkgx 0 ?|rtk 0 ?
    cmd /c 0|cmd /k 0|powershell 0 ?|pwsh 0 ?|start 0|start-process 0
"""
_ANY, _ALL = "?", "*"
# How options of find begin what it runs.
_FINDERS = frozenset(("fd", "find"))
_EXEC = frozenset(("-exec", "-execdir", "-ok", "-okdir", "-x", "-X"))
# Words of other programs that run what stands behind a --.
_RUN = frozenset(("enter", "exec", "run", "ssh"))


def _parsed(table: str) -> "dict[str, list[tuple[list[str], int, frozenset[str]]]]":
    found: dict[str, list[tuple[list[str], int, frozenset[str]]]] = {}
    for line in table.replace("\n", "|").split("|"):
        words = line.split()
        if words:
            at = next(n for n, word in enumerate(words) if word.isdigit() or word == _ALL)
            own = -1 if words[at] == _ALL else int(words[at])
            found.setdefault(words[0], []).append((words[1:at], own, frozenset(words[at + 1 :])))
    return found


_RUNS = _parsed(_TABLE)
_NONE: frozenset[str] = frozenset()


def places(words: list[str]) -> list[int]:
    """Return the numbers of the words that may be a program, in order."""
    found: set[int] = set()
    seen: set[tuple[int, int]] = set()
    left = [(0, 0, _NONE)]
    while left:
        at, own, valued = left.pop()
        if at >= len(words) or (at, own) in seen:
            continue
        seen.add((at, own))
        word = words[at]
        if option(word):
            redirected = word[:1] != "-"
            if not redirected and not (word.endswith("=") or word in valued):
                left.append((at + 1, own, valued))
            if redirected or word.endswith("=") or word in valued or (_ANY in valued and word != "--"):
                left.append((at + 2, own, valued))
        elif _assigned(word):
            left.append((at + 1, own, valued))
        elif own > 0:
            left.append((at + 1, own - 1, valued))
        else:
            found.add(at)
            left += _behind(words, at)
            if own < 0:
                left.append((at + 1, own, valued))
    return sorted(found)


def _behind(words: list[str], at: int) -> "Iterator[tuple[int, int, frozenset[str]]]":
    """Yield where what a program runs may begin, how many of its own arguments stand before, and its valued options."""
    name = base(words[at]).lower()
    for rest, own, valued in _RUNS.get(name, _RUNS.get(unversioned(name), [])):
        yield from ((begin, own, valued) for begin in _after(words, at + 1, rest))
    if name in _FINDERS:
        yield from ((n + 1, 0, _NONE) for n in range(at + 1, len(words)) if words[n] in _EXEC)
    if "--" in words[at + 1 :]:
        dashes = words.index("--", at + 1)
        if not _RUN.isdisjoint(words[at + 1 : dashes]):
            yield dashes + 1, 0, _NONE


def _after(words: list[str], at: int, rest: list[str]) -> "Iterator[int]":
    """Yield where what follows `rest` may begin; options, and their values, may stand before each word of it."""
    if not rest:
        yield at
        return
    for n in range(at, len(words)):
        if words[n].lower() == rest[0]:
            yield from _after(words, n + 1, rest[1:])
        # As Windows has them: /c.
        switch = option(words[n]) or (words[n][:1] == "/" and len(words[n]) == 2)  # noqa: PLR2004
        if not (switch or (n > at and option(words[n - 1]))):
            return


def unversioned(name: str) -> str:
    """Return the name of a program without a version behind it: pip3.12 is pip."""
    return name.rstrip("0123456789.") or name


def _assigned(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return equals != "" and name.isidentifier()
