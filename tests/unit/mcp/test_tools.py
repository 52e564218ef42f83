"""The table of the tools."""

import json
import re

import click
import pytest

from memman.commands.root import root
from memman.mcp.tools import TOOLS, described

# As a tokenizer parts a text before it joins letters: words with what stands before them, marks, digits, blanks.
_PIECES = re.compile(r"[^\s\w]?[A-Za-z]+| ?[^\sA-Za-z0-9]+|\d{1,3}|\s+")


def test_a_session_pays_few_tokens_for_the_tools():
    """Eight tools, in one order, weigh no more than 1,000 tokens."""
    told = json.dumps(described(), separators=(",", ":"))
    assert [one["name"] for one in described()] == [
        *("recall", "remember", "replace", "forget"),
        *("show", "list", "status", "review"),
    ]
    assert len(_PIECES.findall(told)) <= 1000


def test_a_client_is_told_what_each_tool_may_do():
    """Three tools write, of which two take something away; two are never deferred; none leaves the machine."""
    hints = {one["name"]: one["annotations"] for one in described()}
    assert not any(one["openWorldHint"] for one in hints.values())
    assert [name for name, one in hints.items() if not one["readOnlyHint"]] == ["remember", "replace", "forget"]
    assert [name for name, one in hints.items() if one.get("destructiveHint")] == ["replace", "forget"]
    assert [one["name"] for one in described() if one.get("_meta")] == ["recall", "remember"]


@pytest.mark.parametrize("name", TOOLS)
def test_each_argument_is_an_option_of_the_verb(name):
    """What a tool takes, its verb has an option for."""
    tool, command = TOOLS[name], root
    for word in name.split() if name != "review" else tool.verb:
        command = command.get_command(click.Context(command), word)
    known = {option for param in command.params for option in param.opts}
    options = {f"--{arg.replace('_', '-')}" for arg in tool.takes if arg not in {tool.words, tool.ids}}
    assert options <= known


@pytest.mark.parametrize(
    ("tool", "given", "says"),
    [
        ("recall", {}, "query is missing"),
        ("recall", {"query": ""}, "query is missing"),
        ("recall", {"query": 1}, "query is not a text"),
        ("recall", {"query": "a", "limit": True}, "limit is not a whole number"),
        ("recall", {"query": "a", "history": "yes"}, "history is not true or false"),
        ("recall", {"query": "a", "json": True}, "there is no argument 'json'"),
        ("show", {"ids": "abcd"}, "ids is not a list of texts"),
        ("show", {"ids": [1]}, "ids is not a list of texts"),
        ("status", {"x": 1}, "there are none"),
    ],
)
def test_an_argument_that_is_wrong_is_named(tool, given, says):
    """A model reads which argument is wrong, and of what kind it has to be."""
    assert says in TOOLS[tool].fault(given)


def test_no_argument_is_taken_for_an_option():
    """What begins with a dash stays a value, an id or the text."""
    line, words = TOOLS["replace"].command("replace", {"id": "--undo", "text": "--json"})
    assert (line, words) == (["replace", "--", "--undo", "-"], "--json")
    line, words = TOOLS["recall"].command(
        "recall", {"query": "-", "since": "--all", "history": True, "all_scopes": False}
    )
    assert (line, words) == (["recall", "--json", "--since=--all", "--history", "--", "-"], "-")
