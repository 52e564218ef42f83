"""systemd units: what is rendered, and what the manager is asked, by programs that stand in for systemd's own."""

import configparser
import json
import os
import re
import shlex
import shutil
import subprocess
import time
from dataclasses import replace

import pytest

from memman.config.command import launcher_path
from memman.config.schedule import Schedule, bell_path
from memman.drain.report import Report
from memman.model.errors import (
    BadReply,
    BudgetSpent,
    Busy,
    DamagedFile,
    NoServer,
    ProviderUnavailable,
    SchedulerStopped,
    UsageError,
)
from memman.scheduler import systemd
from tests.support.box import PATIENCE

# Answers as a manager does that is well: every unit loaded, and the timer's next run in Unix microseconds.
WELL = """
case "$*" in
*list-timers*) echo '[{"next":1790000000000000,"unit":"memman-drain.timer"}]' ;;
*LoadState*)
    printf 'Id=memman-drain.service\\nLoadState=loaded\\nActiveState=inactive\\nUnitFileState=static\\n'
    echo Result=success
    for unit in timer path; do
        printf '\\nId=memman-drain.%s\\nLoadState=loaded\\nActiveState=active\\nUnitFileState=enabled\\n' "$unit"
        echo Result=success
    done ;;
esac
"""
FAILED = WELL.replace("ActiveState=inactive", "ActiveState=failed").replace("Result=success", "Result=exit-code", 1)
# What passes by itself: the next drain comes anyway.
PASSING = (NoServer, ProviderUnavailable, BadReply, BudgetSpent, SchedulerStopped, Busy)
USUAL = {"memman-drain.service", "memman-drain.timer", "memman-drain.path"}
# A manager that never answers; the shell's own wait is what is cut short.
HANGS = "exec sleep 60"


@pytest.fixture(name="manager")
def _manager(standin):
    """Make this a machine whose service manager obeys, and can make namespaces."""
    standin("loginctl")
    standin("systemd-run")
    return standin("systemctl", WELL)


def read(text):
    """Parse a unit; keys that come several times are lists."""
    found = {}

    class Lists(dict):
        def __setitem__(self, key, value):
            super().__setitem__(key, [*self.get(key, []), *value] if isinstance(value, list) else value)

    unit = configparser.RawConfigParser(dict_type=Lists, strict=False, comment_prefixes=("#",), delimiters=("=",))
    unit.optionxform = str
    unit.read_string(text)
    for section in unit.sections():
        found |= dict(unit.items(section))
    return found


def placed(box):
    """Return the unit files of this box's user."""
    folder = box.data.parent / ".config/systemd/user"
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_what_passes_hides_nothing_that_does_not():
    """A drain that finds a server out of reach and a damaged store fails, whichever it finds first."""
    away, broken = NoServer("away"), DamagedFile("broken")
    for errors in ((away, broken), (broken, away)):
        report = Report()
        for error in errors:
            later = Report()
            later.trouble(error)
            report.add(later)
        assert report.exit_code == broken.exit_code


@pytest.mark.usefixtures("manager")
def test_the_units_say_what_the_design_needs(box):
    """Bell, interval, launcher, limits and deadline stand in the units, and no placeholder is left."""
    data = str(box.data)
    texts = systemd.rendered(data)
    assert set(texts) == USUAL | {systemd.SANDBOX}
    assert not re.search("@[A-Z]+@", "".join(texts.values()))
    kinds = ("service", "timer", "path", "service.d/sandbox.conf")
    service, timer, path, sandbox = (read(texts[f"memman-drain.{kind}"]) for kind in kinds)
    words = shlex.split(service["ExecStart"].removeprefix(":"))
    assert words == ["/bin/sh", launcher_path(data), "scheduler", "drain", "--wait", "--deadline", "240"]
    shell, _, script, bell = shlex.split(service["ExecStartPre"].removeprefix("-+:"))
    assert (shell, script.split()[0], bell) == ("/bin/sh", "rm", bell_path(data))
    assert (service["Type"], service["StartLimitIntervalSec"]) == ("oneshot", "0")
    assert int(service["TimeoutStartSec"]) > 240
    assert set(service["SuccessExitStatus"].split()) == {"SIGTERM", *(str(one.exit_code) for one in PASSING)}
    assert (timer["OnUnitInactiveSec"], timer["AccuracySec"]) == ("60s", "1s")
    assert {"OnActiveSec", "OnBootSec"} <= set(timer)
    assert (path["PathExists"], path["TriggerLimitIntervalSec"]) == (bell_path(data), "0")
    assert sandbox["BindPaths"] == f'"-{data}"'
    assert service["Environment"] == f'"MEMMAN_DATA_DIR={data}"'


