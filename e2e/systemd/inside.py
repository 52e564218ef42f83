"""What happens inside the box: an ordinary user installs memman, works, reboots, uninstalls. Runs as its root.

Called with the folder that holds the installed program, and the name of a part below.
"""

import json
import os
import pwd
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

INSTALL = ("install", "--no-wizard")
UNINSTALL = ("uninstall",)
PROGRAM, PYTHON = "/opt/memman/bin/memman", "/opt/memman/bin/python"
ATTENDED = """
import os, sys
from tests.support.terminal import attended
done = attended(sys.argv[1:], os.environ, "/")
sys.stdout.write(done.stdout)
sys.stderr.write(done.stderr)
sys.exit(done.returncode)
"""
_AGENT = "from tests.support.agents import install"
SERVICE, TIMER, PATH = UNITS = ("memman-drain.service", "memman-drain.timer", "memman-drain.path")
# A machine with other work takes its time: the short form says what it saw, the long one holds it to the figures.
QUIET = bool(os.environ.get("MEMMAN_LONG"))
# Figures of the acceptance: seconds until a note is recalled as stored, how often, the burst, the unit's exposure.
STORED, TIMES, BURST, EXPOSURE = 3.0, 20 if QUIET else 5, 500 if QUIET else 100, 2.5
# Ticks of the timer that are waited for, seconds between two, and by how many one may be late.
TICKS, INTERVAL, LATE = int(os.environ.get("MEMMAN_TICKS", "4")), 5 if QUIET else 3, 2.0
SUPPORT = Path(__file__).parents[2] / "tests/support"
PATIENCE = 300.0


class User:
    """An ordinary user with a service manager of their own, also while nobody is logged in."""

    def __init__(self, name: str, **environ: str) -> None:
        if name not in {entry.pw_name for entry in pwd.getpwall()}:
            run("useradd", "--create-home", name)
            run("loginctl", "enable-linger", name)
        self.entry = pwd.getpwnam(name)
        runtime = f"/run/user/{self.entry.pw_uid}"
        self.environ = {"HOME": self.entry.pw_dir, "PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": runtime, **environ}
        until(f"{name}'s service manager answers", lambda: Path(runtime, "bus").exists())

    def try_(self, *command: str) -> "subprocess.CompletedProcess[str]":
        """Run a command."""
        return subprocess.run(
            command,
            user=self.entry.pw_uid,
            group=self.entry.pw_gid,
            extra_groups=[],
            env=self.environ,
            cwd=self.entry.pw_dir,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=2 * PATIENCE,
        )

    def run(self, *command: str) -> str:
        """Run a command that must succeed."""
        done = self.try_(*command)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        return done.stdout

    def memman(self, *words: str) -> str:
        """Run memman, which must succeed."""
        return self.run(PROGRAM, *words)

    def person(self, *words: str) -> str:
        """Run memman at a terminal where somebody agrees to what it asks; it must succeed."""
        return self.run(PYTHON, "-c", ATTENDED, PROGRAM, *words)

    def systemctl(self, *words: str) -> str:
        """Run systemctl for this user, which must succeed."""
        return self.run("systemctl", "--user", *words)

    def shown(self, unit: str, name: str) -> str:
        """Return a property of a unit."""
        return self.systemctl("show", "--value", f"--property={name}", unit).strip()

    def stored(self, query: str) -> bool:
        """Whether a hit for a query that has its last word is a stored memory, superseded or not, no waiting note."""
        hits = json.loads(self.memman("recall", "--json", "--history", query))["hits"]
        return any(query.rsplit(maxsplit=1)[-1] in hit["text"] and not hit["pending"] for hit in hits)

    def waiting(self) -> int:
        """Count the notes that no drain has taken to its end."""
        states = json.loads(self.memman("scheduler", "status", "--json"))["queue"]["states"]
        return int(states["pending"] + states["running"] + states["parked"])

    def journal(self) -> list[str]:
        """Return what this user's units and their manager said since this boot."""
        return run("journalctl", "--boot", "--output=cat", f"_UID={self.entry.pw_uid}").splitlines()

    def starts(self) -> int:
        """Count the starts of a drain since this boot."""
        return sum(f"Starting {SERVICE}" in line for line in self.journal())

    def remembers(self, word: str) -> float:
        """Remember a note with `word` and return the seconds until it is recalled as stored."""
        self.memman("remember", f"The heron keeps its eggs in box {word}.")
        began = time.monotonic()
        until(f"{word} is stored", lambda: self.stored(f"heron eggs box {word}"))
        return time.monotonic() - began


