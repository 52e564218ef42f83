"""What all tests share: long forms, the figures of promises, and a gate that fails where a test was left out."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

# Read before any test scrubs them: the long form of a sweep, and the folder that promises write their figures into.
LONG = bool(os.environ.get("MEMMAN_LONG"))
FIGURES = os.environ.get("MEMMAN_FIGURES", "")
# What a figure begins with where the test is over stores of several kinds.
_KINDS = {"postgres": "on a server: ", "folder": "by a folder: "}


def pytest_sessionfinish(session: pytest.Session) -> None:
    """With MEMMAN_NOTHING_SKIPPED set, end in failure where anything was skipped."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    left_out = reporter.stats.get("skipped", []) if reporter else []
    if left_out and os.environ.get("MEMMAN_NOTHING_SKIPPED"):
        reporter.write_line(f"{len(left_out)} tests were left out, and here none may be", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture
def rounds() -> Callable[[int, int], int]:
    """Choose how much a sweep does: `rounds(short, long)`; MEMMAN_LONG=1 asks for the long form."""
    return lambda short, long: long if LONG else short


@pytest.fixture
def kept(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Write down what a test marked `promise` saw: `kept("500 kills: 0 lost, 0 duplicated")`."""
    promises = [mark.args[0] for mark in request.node.iter_markers("promise")]
    given = getattr(request.node, "callspec", None)
    kind = _KINDS.get(given.params.get("kind", ""), "") if given else ""

    def write(figure: str) -> None:
        if not promises:
            pytest.fail("only a promise has a figure")
        for promise in promises if FIGURES else ():
            seen = {"promise": promise, "test": request.node.nodeid, "long": LONG, "figure": kind + figure}
            path = Path(FIGURES).resolve() / f"{promise}-{request.path.stem}-{request.node.name.replace('/', '_')}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(seen, ensure_ascii=False) + "\n")

    return write
