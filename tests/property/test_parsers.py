"""The fast parser of the hot verbs and click are one grammar."""

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memman.commands.remember import click_parse
from memman.hot.grammar import RECALL, REMEMBER, SHORT, parse

TABLES = {"remember": REMEMBER, "recall": RECALL}
FLAGS = sorted({*REMEMBER, *RECALL, *SHORT})
ODD = [
    "-",
    "--",
    "---",
    "",
    "--help",
    "-h",
    "-x",
    "--no-such",
    "--js",
    "--json=1",
    "--limit=",
    "=",
    "--=",
    "-5",
    "\udcff",
]
VALUES = st.one_of(st.sampled_from(["x", "a b", "fact", "3", "--store", "--json", "-", ""]), st.text(max_size=6))
ARGS = st.lists(
    st.one_of(
        st.sampled_from(FLAGS),
        st.sampled_from(ODD),
        st.builds("{}={}".format, st.sampled_from(FLAGS), VALUES),
        VALUES,
    ),
    max_size=8,
)


@pytest.mark.parametrize("verb", TABLES)
@given(args=ARGS)
def test_the_fast_parser_declines_or_reads_what_click_reads(verb, args):
    """Whatever the fast parser accepts, click reads as the same values and words."""
    fast = parse(args, TABLES[verb])
    if fast is not None:
        assert click_parse(args, TABLES[verb]) == fast


@pytest.mark.parametrize("verb", TABLES)
@given(args=ARGS)
def test_what_click_refuses_the_fast_parser_declines(verb, args):
    """Arguments that click refuses, or answers with help, are never accepted by the fast parser."""
    try:
        click_parse(args, TABLES[verb])
    except (click.UsageError, click.exceptions.Exit):
        assert parse(args, TABLES[verb]) is None


@pytest.mark.parametrize("verb", TABLES)
@given(data=st.data())
def test_well_formed_arguments_never_need_click(verb, data):
    """Known options with a value each, and plain words, are always read by the fast parser."""
    table = TABLES[verb]
    args = []
    for flag in data.draw(st.lists(st.sampled_from(sorted(table)), max_size=4)):
        args += [flag, data.draw(VALUES)] if table[flag][1] else [flag]
        args += data.draw(st.lists(st.text("abc ", max_size=3), max_size=2))
    fast = parse(args, table)
    assert fast is not None
    assert fast == click_parse(args, table)
