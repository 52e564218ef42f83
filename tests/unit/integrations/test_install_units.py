"""The units of one user have one name: what install says where they are another data folder's, and who removes them."""

import pytest

from memman.scheduler import launchd, systemd
from memman.scheduler.control import install, plan, uninstall

MANAGERS = {"systemd": ("systemctl", "loginctl", "systemd-run"), "launchd": ("launchctl",)}


@pytest.fixture(name="adapter", params=MANAGERS)
def _adapter(request, standin):
    """Make this a machine where one manager answers."""
    for kind, programs in MANAGERS.items():
        for program in programs:
            standin(program, "" if kind == request.param else "exit 1")
    return {"systemd": systemd, "launchd": launchd}[request.param]


def test_units_of_another_folder_are_replaced_and_said(adapter, tmp_path):
    """B's install says that it replaces A's units; A's uninstall leaves B's, B's own removes them."""
    a, b = (str(tmp_path / name) for name in ("A 100% <\"'\\>", "B"))
    assert adapter.owner() == ""
    assert "replaces" not in " ".join(plan(a) + install(a) + plan(a) + install(a))
    assert adapter.owner() == f"{a}/bin/memman"
    line = f"this takes over from {a}/bin/memman, whose drains will no longer be started"
    assert line in plan(b)
    assert line in install(b)
    assert adapter.owner() == f"{b}/bin/memman"
    (left,) = uninstall(a)
    assert f"{b}/bin/memman" in left
    assert adapter.owner() == f"{b}/bin/memman"
    assert "removed" in uninstall(b)[0]
    assert adapter.owner() == ""


def test_files_of_another_make_have_no_owner(adapter):
    """What cannot be read as ours is nobody's."""
    for name in adapter.rendered("/x"):
        systemd.lay(adapter.folder(), {name: "[Service]\nExecStart=/bin/true\n"})
    assert adapter.owner() == ""
