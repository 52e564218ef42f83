"""The benches run: what they import and what they name is there."""

import importlib
import pkgutil

import bench
from bench import sizes


def test_every_bench_can_be_imported():
    """A module that was merged into another is not imported by its old name."""
    for module in pkgutil.walk_packages(bench.__path__, "bench."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def test_the_sources_that_decide_what_a_store_holds_are_there():
    """Stores are built anew after a change to one of them."""
    assert sizes.version()
