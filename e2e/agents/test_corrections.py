"""Rules turned round in one session of a real client stand in the next."""

import os
import re

import pytest
from house import House

# What an earlier session stored, and what the user says of it in this one.
FIVE = (
    ("We use pnpm in this repo, not npm.", "No, in this repo we use npm, not pnpm"),
    ("Always use tabs for indentation, never spaces.", "always use spaces for indentation, never tabs"),
    ("I prefer pytest over unittest.", "I prefer unittest over pytest"),
    ("Always rebase, never merge.", "Always merge, never rebase from now on"),
    ("We moved from GitHub Actions to GitLab CI.", "We moved from GitLab CI back to GitHub Actions"),
)
TWENTY = (
    ("Never commit generated files.", "Generated files are committed from today on."),
    ("Use Black with a line length of 88.", "Use Black with a line length of 100."),
    ("Always deploy on Fridays.", "Always deploy on Mondays."),
    ("I don't want type hints in tests.", "I do want type hints in tests."),
    ("Squash commits before merging.", "Don't squash commits before merging."),
    ("Error messages are written in English, not German.", "Error messages are written in German, not English."),
    ("I prefer composition over inheritance.", "Scrap that, inheritance over composition in this code base."),
    ("Use Postgres for the ledger, never SQLite.", "For the ledger use SQLite, never Postgres."),
    ("We migrated from Jest to Vitest.", "We migrated from Vitest to Jest again."),
    ("Always run migrations before the deploy.", "Run migrations after the deploy, not before."),
    ("Use double quotes in Python.", "single quotes in Python please, not double"),
    ("Never push to main.", "Pushing to main is fine."),
    ("Use feature flags for every new endpoint.", "No feature flags for new endpoints."),
    ("Log in JSON, never in plain text.", "Log in plain text, never in JSON"),
    ("We decided that requests time out after 30 seconds.", "We decided that requests time out after 5 seconds."),
    ("I like short commit messages.", "I like long commit messages."),
    ("We don't use Docker locally.", "We use Docker locally."),
    ("Nie Tabs zum Einrücken in YAML verwenden.", "Immer Tabs zum Einrücken in YAML verwenden."),
    ("On utilise yarn pour le site, pas bun.", "Non, on utilise bun pour le site, pas yarn."),
    ("Never mock the database.", "Mocking the database is what I want."),
)
PAIRS = FIVE + (TWENTY if os.environ.get("MEMMAN_LONG") else TWENTY[::4])
# What is said before a rule, and not kept with it.
_STARTS = re.compile(r"^(?:No|Non|Scrap that), ")
NAMES = ("claude-code", "codex", "gemini", "opencode")
UNRELATED = "Write a haiku about the moon over a quiet lake."


@pytest.mark.parametrize("name", NAMES)
def test_rules_turned_round_stand_in_the_next_session(house: House, name: str) -> None:
    """Of five rules turned round a turn each, and others five a turn, the next block or recall has all but one."""
    for rule, _ in PAIRS:
        house.memman("remember", rule)
    house.memman("scheduler", "drain", "--wait")
    desk = house.desks[name]
    prompts = [said for _, said in FIVE]
    prompts += ["\n".join(said for _, said in PAIRS[at : at + 5]) for at in range(5, len(PAIRS), 5)]
    for n, prompt in enumerate(prompts):
        turn = desk.ask(prompt, again=n > 0)
        assert turn.code == 0, turn.errors
    house.memman("scheduler", "drain", "--wait")
    whole = desk.ask(UNRELATED).whole
    words = {said: _STARTS.sub("", said) for _, said in PAIRS}
    lost = [
        said
        for said, kept in words.items()
        if kept not in whole and kept not in house.memman("recall", said, folder="proj")
    ]
    assert len(lost) <= 1, (lost, house.memman("insights", "list", "--limit", "99"))
    assert not {said for _, said in FIVE} & {*lost}
    assert sum(words[said] in whole for _, said in FIVE) >= 1
