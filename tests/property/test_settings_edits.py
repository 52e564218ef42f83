"""The reader of JSON with comments and its edits, over generated texts."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memman.integrations import edits, parts
from memman.integrations.edits import CannotEdit, read
from tests.property.settings import generated

_PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
_VALUES = st.recursive(
    _PLAIN, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)
)
_OBJECTS = st.dictionaries(st.text(), _VALUES, max_size=5)
_INDENTS = st.sampled_from([None, 0, 1, 2, 4, "\t"])
_SOUP = st.text(alphabet="{}[]\"':,/*\\\n\r\t ab1.-+e\ufeff\u2028tn", max_size=60)


@given(_VALUES, _INDENTS, st.booleans())
def test_json_reads_as_python_reads_it(value, indent, ascii_):
    """Every JSON text means to the reader what it means to Python."""
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_)
    assert read(text).plain() == json.loads(text)


@given(_SOUP)
def test_any_text_is_read_or_refused(text):
    """A text is read, or refused with its place; an edit of what was read can be read."""
    try:
        node = read(text)
        edited = edits.append(text, ("hooks", "Stop"), {"x": 1})
    except CannotEdit:
        return
    held = read(edited).plain()
    assert held.pop("hooks") == {"Stop": [{"x": 1}]} or "hooks" in (node.plain() or {})


@given(_OBJECTS, _INDENTS, st.text(), _VALUES)
def test_a_member_comes_and_goes_and_the_rest_keeps_its_bytes(held, indent, key, value):
    """A member is added behind the others, which keep their text, and removed again."""
    held.pop(key, None)
    text = json.dumps(held, indent=indent, ensure_ascii=False)
    more = edits.ensure(text, (key,), value)
    assert read(more).plain() == held | {key: value}
    assert edits.ensure(more, (key,), "something else") == more
    if held and indent != 0:
        assert more.startswith(text[:-1].rstrip())
        assert edits.remove(more, (key,)) == text
    assert read(edits.remove(more, (key,))).plain() == held


@given(st.integers(0, 5000), st.data())
def test_any_member_can_be_taken_out_of_a_commented_text(seed, data):
    """Whatever the style, taking one member or element out leaves the others, and every comment between them."""
    text = generated(seed) or "{}"
    root = read(text)
    paths = list(_paths(root.plain())) if root else []
    if not paths:
        return
    path = data.draw(st.sampled_from(paths))
    left = edits.remove(text, path)
    expected = root.plain()
    parent = expected
    for step in path[:-1]:
        parent = parent[step]
    del parent[path[-1]]
    assert read(left).plain() == expected
    assert left.count("// at the top") == text.count("// at the top")


def _paths(value, path=()):
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in steps:
        yield (*path, step)
        yield from _paths(inner, (*path, step))


@given(st.text(alphabet="[]hoks.Stp=\"'#\n {}1,", max_size=80))
def test_any_toml_is_read_or_refused(text):
    """A TOML text is edited or refused; what is edited means the same besides our server, and can be undone."""
    try:
        before = parts.read_toml(text)
        put = parts.serve(text, "/x/memman")
    except CannotEdit:
        return
    assert parts.read_toml(put)["mcp_servers"]["memman"]["command"] == "/x/memman"
    assert parts.serve(put, "/x/memman") == put
    assert parts.read_toml(parts.unserve(put)) == before


def test_a_comment_before_the_bracket_does_not_swallow_it():
    """Taking the last element out from behind a comment keeps the bracket out of the comment."""
    assert read(edits.remove("[1, // one\n 2]", (1,))).plain() == [1]
    assert edits.remove("[1, // one\n 2\n]", (1,)) == "[1 // one\n]"


@pytest.mark.parametrize("text", ["{a: 1}", "{'a': 1}", "{\"a\": 'x'}", '{"a": 0xFF}', '{"a": +1}', '{"a": "x'])
def test_what_only_json5_allows_is_refused_with_its_place(text):
    """A person adds the entry by hand there."""
    with pytest.raises(CannotEdit, match=r"line 1, column \d: "):
        read(text)
