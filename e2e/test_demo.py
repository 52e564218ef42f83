"""The demo shows what its headings say."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_demo_shows_what_it_says(bin: Path) -> None:  # noqa: A002 - the fixture's name
    """What was said holds in the next session, the newest first; the secret is gone; it ends with what to do next."""
    env = os.environ | {"BIN": str(bin)}
    done = subprocess.run([ROOT / "e2e/demo.sh"], env=env, check=True, capture_output=True, text=True)
    parts = {title: said for title, _, said in (part.partition("\n") for part in done.stdout.split("== ")[1:])}
    session, asked, unknown, seen = list(parts.values())[-4:]
    assert "Coolify" in session
    assert "pytest -q" in session
    assert "Coolify" in session.partition('before: "')[0]
    assert asked.count("on Vercel") == 1
    assert "superseded: We deploy the web shop on Vercel." in asked
    assert "logical replication" in asked
    assert unknown.strip("\n\033[1m").splitlines() == ["$ memman recall what is the weather in Paris"]
    assert "[redacted:github-token]" in seen
    assert "memman install" in seen