def run(*command: str) -> str:
    """Run a command as root, which must succeed."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def until(what: str, holds: Callable[[], bool], seconds: float = PATIENCE) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"in vain waited until {what}"
        time.sleep(0.02)


def lay_program(source: str) -> None:
    """Copy the environment to where every user can read it, and let them reach the interpreter it stands on."""
    shutil.copytree(source, "/opt/memman", symlinks=True)
    script = Path(PROGRAM)
    first, rest = script.read_text().split("\n", 1)
    assert first.startswith("#!")
    script.write_text(f"#!/opt/memman/bin/python\n{rest}")
    # What the tests share, beside the installed program.
    [library] = Path("/opt/memman/lib").glob("python3*/site-packages")
    shutil.copytree(SUPPORT, library / "tests/support")
    for folder in Path(os.path.realpath("/opt/memman/bin/python")).parents:
        folder.chmod(folder.stat().st_mode | 0o055)


def say(line: str) -> None:
    """Print a line that the test shows."""
    print(line, flush=True)


def unfailed(user: User) -> None:
    """Assert that no unit of memman is or was in the failed state since this boot."""
    assert not user.systemctl("list-units", "--failed", "--plain", "--no-legend", "memman*")
    failed = [line for line in user.journal() if "memman-drain" in line and "ailed" in line]
    assert not failed, failed


# --- the parts ---


def works() -> None:
    """Everything up to the reboot."""
    alice = User("alice")
    say(alice.memman(*INSTALL).rstrip())
    clean(alice)
    takes(alice)
    survives_a_burst(alice)
    stops_and_starts(alice)
    resumes(alice)
    unfailed(alice)


def clean(user: User) -> None:
    """See that the units are sound, and exposed as little as can be."""
    units = [f"{user.environ['HOME']}/.config/systemd/user/{unit}" for unit in UNITS]
    verified = user.try_("systemd-analyze", "--user", "verify", *units)
    assert (verified.returncode, verified.stdout + verified.stderr) == (0, ""), verified
    exposure = user.run("systemd-analyze", "--user", "--no-pager", "security", SERVICE).splitlines()[-1]
    say(exposure)
    assert float(exposure.split(":")[1].split()[0]) <= EXPOSURE


def takes(user: User) -> None:
    """See that a note is recalled as stored in time, again and again, with no other action."""
    worst = max(user.remembers(f"alpha{number}") for number in range(TIMES))
    say(f"{TIMES} notes, each stored after {worst:.2f} s at most")
    assert worst <= STORED or not QUIET


def survives_a_burst(user: User) -> None:
    """See that many notes at once are all drained, and no limit trips."""
    began = time.monotonic()
    with ThreadPoolExecutor(4) as pool:
        notes = (f"Sensor number {n} of the weir reports level {n * 7}." for n in range(BURST))
        list(pool.map(lambda note: user.memman("remember", note), notes))
    took = time.monotonic() - began
    until("the burst is drained", lambda: user.waiting() == 0)
    say(f"{BURST} notes in {took:.1f} s, drained {time.monotonic() - began - took:.1f} s later")
    unfailed(user)


def stops_and_starts(user: User) -> None:
    """See that memory is read only while stopped and nothing is started, and all goes on when started."""
    user.memman("scheduler", "stop")
    refused = user.try_(PROGRAM, "remember", "Nobody will know.")
    assert refused.returncode == 69, refused
    assert "cannot remember" in refused.stderr
    assert user.stored("heron eggs box alpha3")
    assert {user.shown(unit, "ActiveState") for unit in UNITS} == {"inactive"}
    assert {user.shown(unit, "UnitFileState") for unit in (TIMER, PATH)} == {"disabled"}
    user.memman("scheduler", "start")
    user.remembers("bravo")


def resumes(user: User) -> None:
    """See that a drain told to end ends well, and the timer has its notes taken up again."""
    user.memman("scheduler", "interval", "3")
    user.systemctl("stop", PATH, TIMER)
    # So many that it is not done before it is told to end, also on a busy machine.
    many = 800
    user.run("sh", "-c", f"seq -f 'Gauge %g of the lock was read by the keeper.' {many} | {PROGRAM} remember - --lines")
    user.memman("scheduler", "trigger")
    until("the drain is at work", lambda: user.waiting() < many)
    user.systemctl("kill", "--signal=TERM", SERVICE)
    until("the drain has ended", lambda: user.shown(SERVICE, "ActiveState") == "inactive")
    left = user.waiting()
    say(f"a drain ended by SIGTERM left {left} of {many} notes")
    assert left
    assert user.shown(SERVICE, "Result") == "success"
    user.systemctl("start", TIMER)
    until("the rest is drained", lambda: user.waiting() == 0)
    user.systemctl("start", PATH)


def ticks() -> None:
    """See that the timer's runs come on time, and after a pause there is one, not one for each that was missed."""
    user = User("tina")
    user.memman(*INSTALL)
    user.memman("scheduler", "interval", str(INTERVAL))
    user.systemctl("stop", PATH)
    until("the first run is over", lambda: ended(user) > 0)
    late = []
    for _ in range(TICKS):
        before = ended(user)
        until("the next run", lambda before=before: began(user) > before)
        late.append(began(user) - before - INTERVAL)
        until("its end", lambda: ended(user) > began(user))
    assert max(late) <= LATE or not QUIET, late
    user.systemctl("stop", TIMER)
    time.sleep(3 * INTERVAL)
    before = user.starts()
    user.systemctl("start", TIMER)
    until("a run makes up for the pause", lambda: user.starts() > before)
    time.sleep(INTERVAL - 2)
    caught = user.starts() - before
    assert caught == 1
    unfailed(user)
    worst = f"{max(late):.2f} s late at most"
    say(f"ticks: {TICKS} of systemd's each {INTERVAL} s: {worst}; after {3 * INTERVAL} s of pause {caught} run")


