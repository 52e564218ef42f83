"""The launchd agent: every key of its file, and what `launchctl` is asked, by a program that stands in for it."""

import os
import plistlib
from dataclasses import replace

import pytest

from memman.config.command import launcher_path
from memman.config.schedule import Schedule, bell_path
from memman.scheduler import launchd

SERVICE = f"gui/{os.getuid()}/io.memman.drain"
DOMAIN = f"gui/{os.getuid()}"


@pytest.fixture(name="launchctl")
def _launchctl(standin):
    """Make this a machine with launchd and no systemd."""
    for name in ("systemctl", "loginctl", "systemd-run"):
        standin(name, "exit 1")
    return standin("launchctl")


@pytest.fixture(name="plist")
def _plist(box):
    """Where the agent's file goes."""
    return box.data.parent / "Library/LaunchAgents/io.memman.drain.plist"


def test_every_key_is_what_the_design_needs(box):
    """No shell, the bell watched, an interval, private files, a place in the background: key by key."""
    data = str(box.data)
    agent = plistlib.loads(launchd.rendered(data)["io.memman.drain.plist"].encode())
    assert agent == {
        "Label": "io.memman.drain",
        "ProgramArguments": [launcher_path(data), "scheduler", "drain", "--wait", "--deadline", "240"],
        "WatchPaths": [bell_path(data)],
        "StartInterval": 60,
        "RunAtLoad": True,
        "ThrottleInterval": 1,
        "ProcessType": "Background",
        "LowPriorityIO": True,
        "Nice": 10,
        "Umask": 0o077,
        "StandardOutPath": "/dev/null",
        "StandardErrorPath": "/dev/null",
        "EnvironmentVariables": {"MEMMAN_DATA_DIR": data},
    }


@pytest.mark.usefixtures("box")
def test_paths_are_data_and_the_usual_folder_needs_no_variable():
    """Markup and quotes in a path stay a path."""
    usual = plistlib.loads(launchd.rendered(os.path.expanduser("~/.memman"))["io.memman.drain.plist"].encode())
    assert usual["EnvironmentVariables"] == {}
    odd = '/Users/x/my <data> & "more"\''
    assert plistlib.loads(launchd.rendered(odd)["io.memman.drain.plist"].encode())["WatchPaths"] == [odd + "/doorbell"]


def test_install_loads_the_agent_and_uninstall_unloads_it(box, launchctl, plist):
    """bootout, enable, bootstrap; and back: nothing of it is left."""
    done = box.memman("scheduler", "install")
    assert (done.returncode, done.stderr) == (0, "")
    assert "launchd starts a drain after each new note" in done.stdout
    assert plist.stat().st_mode & 0o777 == 0o644
    assert Schedule.load(str(box.data)).kind == "launchd"
    orders = [f"print {DOMAIN}", f"bootout {SERVICE}", f"enable {SERVICE}", f"bootstrap {DOMAIN} {plist}"]
    assert launchctl.calls() == orders
    assert box.memman("scheduler", "uninstall").returncode == 0
    assert launchctl.calls() == [f"bootout {SERVICE}", f"enable {SERVICE}"]
    assert not plist.exists()


def test_an_agent_whose_file_is_gone_is_unloaded(box, launchctl, plist):
    """Where the schedule names launchd, uninstall unloads the agent all the same."""
    box.memman("scheduler", "install")
    plist.unlink()
    launchctl.calls()
    assert "removed the launchd agent" in box.memman("scheduler", "uninstall").stdout
    assert launchctl.calls() == [f"bootout {SERVICE}", f"enable {SERVICE}"]
    assert box.memman("scheduler", "uninstall").stdout == "no scheduler was installed\n"


def test_an_agent_of_another_data_folder_is_left_alone(box, launchctl):
    """Only install takes it over, with a word."""
    box.memman("scheduler", "install")
    other = replace(box, environ=box.environ | {"MEMMAN_DATA_DIR": str(box.data.parent / "other")})
    assert f"from {launcher_path(str(box.data))}" in other.memman("scheduler", "install").stdout
    launchctl.calls()
    assert "left alone" in box.memman("scheduler", "stop").stdout
    assert "left alone" in box.memman("scheduler", "uninstall").stdout
    assert launchctl.calls() == []


def test_stop_outlives_a_reboot_and_start_undoes_it(box, launchctl, plist):
    """A disabled agent is not loaded at the next login."""
    box.memman("scheduler", "install")
    launchctl.calls()
    box.memman("scheduler", "stop")
    assert launchctl.calls() == [f"disable {SERVICE}", f"bootout {SERVICE}"]
    box.memman("scheduler", "start")
    assert launchctl.calls() == [f"bootout {SERVICE}", f"enable {SERVICE}", f"bootstrap {DOMAIN} {plist}"]


@pytest.mark.slow
@pytest.mark.usefixtures("launchctl")
def test_an_agent_that_is_still_ending_is_waited_for(box, standin):
    """An agent is loaded again and again for a while; where launchd goes on refusing, that is one line."""
    box.memman("scheduler", "install")
    flaky = standin("launchctl", '[ "$1" != bootstrap ] || [ $(grep -c bootstrap "$0.log") -gt 2 ] || exit 5')
    flaky.calls()
    assert box.memman("scheduler", "start").returncode == 0
    assert sum("bootstrap" in call for call in flaky.calls()) == 3
    standin("launchctl", '[ "$1" != bootstrap ] || { echo "Input/output error" >&2; exit 5; }')
    done = box.memman("scheduler", "start")
    assert (done.returncode, done.stderr.count("\n")) == (69, 1)
    assert "Input/output error" in done.stderr


def test_trigger_interval_and_status(box, launchctl, plist, standin):
    """kickstart; a rewritten interval; whether the agent is loaded."""
    box.memman("scheduler", "install")
    launchctl.calls()
    box.memman("scheduler", "trigger")
    assert launchctl.calls() == [f"kickstart {SERVICE}"]
    box.memman("scheduler", "interval", "20")
    assert plistlib.loads(plist.read_bytes())["StartInterval"] == 20
    assert "io.memman.drain loaded" in box.memman("scheduler", "status").stdout
    standin("launchctl", "exit 113")
    assert "io.memman.drain not loaded" in box.memman("scheduler", "status").stdout
