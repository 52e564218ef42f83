"""The hook's own JSON is json's, and no input brings the program down."""

import json
import math
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memman.hot.events import EVENTS, HOSTS
from memman.model.payload import Payload, parsed, quoted
from tests.support.hook_calls import hook, judged

TEXT = st.text(st.characters(), max_size=30)  # lone surrogates among them
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)
# Whole documents, some with a piece taken out or put in.
PIECES = st.sampled_from(
    [*'{}[],:"\\', "\\u", "\\ud800", "1e", "-", "0", "nul", "null", "NaN", "\n", " ", "\0", "é", "\ufeff"]
)
DOCUMENTS = st.builds(lambda value, ascii_only: json.dumps(value, ensure_ascii=ascii_only), VALUES, st.booleans())


def cut(text, at, gone, piece):
    """Replace a little of a document."""
    at = at % (len(text) + 1)
    return text[:at] + piece + text[at + gone :]


DAMAGED = st.builds(cut, DOCUMENTS, st.integers(0, 10_000), st.integers(0, 3), PIECES | st.just(""))


def same(one, other):
    """Whether two values are the same, NaN like NaN."""
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one):
        return math.isnan(other)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(map(same, one.values(), other.values()))
    return type(one) is type(other) and one == other


@given(text=DOCUMENTS | DAMAGED | st.lists(PIECES, max_size=8).map("".join))
def test_reading_agrees_with_json(text):
    """What json reads is read the same, what it refuses is refused; a mark at the beginning is let through."""
    try:
        wanted = json.loads(text.removeprefix("\ufeff"), strict=False)
    except ValueError:
        with pytest.raises(ValueError):  # noqa: PT011 - any will do
            parsed(text)
    else:
        assert same(parsed(text), wanted)


@given(text=TEXT)
def test_writing_agrees_with_json(text):
    """A written string is what json writes, and reads back."""
    assert quoted(text) == json.dumps(text, ensure_ascii=False)
    assert parsed(quoted(text)) == text


WITHOUT = """
import sys
sys.modules["_json"] = None
from memman.model.payload import parsed, quoted
for line in sys.stdin.buffer.read().decode().split("\\x1e"):
    try:
        sys.stdout.write(quoted(repr(parsed(line))) + "\\n")
    except ValueError:
        sys.stdout.write("refused\\n")
"""


def test_without_the_accelerator_json_itself_is_used():
    """A Python without _json reads and writes the same, only more slowly."""
    lines = ['{"a": [1, "é\\n"]}', '"x\ty"', "{", "1 2", "\ufeff[]"]
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], input="\x1e".join(lines).encode(), capture_output=True, check=True
    )
    said = done.stdout.decode().splitlines()
    assert said == [quoted(repr({"a": [1, "é\n"]})), quoted(repr("x\ty")), "refused", "refused", quoted("[]")]


@given(fields=VALUES, name=TEXT)
def test_a_field_is_storable_text_or_nothing(fields, name):
    """Whatever a payload holds, what is taken from it can be written as UTF-8 and holds no zero byte."""
    payload = Payload(fields)
    for value in (payload.text(name, "prompt"), payload.under(name).text(name)):
        value.encode()
        assert "\0" not in value
    assert payload.flag(name) in {True, False}


@given(
    raw=st.binary(max_size=200)
    | st.fixed_dictionaries(
        {}, optional=dict.fromkeys(("session_id", "cwd", "prompt", "tool_input", "source"), VALUES)
    ).map(lambda fields: json.dumps(fields).encode()),
    event=st.sampled_from(list(EVENTS)),
    host=st.sampled_from(HOSTS),
)
def test_any_input_is_answered(box, raw, event, host):
    """Garbage, and objects whose fields are garbage, are answered as the host expects, with exit code 0."""
    judged(event, host, hook(box, event, host, raw))
