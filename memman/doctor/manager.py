"""What systemd itself makes of our units, whatever their own files say: masks, drop-ins, what it has not read yet."""

import os
import re
import shlex
from collections.abc import Iterator

from memman.doctor.files import aside
from memman.doctor.finding import Finding, fail, shell
from memman.scheduler import systemd

_INSTALL = "memman scheduler install"
# What changes whether, when or what a unit starts; a drop-in may say anything else.
_DECISIVE = re.compile(
    r"^\s*(Exec\w+|Condition\w+|Assert\w+|On(?:Active|Boot|Startup|Unit\w+|Calendar)(?:Sec)?|Path\w+|Unit|Type"
    r"|Refuse\w+|Environment\w*\s*=.*MEMMAN_DATA_DIR\w*)\s*=",
    re.MULTILINE,
)


def overrides(*, stopped: bool) -> Iterator[Finding]:
    """Find what keeps the units from doing what their files say."""
    for unit, shown in systemd.properties("FragmentPath", "DropInPaths", "NeedDaemonReload").items():
        path = f"{systemd.folder()}/{unit}"
        if shown.get("NeedDaemonReload") == "yes":
            yield fail(f"systemd has not read {unit} since it was changed", _INSTALL)
        fragment = shown.get("FragmentPath", "")
        if fragment and os.path.realpath(fragment) not in {os.path.realpath(path), os.devnull}:
            yield fail(f"systemd takes {unit} from {fragment} instead of {path}", hint=f"move {fragment} away")
        for dropin in _words(shown.get("DropInPaths", "")):
            yield from _dropin(unit, dropin)
    for unit, state in systemd.enabled().items():
        if state.startswith("masked"):
            runtime = ("--runtime",) if state.endswith("runtime") else ()
            unmask = shell("systemctl", "--user", "unmask", *runtime, unit)
            yield fail(f"systemd: {unit} is {state}", f"{unmask} && {_INSTALL}")
        elif state != "enabled" and not stopped:
            yield fail(f"systemd: {unit} is {state}: nothing starts it at the next login", _INSTALL)


def _dropin(unit: str, path: str) -> Iterator[Finding]:
    decisive = "" if path == f"{systemd.folder()}/{systemd.SANDBOX}" else overridden(path)
    if decisive:
        mine = os.access(os.path.dirname(path), os.W_OK)
        away = f"{'' if mine else 'sudo '}{shell('mv', path, aside(path))}"
        yield fail(f"{path} overrides {decisive} of {unit}", f"{away} && {_INSTALL}")


def overridden(path: str) -> str:
    """Name what a drop-in sets that changes whether, when or what a unit starts, '' for nothing."""
    try:
        with open(path, encoding="utf-8", errors="replace") as source:
            found = _DECISIVE.search(source.read())
    except OSError:
        return ""
    return found[1].partition("=")[0].strip() if found else ""


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()
