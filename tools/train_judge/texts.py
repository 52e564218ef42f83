"""The writers' texts as they lie in the folder."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"
# Writers of whom nothing is trained on: thresholds and stopping are chosen on them.
KEPT_ASIDE = ("03", "11", "65")


def read_lines(writer: str, form: str, data: Path = DATA) -> Iterator[dict[str, Any]]:
    """Yield a writer's lines of a form: pairs, turns, notes or prompts."""
    for path in sorted((data / writer).glob(f"{form}-*.jsonl")):
        with path.open(encoding="utf-8") as lines:
            yield from (json.loads(line) for line in lines if line.strip())
