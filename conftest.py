"""What all tests share: in the gate, a test that was left out fails the run."""

import os

import pytest


def pytest_sessionfinish(session: pytest.Session) -> None:
    """With MEMMAN_NOTHING_SKIPPED set, end in failure where anything was skipped."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    left_out = reporter.stats.get("skipped", []) if reporter else []
    if left_out and os.environ.get("MEMMAN_NOTHING_SKIPPED"):
        reporter.write_line(f"{len(left_out)} tests were left out, and here none may be", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