@pytest.mark.usefixtures("box", "manager")
def test_the_usual_folder_needs_no_variable():
    """Only a data folder that was moved is named to the program."""
    assert "Environment" not in read(systemd.rendered(os.path.expanduser("~/.memman"))["memman-drain.service"])


@pytest.mark.parametrize(
    ("word", "quoted"),
    [
        ("/plain", '"/plain"'),
        ("/with space", '"/with space"'),
        ("/100%h", '"/100%%h"'),
        ('/a"b', '"/a\\"b"'),
        ("/a\\b", '"/a\\\\b"'),
        ("/a$HOME", '"/a$HOME"'),
    ],
)
def test_words_are_quoted_as_systemd_reads_them(word, quoted):
    """Spaces, specifiers, quotes and backslashes stay what they are."""
    assert systemd.quoted(word) == quoted
    assert systemd.escaped(word) == word.replace("%", "%%")


def test_a_path_that_no_unit_can_hold_is_refused():
    """A newline would begin another setting."""
    with pytest.raises(UsageError, match="control character"):
        systemd.escaped("/home/x\nExecStart=/bin/evil")


def test_install_lays_down_loads_and_starts(box, manager):
    """The files are there, the manager reloads, and the timer and the path unit are enabled and started."""
    done = box.memman("scheduler", "install")
    assert (done.returncode, done.stderr) == (0, "")
    assert "starts a drain after each new note and every 60 s" in done.stdout
    assert placed(box) == USUAL | {systemd.SANDBOX}
    assert os.access(launcher_path(str(box.data)), os.X_OK)
    assert Schedule.load(str(box.data)).kind == "systemd"
    units = "memman-drain.timer memman-drain.path"
    orders = [call for call in manager.calls() if "show" not in call]
    assert orders == ["--user daemon-reload", f"--user enable {units}", f"--user restart {units}"]


@pytest.mark.usefixtures("manager")
def test_install_twice_writes_once(box):
    """What is as it should be is not written again."""
    box.memman("scheduler", "install")
    folder = box.data.parent / ".config/systemd/user"
    files = [*(folder / name for name in placed(box)), box.data / "bin/memman"]
    before = [path.stat().st_ino for path in files]
    assert box.memman("scheduler", "install").returncode == 0
    assert [path.stat().st_ino for path in files] == before
    (folder / "memman-drain.timer").write_text("mangled")
    box.memman("scheduler", "install")
    assert "OnBootSec" in (folder / "memman-drain.timer").read_text()


@pytest.mark.usefixtures("manager")
def test_without_user_namespaces_there_is_no_sandbox(box, standin):
    """Where the manager cannot build the sandbox, install leaves it out, takes away an old one, and says so."""
    box.memman("scheduler", "install")
    probe = standin("systemd-run", "exit 217")
    probe.calls()
    done = box.memman("scheduler", "install")
    assert "without the file-system sandbox" in done.stdout
    assert placed(box) == USUAL
    (asked,) = probe.calls()
    assert "--property=PrivateUsers=yes" in asked
    assert "BindPaths" not in asked


@pytest.mark.usefixtures("manager")
def test_no_lingering_is_said(box, standin):
    """Where this user's units end at logout, install says who can change that."""
    linger = standin("loginctl", "exit 1")
    said = box.memman("scheduler", "install").stdout
    assert ("enable-linger" in said) == (not systemd.lingers())
    assert all(call.startswith("--no-ask-password enable-linger ") for call in linger.calls())


