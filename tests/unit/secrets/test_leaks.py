"""Secrets are named without being shown, and taken out of JSON text by text."""

import json

from memman.secrets.leaks import leaks, within

TOKEN = "ghp_" + "Zk3vQ9tLw7Rb2Xy8Nc5Hd1Pf6Gj4Ms0Ua5Tq"


def test_a_leak_is_named_and_not_shown():
    """Each secret is told by its rule and what stands around it; a marker that stood there before is none."""
    (found,) = leaks(f"[redacted:github-token] before, now {TOKEN} for pushes")
    assert found.rule == "github-token"
    assert "for pushes" in found.excerpt
    assert TOKEN not in found.excerpt


def test_json_stays_json_without_its_secrets():
    """Only the texts in it change; without a secret it stays as it was written, and what is no JSON is one text."""
    said = json.dumps({"why": f'use "{TOKEN}"', "at": 1, "names": [TOKEN]})
    assert json.loads(within(said)) == {
        "why": 'use "[redacted:github-token]"', "at": 1, "names": ["[redacted:github-token]"]
    }  # fmt: skip
    assert within('{"at":  1}') == '{"at":  1}'
    assert within(f"use {TOKEN}") == "use [redacted:github-token]"