def began(user: User) -> float:
    """Return when the service was last started, in the machine's own seconds."""
    return int(user.shown(SERVICE, "InactiveExitTimestampMonotonic")) / 1_000_000


def ended(user: User) -> float:
    """Return when it last came to its end."""
    return int(user.shown(SERVICE, "InactiveEnterTimestampMonotonic")) / 1_000_000


def lacks_its_program() -> None:
    """See that a launcher that is gone makes the service fail, not spin; back again, the timer mends all."""
    user = User("dave")
    user.memman(*INSTALL)
    user.memman("scheduler", "interval", "3")
    user.remembers("golf")
    launcher = Path(user.environ["HOME"], ".memman/bin/memman")
    launcher.rename(f"{launcher}.away")
    user.memman("remember", "The weir was painted green.")
    since = time.monotonic()
    failures = lambda: sum("Failed to start memman-drain" in line for line in user.journal())  # noqa: E731
    until("the service has failed", lambda: failures() > 0)
    time.sleep(2)
    tries, took = failures(), time.monotonic() - since
    say(f"without its program the service failed {tries} times in {took:.1f} s")
    assert tries <= took + 1
    Path(f"{launcher}.away").rename(launcher)
    until("the note is stored", lambda: user.stored("weir painted green."))


def runs_after_a_reboot() -> None:
    """See that notes are drained after a boot, with nobody logged in; then stop."""
    alice = User("alice")
    took = alice.remembers("charlie")
    say(f"after the reboot a note was stored after {took:.2f} s")
    unfailed(alice)
    alice.memman("scheduler", "stop")


def stays_stopped() -> None:
    """See that what was stopped before a boot is so after it, and that no unit is left behind once uninstalled."""
    alice = User("alice")
    assert alice.try_(PROGRAM, "remember", "Nobody will know.").returncode == 69
    assert {alice.shown(unit, "ActiveState") for unit in UNITS} == {"inactive"}
    alice.memman("scheduler", "start")
    alice.remembers("delta")
    say(alice.person(*UNINSTALL).rstrip())
    assert not alice.try_("systemctl", "--user", "list-unit-files", "--plain", "--no-legend", "memman*").stdout
    assert not alice.systemctl("list-units", "--all", "--plain", "--no-legend", "memman*")
    assert not list(Path("/home/alice/.config/systemd").rglob("*memman*"))
    assert alice.stored("heron eggs box delta")


