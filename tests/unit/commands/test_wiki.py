"""What a newcomer is told, within a budget."""

import json

from memman.recall.render import tokens
from tests.support.doubts import NEW, OLD, drained

WISH = "I prefer small pull requests."


def test_a_newcomer_is_told_what_holds_within_the_budget_and_nothing_twice(box):
    """Wishes first, then how things are and what is not settled; the rest is counted."""
    assert box.memman("onboard").stdout == "memory holds nothing here yet\n"
    box.remember(WISH)
    for n in range(4):
        box.remember(f"Postgres {n} is backed up at {n + 2} every night.")
    box.drain()
    drained(box, OLD, NEW)
    told = json.loads(box.memman("onboard", "--json").stdout)
    assert told["parts"][0]["lines"][0].startswith(f"- {WISH} (")
    assert [part["title"] for part in told["parts"]][-1] == "Not settled"
    lines = [line for part in told["parts"][:-1] for line in part["lines"]]
    assert len({*lines}) == len(lines) == 7
    assert told["parts"][-1]["lines"][0].startswith(f"- {OLD}")
    short = json.loads(box.memman("onboard", "--budget", "150", "--json").stdout)
    assert tokens(short["text"]) <= 150
    assert short["left"] > 0
    assert box.memman("onboard", "--budget", "150").stdout == short["text"] + "\n"
    done = box.memman("onboard", "--budget", "few")
    assert (done.returncode > 0, done.stderr.count("\n")) == (True, 1)