def test_stop_saves_the_state_before_any_unit_hears_of_it(box, manager, standin):
    """Units are disabled, a running drain is asked to end; where the manager fails, the state is saved all the same."""
    box.memman("scheduler", "install")
    manager.calls()
    assert box.memman("scheduler", "stop").returncode == 0
    units = "memman-drain.timer memman-drain.path"
    assert manager.calls() == [f"--user disable --now {units}", "--user stop --no-block memman-drain.service"]
    assert box.memman("scheduler", "start").returncode == 0
    assert manager.calls() == [f"--user enable {units}", f"--user restart {units}"]
    standin("systemctl", "echo no bus >&2; exit 1")
    done = box.memman("scheduler", "stop")
    assert (done.returncode, "no bus" in done.stdout, done.stderr) == (0, True, "")
    assert Schedule.load(str(box.data)).stopped


def test_installed_again_while_stopped_it_stays_stopped(box, manager):
    """An upgrade does not start what a person stopped."""
    box.memman("scheduler", "install")
    box.memman("scheduler", "stop")
    manager.calls()
    assert "stays stopped until" in box.memman("scheduler", "install").stdout
    assert not [call for call in manager.calls() if " enable " in call or " restart " in call]
    assert Schedule.load(str(box.data)).stopped


def test_trigger_and_interval_reach_the_units(box, manager):
    """`trigger` starts the service; `interval` rewrites the timer and starts it afresh."""
    box.memman("scheduler", "install")
    manager.calls()
    assert box.memman("scheduler", "trigger").returncode == 0
    assert manager.calls() == ["--user start --no-block memman-drain.service"]
    assert box.memman("scheduler", "interval", "15").returncode == 0
    assert box.memman("scheduler", "interval").stdout == "15\n"
    timer = box.data.parent / ".config/systemd/user/memman-drain.timer"
    assert "OnUnitInactiveSec=15s" in timer.read_text()
    assert any("restart" in call for call in manager.calls())


@pytest.mark.usefixtures("manager")
def test_status_shows_units_and_runs(box, standin):
    """Each unit's state, the last and the next run; a failed service is not well."""
    box.memman("scheduler", "install")
    box.remember("The heron nests.")
    box.drain()
    record = json.loads(box.memman("scheduler", "status", "--json").stdout)
    assert (record["kind"], record["state"], record["well"]) == ("systemd", "started", True)
    assert record["next_run"] == 1_790_000_000_000
    assert record["units"]["memman-drain.timer"] == "active, enabled"
    assert record["last_run"] > 0
    assert json.loads(box.memman("status", "--json").stdout)["scheduler"]["kind"] == "systemd"
    standin("systemctl", FAILED)
    record = json.loads(box.memman("scheduler", "status", "--json").stdout)
    assert record["well"] is False
    assert record["units"]["memman-drain.service"] == "failed, exit-code"
    assert "failed, exit-code" in box.memman("scheduler", "status").stdout


def test_uninstall_leaves_no_unit_and_no_word(box, manager):
    """Units and their folder go, the user's own drop-ins stay; a second time there is nothing to do."""
    box.memman("scheduler", "install")
    manager.calls()
    own = box.data.parent / ".config/systemd/user/memman-drain.service.d/mine.conf"
    own.write_text("[Service]\nNice=5\n")
    assert "removed the systemd units" in box.memman("scheduler", "uninstall").stdout
    calls = manager.calls()
    assert calls[0] == "--user disable --now memman-drain.timer memman-drain.path"
    assert "--user daemon-reload" in calls
    assert placed(box) == {"memman-drain.service.d/mine.conf"}
    assert Schedule.load(str(box.data)).kind == "nobody"
    assert "no scheduler was installed" in box.memman("scheduler", "uninstall").stdout


@pytest.mark.usefixtures("manager")
def test_a_manager_that_refuses_is_one_line(box, standin):
    """Where an order fails, install says which, and writes start drains."""
    standin("systemctl", '[ "$2" != daemon-reload ] || { echo "Access denied" >&2; exit 1; }')
    done = box.memman("scheduler", "install")
    assert (done.returncode, done.stdout.count("\n"), done.stderr) == (0, 1, "")
    assert done.stdout.startswith("`systemctl --user daemon-reload` failed: Access denied: each write starts a drain")
    assert Schedule.load(str(box.data)).kind == "write"


