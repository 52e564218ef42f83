"""Each rule is whole, catches its example and spares the other; the public sets know no id that ours does not."""

import re
import tomllib
from pathlib import Path

import pytest

from memman.secrets import ANYWHERE, BESIDE, CAPITALS, COMMAND, WITHIN, screened, suspicious
from memman.secrets.matcher import redact
from memman.secrets.rules import FILE, FRAGMENTS, PLACES, PRIVATE, RULES, tables

DATA = Path(__file__).parents[2] / "data"
KNOWN = (*ANYWHERE, *WITHIN, *BESIDE, *COMMAND, *map(str.lower, CAPITALS))
# How an example may stand: alone, in a sentence, on a line, between quotes.
STANDS = ("{}", "use {} here", "first\n{}\nlast", 'key = "{}"')


def test_the_rules_are_plain_toml():
    """The quick reader finds in the file what TOML says: the same tables, each with the same keys."""
    with open(FILE, "rb") as source:
        told = tomllib.load(source)
    read = {}
    for name, row in tables():
        read.setdefault(name, []).append(row)
    assert [read.pop("fragments")] == [[told.pop("fragments")]]
    assert read == told
    assert [rule.name for rule in (PRIVATE, *RULES)] == [name for name, _ in tables()][1:]


def test_every_fragment_is_used():
    """No part of patterns stands in the file for nothing."""
    written = [*FRAGMENTS.values(), *(row.get("pattern", "") for _, row in tables())]
    used = {name for text in written for name in re.findall(r"\(\?&(\w+)", text)}
    assert used | {"start", "end", "hidden"} == {*FRAGMENTS}


def test_a_rule_has_what_a_rule_needs():
    """Each has words, one pattern with a secret in it, and an example of either kind; no key is misspelled."""
    keys = {*PLACES, "letters", "token", "glued", "pattern", "check", "caught", "spared"}
    assert [rule.name for rule in RULES if not (rule.words and rule.caught and rule.spared)] == []
    assert [rule.name for rule in RULES if ("token" in rule.row) == ("pattern" in rule.row)] == []
    assert [rule.name for rule in RULES if "secret" not in rule.pattern.groupindex or rule.row.keys() - keys] == []


@pytest.mark.parametrize("before", ["d3", "MYTOKEN", "abc123"])
def test_a_token_that_says_what_it_is_is_found_behind_a_letter(before):
    """Its beginning is no part of a word; that of another one may be, as in `task-ant-…`."""
    glued = [rule for rule in RULES if "glued" in rule.row]
    assert len(glued) == 6
    assert [rule.name for rule in glued if screened(before + rule.caught) != f"{before}[redacted:{rule.name}]"] == []
    assert screened(name := "the task-ant-migration-of-some-old-modules-2024") == name


def test_a_rule_catches_its_example_and_spares_the_other():
    """The one is replaced by the rule's marker, however it stands; the other stays as it is."""
    missed = [
        (rule.name, text)
        for rule in RULES
        for text in (form.format(rule.caught) for form in STANDS)
        if f"[redacted:{rule.name}]" not in redact(text)
    ]
    assert missed == [], "\n".join(map(repr, missed))
    assert [(rule.name, redact(rule.spared)) for rule in RULES if redact(rule.spared) != rule.spared] == []


def test_the_prefilter_cannot_miss_what_a_rule_would_catch():
    """Every word a rule needs holds a word of the prefilter, and its example passes the prefilter in any case."""
    assert [word for rule in RULES for word in rule.words if not any(known in word for known in KNOWN)] == []
    named = [any(word in rule.caught.lower() for word in rule.words) for rule in RULES]
    assert [rule.name for rule, found in zip(RULES, named, strict=True) if not found] == []
    assert [rule.name for rule in RULES if not suspicious(rule.caught.upper())] == []


def test_a_token_is_found_behind_a_joining_sign():
    """A name that a token is joined to by `-` or `_` does not hide it; what begins like a word is left there."""
    left = set()
    for rule in (rule for rule in RULES if "token" in rule.row):
        found = rule.pattern.search(rule.caught)
        before, token = rule.caught[: found.start("secret")], found["secret"]
        left |= {rule.name for sign in ("prod-", "key_", "x--") if token in redact(before + sign + token)}
    assert left == {"mailgun-key"}


def test_the_public_sets_know_no_class_that_has_no_rule():
    """Each id of gitleaks and betterleaks is a class that a rule of ours catches, or it says why none does."""
    lines = (DATA / "public_secret_ids.txt").read_text().splitlines()[1:]
    classes = [line.split(" | ") for line in (DATA / "secret_classes.txt").read_text().splitlines() if line[0] != "#"]
    caught = {kind.partition(" (")[0] for kind, *_ in classes}
    assert len(lines) == 470
    assert [line for line in lines if " | " not in line and line not in caught] == []
    assert [line for line in lines if " | " in line and line.partition(" | ")[0] in caught] == []
    assert {rule for _, rule, *_ in classes} - {rule.name for rule in RULES} == set()
