"""What failed and what mended it in a session, by its tool events.

There are two forms: "C failed until D was run" (C failed, D made something ready, C succeeded unchanged) and "C failed;
C' worked" (the same program with other options, and nothing between them that matters). Where a file was changed or the
user said something in between, or where a network or a flaky test may explain both, nothing is learned.
"""

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from memman.model.shell import REDIRECTION, Command, base, commands
from memman.model.spelling import similar
from memman.outside import reaches_out
from memman.secrets import screened
from memman.transcripts import Event

# Characters of a command that a lesson tells of at most, and of a text that are read; commands that mend at most, and
# failures that are kept in mind.
_LONGEST, _READ, _MENDERS, _OPEN = 200, 8_192, 2, 32
# What a command does: nothing that lasts, something, or something to files that a repository tracks.
_LOOKS, _ACTS, _EDITS = range(3)
_LOOKERS = frozenset(
    """
    [ awk basename cat cd column curl cut date df diff dig dirname du echo env false file find free gh grep head history
    host hostname id jq kill killall less ls lsof man netstat nproc pgrep ping pkill printenv printf ps pwd readlink
    realpath rg sed set sleep sort ssh stat strings tail test time top tr tree true type uname uniq wait wc wget which
    whoami xargs xxd yes
    """.split()
)
_EDITORS = frozenset("black chmod cp dd ed emacs isort mv nano patch tee touch truncate vi vim".split())
_REWRITES = re.compile(
    r"--(?:fix$|fix-only|write$|in-place|autocorrect|snapshot-update|update|bless|accept)"
    r"|(?!-)(?:[\w.-]*[:.-])?(?:(?:auto)?fix|fmt|(?:re)?format|codemods?|rewrite|patch)(?:[:.-][\w.:-]*)?$"
)


def _table(rows: str) -> frozenset[tuple[str, str]]:
    """Return pairs of programs and their first words."""
    return frozenset((program, word) for program, *words in map(str.split, rows.split("|")) for word in words)