@pytest.mark.parametrize("verb", ["install", "uninstall", "start", "stop", "status", "interval", "trigger"])
@pytest.mark.parametrize("hang", [False, True])
def test_a_machine_without_systemd_gets_lines_and_no_traceback(box, standin, verb, hang):
    """With no manager, or none that answers, every verb says in a line what is so."""
    script = 'echo "Failed to connect to bus" >&2; exit 1'
    for name in ("systemctl", "loginctl", "systemd-run", "launchctl"):
        standin(name, script)
    if hang:
        for name in ("systemctl", "loginctl", "systemd-run", "launchctl"):
            os.unlink(box.data.parent / "standins" / name)
        box.environ["PATH"] = "/nonexistent"
    for unset in ("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"):
        box.environ.pop(unset, None)
    done = box.memman("scheduler", verb)
    assert done.returncode == {"interval": 69}.get(verb, 0)
    assert "Traceback" not in done.stdout + done.stderr
    if verb == "install":
        assert "neither systemd nor launchd answers here: each write starts a drain" in done.stdout
        assert Schedule.load(str(box.data)).kind == "write"


@pytest.mark.usefixtures("manager")
@pytest.mark.parametrize("bell", ["absent", "file", "empty", "full"])
def test_the_units_silence_any_bell_or_take_their_time(box, bell):
    """A file and an empty folder go; what cannot go costs a second."""
    box.data.mkdir()
    path = box.data / "doorbell"
    if bell == "file":
        path.touch()
    elif bell != "absent":
        (path / "in").mkdir(parents=True)
        if bell == "empty":
            (path / "in").rmdir()
    before = read(systemd.rendered(str(box.data))["memman-drain.service"])["ExecStartPre"]
    began = time.monotonic()
    subprocess.run(shlex.split(before.removeprefix("-+:")), check=False)
    assert path.exists() == (bell == "full")
    assert (time.monotonic() - began >= 1) or bell != "full"


@pytest.mark.usefixtures("manager")
def test_the_sandbox_lets_the_drain_follow_links(box):
    """Folders that links in the data folder lead to are written to as well."""
    big, store = box.data.parent / "big", box.data.parent / "more"
    for folder in (box.data, big, store):
        folder.mkdir()
    (box.data / "data").symlink_to(big)
    (big / "default").symlink_to(store)
    (big / "nowhere").symlink_to("/nonexistent")
    sandbox = read(systemd.rendered(str(box.data))[systemd.SANDBOX])
    assert shlex.split(sandbox["BindPaths"]) == [f"-{path}" for path in (box.data, *sorted((big, store)))]


def test_units_of_another_data_folder_are_left_alone(box, manager):
    """Only install takes them over, with a word; what else there is says whose they are and does nothing to them."""
    box.memman("scheduler", "install")
    other = replace(box, environ=box.environ | {"MEMMAN_DATA_DIR": str(box.data.parent / "other")})
    assert f"from {launcher_path(str(box.data))}" in other.memman("scheduler", "install").stdout
    manager.calls()
    for verb, code in (("stop", 0), ("start", 0), ("interval", 0), ("trigger", 69), ("uninstall", 0)):
        done = box.memman("scheduler", verb, *(["7"] if verb == "interval" else []))
        assert (done.returncode, "left alone" in done.stdout + done.stderr) == (code, True), verb
        assert not [call for call in manager.calls() if "show" not in call]
    assert placed(box) == USUAL | {systemd.SANDBOX}
    box.memman("scheduler", "install")
    assert "for another data folder" in other.memman("scheduler", "status").stdout


