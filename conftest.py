"""What all tests share: which part of the suite runs, long forms, what promises saw, and no test left out."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parent
# Read before any test scrubs them: the long form of a sweep, and the folder that promises write their figures into.
LONG = bool(os.environ.get("MEMMAN_LONG"))
FIGURES = os.environ.get("MEMMAN_FIGURES", "")
# What a figure begins with where the test is over stores of several kinds.
_KINDS = {"postgres": "on a server: ", "folder": "by a folder: "}
# Fixtures that start a Postgres server.
_SERVERS = {"cluster", "team"}
# Examples that hypothesis tries of each property, by the part of the suite that runs.
_EXAMPLES = {"fast": 25, "rest": 200, "all": 100}
_EXAMPLES_LONG = 2000


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --part: `make test` runs the fast part, `make test-all` the rest."""
    parser.addoption(
        "--part",
        choices=tuple(_EXAMPLES),
        default="all",
        help="fast: stores by themselves, nothing slow; rest: what fast leaves out; all (default)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Set how many examples hypothesis tries."""
    examples = _EXAMPLES_LONG if LONG else _EXAMPLES[config.getoption("part")]
    quiet = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
    settings.register_profile("memman", max_examples=examples, deadline=None, suppress_health_check=quiet)
    settings.load_profile("memman")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of the part that was asked for."""
    part = config.getoption("part")
    if part == "all":
        return
    chosen: dict[bool, list[pytest.Item]] = {True: [], False: []}
    for item in items:
        chosen[_fast(item) == (part == "fast")].append(item)
    config.hook.pytest_deselected(items=chosen[False])
    items[:] = chosen[True]


def _fast(item: pytest.Item) -> bool:
    kinds = getattr(item, "callspec", None)
    if item.get_closest_marker("slow") or _SERVERS & set(getattr(item, "fixturenames", ())):
        return False
    return not kinds or _KINDS.keys().isdisjoint(value for value in kinds.params.values() if isinstance(value, str))


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