# First or second words that only ask or wait, whatever the program; and what git does that may mend something.
_ASKING = frozenset(
    "describe get help info inspect list logs ls outdated ps show status tree version wait watch whoami".split()
)
_GIT_MENDS = ("clone", "lfs", "submodule")
# Files themselves, or the list of what a project depends on.
_EDITS_BY = _table(
    """git apply am checkout restore stash reset revert merge rebase cherry-pick pull switch mv rm clean | bundle add |
    cargo add remove fix | go get mod fix | poetry add remove update lock | uv add remove lock | dotnet add remove |
    composer require remove update | yarn add remove up | pnpm add remove update | npm uninstall remove update |
    bun add remove | rails generate g destroy | ng generate g | nest generate g"""
)
# Package managers whose `install` with a name adds it to that list; what runs code that is given with the call.
_ADDERS = frozenset((program, word) for program in ("npm", "pnpm", "bun") for word in ("i", "install"))
_SCRATCH = re.compile(r"(?:python[\d.]*|node|ruby|perl|php|deno|bun|psql|sqlite3|mysql)$")
_WRITING = re.compile(r"open\(|write|unlink|rename", re.IGNORECASE)
# A file of settings that is copied from an example is none that is tracked.
_EXAMPLE = re.compile(r"example|sample|template|\.dist|\.env")
# Words of what makes something ready, of what only checks, and programs whose targets may be anything.
_PREPARES = re.compile(
    r"(?:up|use|ci|i|gen|add|cp|rm|ln|mkdir|allow|\w*(?:instal|init|migrat|generat|build|compil|start|restor|sync|login|auth"
    r"|pull|fetch|download|updat|upgrad|setup|bootstrap|creat|prepar|seed|link|trust|enabl|clean|reset|prun|daemon|server"
    r"|load|import|provision|deploy|apply|activat|select|submodule|register|unlock)\w*)$"
)
_CHECKS = re.compile(r"(?:\w*(?:test|lint|check|spec|cover|verif)\w*|mypy|tsc|ruff|vet|clippy|tox|smoke|e2e)$")
_BY_TARGET = frozenset("make just task rake invoke mage".split())
# What may stand before a program that is the same program then.
_RUNNERS = frozenset(
    "uv poetry pipenv pdm hatch bundle npx pnpm yarn bunx python python3 run exec -m dlx mise conda xvfb-run --".split()
)
_AMOUNT = re.compile(r"[\d.]+\w?$")
# What may differ in the name of the same program: where it lies, and its version.
_PLAIN = re.compile(r"^.*/|[\d.]+$")
_ASSIGNED = re.compile(r"(?!\w*(?:SKIP|UPDATE))[A-Za-z_]\w*=")
# Options that only show more or less, and those that check less, do less, wait longer or work elsewhere.
_SHOWING = re.compile(
    r"-v+$|-[qsxlX]$|-rA$|--(?:verbose|quiet|silent|tb|(?:no-)?colou?r|debug|trace|stacktrace|info|log-level|progress|plain"
    r"|reporter|show|full-trace|backtrace|maxfail|bail|no-header)"
)
_EVADING = re.compile(
    r"^-[kmtuC]$|^-run$|^--[lf]f$|(?i:verify|force|exit-zero|skip|passwith|allow|ignore|exclu|only|grep|filter|deselect"
    r"|disable|suppress|warn|strict|pedantic|last-failed|tests?\b|test_?name|dry-run|check|director|prefix|cwd|chdir"
    r"|project|manifest|rootdir|package|workspace|scope|retr|timeout|parallel|seed|new-from)"
)
# Outputs that tell of a network or of what others hold, of who waits no longer, of a command that did not run, and of
# one that still runs.
_PASSING = re.compile(
    r"\bE(?:TIMEDOUT|CONNRESET|NOTFOUND|AI_AGAIN)\b|resolve host|getaddrinfo|name resolution|time(?:d|s)?[ -]?out"
    r"|(?:HTTP|status|error)\D{0,12}(?:429|50[234])\b|rate limit|too many requests|connection reset|socket hang up"
    r"|network (?:error|is unreachable)|TLS handshake|KeyboardInterrupt|interrupted|doesn't want to proceed"
    r"|requires approval|permission to use|EADDRINUSE|already in use|already allocated|could not get lock"
    r"|temporarily unavailable|no space left|bad gateway|service unavailable",
    re.IGNORECASE,
)
# What a check says of what it checks, which may be right the next time.
_CHECKED = re.compile(
    r"\b[1-9]\d* (?:tests? )?fail(?:ed|ures?|ing)\b|^(?:--- )?FAIL\b|(?-i:\bFAILED$)|Falsifying"
    r"|Assertion(?:Failed)?Error",
    re.IGNORECASE | re.MULTILINE,
)
_RUNNING = re.compile(r"running (?:in (?:the )?background|with session)")
_HOMES = re.compile(r"(?:^|[\s=:'\"])(?:~|\$\{?HOME\b|/root\b|/home/|/Users/)|[A-Z]:\\Users", re.IGNORECASE)
# How Codex has a shell run a command, and what shows less of its output.
_SHELL = re.compile(r"^(?:/bin/)?(?:bash|zsh|sh) -l?c\s+")
_UNSEEN, _CUT = re.compile(r"\s*(?:2>&1|[12&]?>\s*/dev/null)"), re.compile(r"\s*\|\s*(?:tail|head)(?:\s+-?\w+)*\s*$")


