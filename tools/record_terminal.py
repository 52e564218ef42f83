"""Record docs/terminal.svg: memman run for real in a fresh HOME, each command with what it printed."""

import os
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from html import escape
from pathlib import Path

HERE = Path(__file__).parents[1]
COLUMNS, LINE, WIDTH = 88, 20, 780
# Seconds from one command to the next, and from a command to its output, as played back.
PACE, ANSWER = 2.2, 0.6
# A step that begins with # is shown as a comment; before it runs on, the drain has to be done.
STEPS = (
    'memman remember "We deploy the web shop on Vercel."',
    'memman remember "Always run the tests with pytest -q, never with unittest."',
    'memman remember "We moved the web shop from Vercel to Coolify."',
    "# a drain in the background turns notes into memories",
    'memman recall "where is the web shop deployed"',
    'memman recall --history "where is the web shop deployed"',
    'memman recall "how should tests be run"',
    'memman recall "what is the weather in Paris"',
    "# nothing relevant, nothing printed",
)


def record(home: str) -> Iterator[tuple[str, list[str]]]:
    """Run each step with `home` as HOME; yield it with the lines that it printed."""
    kept = ("LANG", "LC_ALL", "TMPDIR")
    path = os.pathsep.join([str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin"])
    env = {name: os.environ[name] for name in kept if name in os.environ} | {"HOME": home, "PATH": path}
    for step in STEPS:
        if step.startswith("#"):
            # Waits for the drain in the background to end.
            subprocess.run(["memman", "scheduler", "drain", "--wait"], env=env, capture_output=True, check=True)  # noqa: S607
            yield step, []
        else:
            done = subprocess.run(step, shell=True, env=env, cwd=home, capture_output=True, text=True, check=True)  # noqa: S602 - the steps above
            yield step, done.stdout.splitlines()


def drawn(steps: list[tuple[str, list[str]]]) -> str:
    """Draw a terminal in which the commands appear one after the other; without animation all of it is seen."""
    rows: list[tuple[float, str, str]] = []
    for place, (step, printed) in enumerate(steps):
        begins, prompt = place * PACE, "" if step.startswith("#") else "$ "
        rows.append((begins, "comment" if step.startswith("#") else "command", prompt + step))
        rows += [(begins + ANSWER, "output", part) for line in printed for part in textwrap.wrap(line, COLUMNS) or [""]]
    height = 56 + LINE * len(rows)
    place = '<text x="20" y="{}" class="{}" style="animation-delay:{:.1f}s">{}</text>'
    texts = [
        place.format(60 + LINE * number, kind, begins, escape(text)) for number, (begins, kind, text) in enumerate(rows)
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        'role="img"><title>memman in a terminal: remember, drain, recall</title>\n'
        "<style>text{font:14px ui-monospace,Menlo,Consolas,monospace;white-space:pre;animation:appear .1s backwards}"
        "@keyframes appear{from{opacity:0}}@media (prefers-reduced-motion){text{animation:none}}"
        ".command{fill:#e6edf3;font-weight:bold}.output{fill:#a5d6ff}.comment{fill:#8b949e}</style>\n"
        f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#0d1117"/>\n'
        '<circle cx="22" cy="20" r="6" fill="#ff5f57"/><circle cx="42" cy="20" r="6" fill="#febc2e"/>'
        '<circle cx="62" cy="20" r="6" fill="#28c840"/>\n' + "\n".join(texts) + "\n</svg>\n"
    )


def main() -> int:
    """Record into the file named on the command line, or into docs/terminal.svg."""
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "docs/terminal.svg"
    with tempfile.TemporaryDirectory() as home:
        out.write_text(drawn(list(record(home))), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