def takes_any_folder() -> None:
    """See that paths with all that systemd makes much of, and one below /tmp, are as good as others."""
    folders = {"bob": '/home/bob/my data/100%h "$HOME" a:b \\n', "carol": "/tmp/carol/data"}  # noqa: S108 - the box's
    for name, folder in folders.items():
        user = User(name, MEMMAN_DATA_DIR=folder)
        user.memman(*INSTALL)
        clean(user)
        took = user.remembers("echo")
        say(f"in {folder!r} a note was stored after {took:.2f} s")
        unfailed(user)


def needs_no_namespaces() -> None:
    """See that where none can be made, the drain runs without its sandbox, and install says so."""
    alice = User("alice")
    said = alice.memman(*INSTALL)
    assert "without the file-system sandbox" in said, said
    say(said.rstrip())
    say(f"without namespaces a note was stored after {alice.remembers('foxtrot'):.2f} s")
    unfailed(alice)


def has_namespaces() -> None:
    """Install where namespaces can be made."""
    erin = User("erin")
    assert "without its" not in erin.memman(*INSTALL)
    erin.remembers("hotel")
    unfailed(erin)


def loses_namespaces() -> None:
    """See that when namespaces are gone after a boot nothing spins, doctor tells what mends it, and that does."""
    erin = User("erin")
    until("the first tick has passed", lambda: erin.starts() > 0)
    before = erin.starts()
    erin.memman("remember", "The heron keeps its eggs in box hotel.")
    time.sleep(5)
    starts = erin.starts() - before
    say(f"namespaces gone, {starts} starts in 5 s")
    assert starts <= 3
    assert {erin.shown(unit, "ActiveState") for unit in (PATH, TIMER)} == {"active"}
    assert "its sandbox is no longer available" in erin.memman("scheduler", "status")
    assert erin.try_(PROGRAM, "doctor").returncode == 1
    erin.memman("scheduler", "install")
    erin.remembers("india")


def finds_them_again() -> None:
    """See that drains run on where the namespaces are back."""
    erin = User("erin")
    erin.remembers("juliett")
    until("the drain has ended", lambda: erin.shown(SERVICE, "ActiveState") == "inactive")
    assert erin.shown(SERVICE, "Result") == "success"


def stuck_bells() -> None:
    """See that a bell that cannot be silenced makes nothing spin or give up, and all is well once it can be."""
    user = User("frank")
    user.memman(*INSTALL)
    user.remembers("kilo")
    data = Path(user.environ["HOME"], ".memman")
    for stick, loosen in (
        (f"mkdir -p {data}/doorbell/in", f"rm -r {data}/doorbell"),
        (f"touch {data}/doorbell && chmod 500 {data}", f"chmod 700 {data}"),
    ):
        before, since = user.starts(), time.monotonic()
        user.run("sh", "-c", stick)
        until("it is heard again", lambda before=before: user.starts() > before + 1)
        time.sleep(2)
        starts, took = user.starts() - before, time.monotonic() - since
        say(f"`{stick}`: {starts} starts in {took:.1f} s")
        assert starts <= took + 2
        assert user.shown(PATH, "ActiveState") == "active"
        user.run("sh", "-c", loosen)
        user.remembers("lima")


def follows_links() -> None:
    """See that a data folder with links into other places is drained, sandbox or not."""
    user = User("grace")
    home = user.environ["HOME"]
    user.memman("remember", "The lock is shut on Mondays.")
    user.run("sh", "-c", f"mkdir -p {home}/big/data {home}/more && ln -s {home}/big/data {home}/.memman/data")
    user.run("sh", "-c", f"ln -s {home}/more {home}/big/data/default")
    user.memman(*INSTALL)
    user.remembers("mike")
    assert Path(home, "more/memman.db").exists()
    unfailed(user)