class _Run:
    """A command that ran: its words, where, how a lesson tells of it, and how it ended (None: nobody can tell)."""

    def __init__(self, event: Event, root: str) -> None:
        line = _UNSEEN.sub("", _SHELL.sub("", event.text.strip()))
        told, folder = _CUT.sub("", line), os.path.normpath(event.folder or root)
        self.cut, began = told != line, folder
        # A text that is so long is a program, which may write files.
        self.does = _EDITS if len(told) > _READ else max(map(_does, commands(told)), default=_LOOKS)
        self.well: bool | None = None
        self.passing = False
        # What was done since it failed.
        self.since: list[_Run] = []
        words, where = [] if self.does == _EDITS else _words(told), os.path.relpath(folder, root)
        while words[:1] == ["cd"] and words[2:3] == ["&&"]:
            folder, words = os.path.normpath(os.path.join(folder, words[1])), words[3:]
        self.folder, self.words = folder, [word for word in words if not _SHOWING.match(word)]
        inside = rf"{re.escape(root)}(?:(/)(?=[\w.])|/?(?=$|[\s'\":]))"
        told = re.sub(inside, lambda found: "" if found[1] else ".", told)
        told = f"`{told}`{'' if where == '.' else f' in {where}'}"
        private = _HOMES.search(told[1:]) or reaches_out(event.text, began, root)
        self.name = told if self.words and len(told) <= _LONGEST and not private else ""

    def end(self, result: Event) -> None:
        """Take in how it ended."""
        unknown = (self.cut and result.well) or _RUNNING.search(result.text)
        self.well = None if unknown else result.well
        said = result.text[-_READ:]
        self.passing = bool(_PASSING.search(said) or _CHECKED.search(said))

    def same(self, other: "_Run") -> bool:
        """Whether it is another run of the same."""
        return (self.folder, self.words) == (other.folder, other.words)

    @property
    def mends(self) -> bool:
        """Whether it may have: it says that it makes something ready, or what it does nobody can tell."""
        words = [word for word in self.words if not _ASSIGNED.match(word)]
        if not words:
            return True
        named = [base(words[0])]
        named += [word for word in words[1:] if "/" not in word and (word[:1] != "-" or "daemon" in word)]
        if any(map(_CHECKS.match, named[:2])):
            return False
        pieces = re.findall(r"[a-z0-9]+", " ".join(named).lower())
        by_target = named[0] in _BY_TARGET or "/" in words[0]
        return any(map(_PREPARES.match, pieces)) or (by_target and not any(map(_CHECKS.match, pieces)))


def _does(command: Command) -> int:
    words = [word for word in command.words if not _ASSIGNED.match(word)] or [""]
    program, rest = base(words[0]), words[1:]
    named, options = [word for word in rest if word[:1] != "-"], {word for word in rest if word[:1] == "-"}
    does = (program, named[0] if named else "")
    scratch = bool(_SCRATCH.match(program) and {"-c", "-e", "-"}.intersection(rest))
    if (
        any(word[:1] == REDIRECTION and (">" in word or "<<" in word) for word in rest)
        or (program in _EDITORS and not (program == "cp" and any(map(_EXAMPLE.search, named))))
        or (program in {"sed", "perl"} and any(word.startswith("-i") for word in options))
        or (does in _ADDERS and named[1:] and not options & {"-g", "--global"})
        or does in _EDITS_BY
        or (
            any(map(_REWRITES.match, (program, *rest)))
            and not any(word.endswith(("--check", ":check")) for word in rest)
        )
        or (program == "rm" and not any("r" in word.lower() for word in options))
        or (scratch and any(map(_WRITING.search, rest)))
    ):
        return _EDITS
    asks = not _ASKING.isdisjoint(named[:2]) or options & {"--help", "--version"}
    looks = scratch or asks or program in _LOOKERS or (program == "git" and does[1] not in _GIT_MENDS)
    return _LOOKS if looks else _ACTS


def _words(line: str) -> list[str]:
    """Return the words of commands that nothing but && joins, none where anything else does."""
    if "\n" in line or "`" in line:
        return []
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        words = list(lexer)
    except ValueError:
        return []
    return [] if any(word and word != "&&" and not word.strip("();<>|&") for word in words) else words


