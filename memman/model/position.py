"""Where in a simple command a program may stand that it runs: first, or behind one that runs what it is told."""

from memman.model.shell import base, option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

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