def stops_amid_a_call() -> None:
    """See that `scheduler stop` ends a drain whose provider hangs, without a failure, and the note stays."""
    user = User("heidi")
    user.memman(*INSTALL)
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        deaf.settimeout(PATIENCE)
        user.person("config", "set", "llm_endpoint", f"http://127.0.0.1:{deaf.getsockname()[1]}")
        user.memman("remember", "The lock is shut on Mondays.")
        with deaf.accept()[0]:
            began = time.monotonic()
            user.memman("scheduler", "stop")
            until("the drain has ended", lambda: user.shown(SERVICE, "ActiveState") in {"inactive", "failed"})
            took = time.monotonic() - began
            say(f"a drain amid a call was gone {took:.1f} s after `stop`")
    assert took < 5 or not QUIET
    assert user.shown(SERVICE, "Result") == "success"
    assert user.waiting() == 1
    user.memman("config", "unset", "llm_endpoint")
    user.memman("scheduler", "start")
    until("the note is drained", lambda: user.waiting() == 0)
    unfailed(user)


def asks_its_agent() -> None:
    """See that a drain asks the user's own agent outside of the drain's sandbox, and ends it with the scheduler."""
    user = User("lena")
    there = "/home/lena/.local/bin"
    user.run(PYTHON, "-c", f"from pathlib import Path; {_AGENT}; install('claude-code', Path('{there}'))")
    user.memman(*INSTALL, "--agent-model", "claude-code")
    user.remembers("sierra")
    call = json.loads(Path(there, "calls").read_text().splitlines()[0])
    assert call["stdin"]
    assert call["confined"] is False, call
    assert call["environ"]["MEMMAN_HOOKS"] == "off"
    assert "asked-of-the-model" in user.memman("insights", "list", "--json")
    user.run(
        PYTHON, "-c", f"from pathlib import Path; {_AGENT}; install('claude-code', Path('{there}')).behave('hang')"
    )
    user.memman("remember", "The heron keeps its eggs in box tango.")
    until("the agent is asked", lambda: Path(there, "child").exists())
    user.memman("scheduler", "stop")
    until("the agent is gone", lambda: not Path(f"/proc/{Path(there, 'child').read_text()}").exists())
    user.memman("scheduler", "start")
    unfailed(user)


def two_folders() -> None:
    """See that one data folder's verbs leave the units of another alone, and install takes over with a word."""
    one, two = User("ivan"), User("ivan", MEMMAN_DATA_DIR="/home/ivan/second")
    one.memman(*INSTALL)
    assert "/home/ivan/.memman" in two.memman("scheduler", "install")
    two.remembers("november")
    assert "for another data folder" in one.memman("scheduler", "status")
    assert "left alone" in one.memman("scheduler", "stop")
    assert "left alone" in one.memman("scheduler", "uninstall")
    assert {two.shown(unit, "ActiveState") for unit in (PATH, TIMER)} == {"active"}
    two.remembers("oscar")


def another_config_home() -> None:
    """See that XDG_CONFIG_HOME of a shell, which the manager does not know of, is no matter."""
    user = User("judy", XDG_CONFIG_HOME="/home/judy/elsewhere")
    user.memman(*INSTALL)
    user.remembers("papa")
    user.person(*UNINSTALL)
    assert not Path("/home/judy/elsewhere").exists()
    assert not Path("/home/judy/.config/systemd").exists()


def files_are_gone() -> None:
    """See that uninstall unloads units whose files somebody removed."""
    user = User("kim")
    user.memman(*INSTALL)
    user.remembers("quebec")
    user.run("sh", "-c", "rm -r ~/.config/systemd/user/memman*")
    assert user.shown(PATH, "ActiveState") == "active"
    say(user.person(*UNINSTALL).rstrip())
    assert not user.systemctl("list-units", "--all", "--plain", "--no-legend", "memman*")
    assert not list(Path("/home/kim/.config").rglob("*memman*"))


def enables_lingering() -> None:
    """See that lingering that install enabled is said, once."""
    run("systemctl", "start", "user@0.service")
    root = User("root")
    Path("/var/lib/systemd/linger/root").unlink(missing_ok=True)
    said = root.memman("scheduler", "install")
    assert "lingering was enabled" in said, said
    assert "lingering was enabled" not in root.memman("scheduler", "install")


if __name__ == "__main__":
    if not Path(PROGRAM).exists():
        lay_program(sys.argv[1])
    for part in sys.argv[2:]:
        globals()[part]()