def lessons(events: Iterable[Event], root: str) -> Iterator[str]:
    """Yield the lessons of a session in the repository at `root`, without secrets, each once and as soon as it ends."""
    failed: list[_Run] = []
    flaky: list[_Run] = []
    told: set[str] = set()
    for run in _runs(events, root):
        if run is None or run.does == _EDITS:
            failed = []
        elif run.does == _ACTS:
            if run.well:
                lesson, over = _learned(run, failed)
                flaky += [run] * (not lesson and any(one.same(run) and not one.since for one in over))
                failed = [one for one in failed if one not in over]
                if lesson and lesson not in told and not any(map(run.same, flaky)):
                    told.add(lesson)
                    yield screened(lesson)
            elif run.well is False:
                failed = [one for one in failed if not one.same(run)]
                failed = [*failed, run][-_OPEN:] if run.name and not run.passing else failed
            if run.well is not False and run.mends:
                for one in failed:
                    one.since.append(run)


def _runs(events: Iterable[Event], root: str) -> Iterator[_Run | None]:
    """Yield commands as they end, and None for each edit and each word of the user."""
    begun: dict[str, _Run] = {}
    for event in events:
        if event.kind == "run":
            begun[event.id] = _Run(event, root)
        elif event.kind == "result" and (run := begun.pop(event.id, None)):
            run.end(event)
            yield run
        elif event.kind in {"edit", "user", "other"}:
            yield None


def _learned(run: _Run, failed: Sequence[_Run]) -> tuple[str, list[_Run]]:
    """Return what the success of a command teaches, '' for nothing, and the failures that are over with it."""
    here = [one for one in failed if one.folder == run.folder]
    for one in here:
        if one.same(run):
            mended = list(dict.fromkeys(other.name for other in one.since))
            clear = all(mended) and 0 < len(mended) <= _MENDERS
            ran = f"{' and then '.join(mended)} {'were' if mended[1:] else 'was'} run"
            return f"{one.name} failed until {ran}." if clear else "", [one]
        if not one.since and run.name and _same_otherwise(one.words, run.words):
            return f"{one.name} failed; {run.name} worked.", [other for other in here if other.words[0] == one.words[0]]
    return "", []


def _same_otherwise(before: list[str], after: list[str]) -> bool:
    """Whether two calls differ in how the same is done alone: in variables, what runs the program, or options."""
    if before[0] == "git":  # what its options change is seldom how alone
        return False
    bare = [word for word in after if word in before or not _ASSIGNED.match(word)]
    if bare[1:] == before[1:] and _PLAIN.sub("", bare[0]) == _PLAIN.sub("", before[0]):
        return True
    if bare[-len(before) :] == before:
        runs = bare[: -len(before)]
        return runs[0] in _RUNNERS and all(
            word in _RUNNERS or "-" in (word[:1], last[:1]) for last, word in pairwise(runs)
        )
    gone, new = _options(before, after), _options(after, before)
    if gone is None or new is None or before[0] != bare[0]:
        return False
    long = [word for word in gone if word[:2] == "--"]
    slip = any(similar(word, long) for word in new if word[:2] == "--" and "=" not in word)
    return not slip and not any(word[:1] == "-" and _EVADING.search(word.partition("=")[0]) for word in (*gone, *new))


def _options(words: Sequence[str], others: Sequence[str]) -> list[str] | None:
    """Return the options and their values that only the first of two calls has, None where it has other words too."""
    found, left = list[str](), list(others)
    for last, word in pairwise(["", *words]):
        if word in left:
            left.remove(word)
        elif word[:1] == "-" and word != "--":
            found.append(word)
        elif last == "--" or last[:1] != "-" or "=" in last:
            return None
        elif last in found:  # the value of an option that the other has not
            found.append(word)
        elif _AMOUNT.match(word) and any(map(_AMOUNT.match, others[others.index(last) + 1 :][:1])):
            found += [last, word]
        else:  # another value may be another target
            return None
    return found
