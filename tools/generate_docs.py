"""Write the generated pages of the docs from the code; with --check only say whether they are up to date."""

import os
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from inspect import getdoc
from io import StringIO
from pathlib import Path

from words import module as words

from memman.commands import run
from memman.config.keys import KEYS
from memman.config.providers import EMBEDDERS, LLMS
from memman.doctor import CHECKS, check_of
from memman.model import errors
from memman.model.verbs import AGENT_VERBS

os.environ["COLUMNS"] = "100"
HERE = Path(__file__).parents[1]
NOTE = "<!-- Written by `make docs`; a test keeps it true. -->\n"


def _table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    lines = [" | ".join(head), " | ".join("---" for _ in head), *(" | ".join(row) for row in rows)]
    return "".join(f"| {line} |\n" for line in lines)


def _error_rows() -> Iterator[tuple[str, ...]]:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and kind.__module__ == errors.__name__]
    for kind in sorted(kinds, key=lambda kind: (kind.exit_code, kind.__name__)):
        yield f"`{kind.__name__}`", str(kind.exit_code), "yes" if kind.again else "no", str(kind.__doc__)


def _key_rows() -> Iterator[tuple[str, ...]]:
    for key in KEYS.values():
        yield f"`{key.name}`", f"`{key.default}`" if key.default else "", key.help


def _provider_rows() -> Iterator[tuple[str, ...]]:
    for kind, rows in (("model", LLMS), ("embedder", EMBEDDERS)):
        for row in rows.values():
            if row.by_http:
                endpoint = f"`{row.endpoint}`" if row.endpoint else "none"
                yield kind, f"`{row.name}`", endpoint, ", ".join(f"`{name}`" for name in row.models if name) or "none"


def _check_rows() -> Iterator[tuple[str, ...]]:
    for name in CHECKS:
        yield f"`{name}`", " ".join((getdoc(check_of(name)) or "").split())


def _cli() -> str:
    with redirect_stdout(StringIO()) as said:
        run(["help", "--all"])
    return f"```\n{said.getvalue()}```\n\n`memman help VERB` has the options of one.\n"


def _skill() -> str:
    rows = _table(("command", "when"), ((f"`{usage}`", when) for usage, when in AGENT_VERBS.values()))
    return f"""---
name: memman
description: Persistent memory across sessions. Recall what was decided, preferred or corrected before; remember what \
must not be asked again.
---

# memman

memman keeps memories of earlier sessions, about this user and this place.

{rows}
`memman recall` prints one line per memory: id, age, source, text; nothing if nothing is relevant. Text given on
standard input is not expanded by a shell:

    memman remember - <<'NOTE'
    The staging database is Postgres 16 on db-stage-2.
    NOTE
"""


PAGES = {
    "errors.md": lambda: (
        "# Errors and exit codes\n\n"
        "Every error is one line on standard error. `again` says whether the same call may succeed later. Exit code 70 "
        "is an error memman did not foresee; 130 an interrupt; 141 a closed output.\n\n"
        + _table(("error", "exit code", "again", "meaning"), _error_rows())
    ),
    "config.md": lambda: (
        "# Configuration keys\n\n"
        "Settings are lines `KEY=VALUE` of the file `env` in the data folder, which no shell reads. Set them with\n"
        "`memman config set KEY VALUE [KEY VALUE]...`. An invalid value is replaced by the default, with a\n"
        "warning (an invalid `MEMMAN_CAPTURE` by `off`); what needs an invalid provider, endpoint or key stops\n"
        "with exit code 78. If you change a provider or endpoint without giving a key, the old key is removed, so\n"
        "it is sent to no other host.\n\n"
        "`MEMMAN_EMBED_` keys can be set for one store: `memman config set --store NAME KEY VALUE` keeps them in\n"
        "`env.NAME`, `memman embed swap --store NAME` changes that store alone. A store with a provider of its\n"
        "own uses none of the common `MEMMAN_EMBED_` settings, and a swap of all stores leaves it out.\n\n"
        + _table(("key", "default", "meaning"), _key_rows())
    ),
    "cli.md": lambda: "# Commands\n\n" + _cli(),
}
# Tables within pages that are otherwise written by hand, each between two comments.
PARTS = {
    "docs/providers.md": {
        "providers": lambda: _table(("", "provider", "default endpoint", "default models"), _provider_rows())
    },
    "docs/doctor.md": {"checks": lambda: _table(("check", "does"), _check_rows())},
}


def _with_parts(name: str) -> str:
    page = (HERE / name).read_text()
    for part, make in PARTS[name].items():
        start, end = f"<!-- {part}: written by `make docs` -->\n", "<!-- end -->\n"
        before, rest = page.split(start)
        page = before + start + make() + end + rest.partition(end)[2]
    return page


FILES = {
    **{f"docs/{name}": lambda make=make: NOTE + make() for name, make in PAGES.items()},
    **{name: lambda name=name: _with_parts(name) for name in PARTS},
    "hooks/claude-code/skills/memman/SKILL.md": _skill,
    "memman/secrets/__init__.py": words,
}


def main() -> int:
    """Write the pages, or name those that are out of date."""
    stale = 0
    for name, make in FILES.items():
        page, text = HERE / name, make()
        if not page.exists() or page.read_text() != text:
            stale += 1
            if "--check" in sys.argv:
                sys.stderr.write(f"{name} is out of date: run `make docs`\n")
            else:
                page.write_text(text)
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
