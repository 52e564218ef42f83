"""What a list says that has nothing to list."""

import json

import pytest

EMPTY = {
    "list": "no memories",
    "list --stale": "nothing is out of date, as far as can be told",
    "list --least": "no memory is worth so little",
    "list --about heron": "no memory mentions it",
    "insights stale": "nothing is out of date, as far as can be told",
    "log": "no changes",
    "log learned": "nothing learned since then",
    "log diff": "nothing changed since then",
    "log sessions": "no sessions",
    "log worker": "no drain has written to the log",
    "review list": "nothing waits for review",
    "undo list": "nothing was undone",
    "rule list": "no rules",
    "backup list": "no backups",
    "store list": "no stores yet: the first note creates one",
    "scheduler queue list": "no queued notes",
    "scheduler queue failed": "no parked notes",
    "handover list": "no other session has left anything here",
}


@pytest.mark.parametrize("line", EMPTY)
def test_an_empty_list_says_so_in_one_line(box, line):
    """Nobody wonders whether the verb has run; for programs it is an empty list."""
    assert box.memman(*line.split()).stdout == EMPTY[line] + "\n"
    found = json.loads(box.memman(*line.split(), "--json").stdout)
    assert found in ([], {"name": "heron", "memories": []})