def test_units_whose_files_are_gone_are_unloaded(box, manager):
    """Where the schedule names systemd, uninstall stops the units all the same, and takes their links away."""
    box.memman("scheduler", "install")
    folder = box.data.parent / ".config/systemd/user"
    shutil.rmtree(folder)
    link = folder / "timers.target.wants/memman-drain.timer"
    link.parent.mkdir(parents=True)
    link.symlink_to("/nonexistent")
    manager.calls()
    assert "removed the systemd units" in box.memman("scheduler", "uninstall").stdout
    calls = manager.calls()
    assert any(call.startswith("--user stop memman-drain.timer") for call in calls)
    assert any(call.startswith("--user reset-failed") for call in calls)
    assert not folder.parent.exists()


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["install", "uninstall", "start", "stop", "status"])
@pytest.mark.usefixtures("manager")
def test_a_manager_that_hangs_keeps_nobody_long(box, standin, verb):
    """Once it has not answered it is not asked again; the verb says so, and does what can be done."""
    box.memman("scheduler", "install")
    hangs = standin("systemctl", HANGS)
    hangs.calls()
    done = box.memman("scheduler", verb)
    assert "answer" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == (69 if verb == "start" else 0)
    assert len(hangs.calls()) == 1
    assert placed(box) == (set() if verb == "uninstall" else USUAL | {systemd.SANDBOX})


@pytest.mark.usefixtures("manager")
def test_a_manager_that_talks_nonsense_is_borne(box, standin):
    """What it prints is read as far as it can be."""
    box.memman("scheduler", "install")
    standin("systemctl", "echo '}{ nonsense'; echo '[{\"next\": Infinity}]'")
    record = json.loads(box.memman("scheduler", "status", "--json").stdout)
    assert (record["well"], record["units"]) == (False, {})
    assert box.memman("scheduler", "stop").returncode == 0


@pytest.mark.usefixtures("manager")
def test_where_nobody_answers_any_more_writes_start_drains(box, standin):
    """Also where the schedule still names who did; where it answers again, an install hands them over."""
    box.memman("scheduler", "install")
    for name in ("systemctl", "launchctl"):
        standin(name, "exit 1")
    done = box.memman("scheduler", "install")
    assert (done.returncode, "neither systemd nor launchd answers" in done.stdout) == (0, True)
    assert Schedule.load(str(box.data)).kind == "write"
    standin("systemctl", WELL)
    box.memman("scheduler", "install")
    assert Schedule.load(str(box.data)).kind == "systemd"


@pytest.mark.usefixtures("manager")
def test_an_install_that_fails_leaves_no_files(box, standin):
    """What was not there before is taken away again; what was is kept."""
    refuses = WELL + '[ "$2" != enable ] || { echo "Access denied" >&2; exit 1; }'
    standin("systemctl", refuses)
    assert box.memman("scheduler", "install").returncode == 0
    assert not (box.data.parent / ".config/systemd").exists()
    standin("systemctl", WELL)
    box.memman("scheduler", "install")
    standin("systemctl", refuses)
    assert "Access denied" in box.memman("scheduler", "install").stdout
    assert placed(box) == USUAL | {systemd.SANDBOX}


@pytest.mark.usefixtures("manager")
def test_units_go_where_the_manager_looks(box):
    """Whatever the shell's XDG_CONFIG_HOME says, which the manager may never have heard of."""
    box.environ["XDG_CONFIG_HOME"] = str(box.data.parent / "elsewhere")
    assert box.memman("scheduler", "install").returncode == 0
    assert placed(box) == USUAL | {systemd.SANDBOX}
    assert not (box.data.parent / "elsewhere").exists()


@pytest.mark.usefixtures("manager")
def test_stop_is_not_lost_to_a_change_of_the_interval(box):
    """Changes of the schedule go one after the other, with what the manager is told."""
    box.memman("scheduler", "install")
    for seconds in range(10, 16):
        box.memman("scheduler", "start")
        pair = [box.start(box.script, "scheduler", *words) for words in (("interval", str(seconds)), ("stop",))]
        said = [one.communicate(timeout=PATIENCE) for one in pair]
        assert [one.returncode for one in pair] == [0, 0], said
        schedule = Schedule.load(str(box.data))
        assert (schedule.stopped, schedule.interval) == (True, seconds)
