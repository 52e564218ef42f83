"""Patterns mean the same on every Python that memman runs on."""

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import memman
from memman.secrets.rules import RULES

# Python 3.11.0 to 3.11.4 take these wrongly: what they match is not what later releases match.
WRONG = {"POSSESSIVE_REPEAT", "POSSESSIVE_REPEAT_ONE", "ATOMIC_GROUP"}
MODULES = [found.name for found in pkgutil.walk_packages(memman.__path__, "memman.") if found.name != "memman.__main__"]
# A language, as a word to look for.
LANGUAGE = r"(?i)\bc\+\+"


def operators(parsed: Any) -> Iterator[str]:
    """Yield the name of every operator in a parsed pattern."""
    if isinstance(parsed, str | bytes | int | None):
        return
    for one in parsed:
        if hasattr(one, "name"):
            yield one.name
        else:
            yield from operators(one)


def texts(value: Any, depth: int = 4) -> Iterator[str]:
    """Yield every text within a module's constant, tables and records of them too."""
    if isinstance(value, re.Pattern):
        value = value.pattern
    if isinstance(value, str):
        yield value
    elif depth and isinstance(value, dict):
        for one in (*value, *value.values()):
            yield from texts(one, depth - 1)
    elif depth and isinstance(value, tuple | list | set | frozenset):
        for one in value:
            yield from texts(one, depth - 1)
    elif depth and type(value).__module__.startswith("memman."):
        for name in getattr(type(value), "__slots__", ()) or vars(value):
            yield from texts(getattr(value, name, None), depth - 1)


def patterns(module: Any) -> Iterator[str]:
    """Yield the constants of a module, and the patterns that its functions write out where they use them."""
    for name, value in vars(module).items():
        if not name.startswith("__"):
            yield from texts(value)
    tree = ast.parse(Path(module.__file__).read_text())
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and ast.unparse(call.func).startswith("re.") and call.args:
            try:
                yield eval(compile(ast.Expression(call.args[0]), name, "eval"), vars(module))  # noqa: S307
            except NameError:
                continue  # a variable, whose values are constants that were looked at


def wrong(pattern: str) -> set[str]:
    """Return which of the constructs a pattern uses; of what is no pattern, none."""
    if not re.search(r"[*+?}]\+|\(\?>", pattern):
        return set()
    try:
        parsed = re._parser.parse(re.sub(LANGUAGE, "", pattern))
    except re.error:
        return set()
    return WRONG & {*operators(parsed)}


@pytest.mark.slow
def test_no_pattern_uses_what_an_older_python_takes_wrongly():
    """No constant and no pattern of any module has a possessive quantifier or an atomic group."""
    assert [
        (name, pattern) for name in MODULES for pattern in patterns(importlib.import_module(name)) if wrong(pattern)
    ] == []


def test_no_rule_for_secrets_does():
    """The patterns of the rules are put together from a file; each of them is looked at as it is used."""
    assert [rule.name for rule in RULES if wrong(rule.pattern.pattern)] == []


@pytest.mark.parametrize("pattern", ["a(?:b+c)*+", r"(?i:x)(\w{2,}+)", "(?>a|ab)c", "x++", "(?=a?+)"])
def test_the_constructs_are_recognised(pattern):
    """A possessive quantifier and an atomic group are seen wherever they stand in a pattern."""
    assert wrong(pattern)
