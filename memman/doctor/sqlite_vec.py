"""Whether sqlite-vec, which scans vectors, loads; and what it would bring where it is not installed.

Looks at: the vector extension
Finds: warns where it does not load, and where a store of 20,000 memories or more is without it; what it would bring
is said in any case
"""

import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from importlib.util import find_spec

import apsw

from memman.doctor.finding import Context, Finding, ok, shell, warn
from memman.store.sqlite.catalogue import Catalogue
from memman.store.sqlite.reader import extension_path, load_vectors

# Memories from which on it is worth a word, and what it brings (docs/adr/0023-musl.md).
_LARGE = 20_000
_BRINGS = "recall finds the same without it, 2 ms later at 10,000 memories and 13 ms at 100,000"
# What a tool that keeps programs apart leaves in their folder.
_PIPX = "pipx_metadata.json"


def check(context: Context) -> Iterator[Finding]:
    """Load the extension that scans vectors."""
    db = apsw.Connection(":memory:")
    loads = load_vectors(db)
    version = db.execute("SELECT vec_version()").get if loads else ""
    db.close()
    if loads:
        yield ok(f"sqlite-vec {version}")
    elif os.path.isdir(os.path.dirname(extension_path())):
        yield warn(f"{extension_path()} does not load: recall is slower", _install("--upgrade"))
    else:
        yield _missing(context)


def _missing(context: Context) -> Finding:
    says = f"sqlite-vec is not installed: {_BRINGS}"
    if "musl" in (sysconfig.get_config_var("HOST_GNU_TYPE") or ""):
        return ok(f"{says}; it is not built for musl, this system's C library")
    if _largest(context) < _LARGE:
        return ok(f"{says} ({_install()})")
    return warn(says, _install())


def _largest(context: Context) -> int:
    """Return how many memories the largest store has had."""
    sizes = [0]

    def look(_: str, catalogue: Catalogue) -> Iterable[Finding]:
        sizes.append(catalogue.reader.last())
        return ()

    list(context.in_stores(look))
    return max(sizes)


def _install(*flags: str) -> str:
    """Return the command that adds it to the environment that memman is in."""
    if os.path.exists(os.path.join(sys.prefix, _PIPX)):
        return shell("pipx", "inject", *("--force" for _ in flags), "memman", "sqlite-vec")
    if find_spec("pip") is None:
        return shell("uv", "pip", "install", *flags, "--python", sys.executable, "sqlite-vec")
    return shell(sys.executable, "-m", "pip", "install", *flags, "sqlite-vec")
