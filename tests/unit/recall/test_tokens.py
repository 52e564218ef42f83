"""The estimate of tokens: never below the parts a pre-tokenizer makes, and on prose not far above."""

import random
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memman.recall.render import tokens

# cl100k_base parts a text so; every part is one token or more. Written for ASCII, where \p{L} is a letter.
CL100K = re.compile(
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\nA-Za-z0-9]?[A-Za-z]+|[0-9]{1,3}| ?[^\sA-Za-z0-9]+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
)
PROSE = (
    (
        "We have moved the billing service to Frankfurt because the customers asked for it, and "
        "because the contract says so. "
        "Before each release somebody reads the change log aloud; it takes five minutes and has saved us twice. "
        "The queue is drained every minute, unless nobody waits for it. Please write tests first, and keep them small."
    ),
    (
        "I prefer short functions with plain names. When a function needs a comment to be understood, it should be two "
        "functions. The database is Postgres, the cache is Redis, and the deployment runs on a "
        "Friday only if the whole "
        "team agrees. Ask Anna before changing the schema, since the reports of the finance department depend on it."
    ),
)
TOKENS_PER_WORD = 4 / 3  # OpenAI: 100 tokens are about 75 words


@pytest.mark.parametrize("prose", PROSE)
def test_prose_costs_what_it_does_and_a_quarter_more_at_most(prose):
    """English prose is put at 1 to 1.25 times four tokens for three words."""
    there = len(prose.split()) * TOKENS_PER_WORD
    assert there <= tokens(prose) <= 1.25 * there


@given(st.text(st.characters(max_codepoint=126), max_size=80) | st.text("aB1 .,-_\n'", max_size=40))
def test_no_part_of_a_text_is_free(text):
    """The estimate is never below the number of parts that the pre-tokenizer makes of it."""
    assert tokens(text) >= len(CL100K.findall(text))


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("3f9a1c7e-5b2d-8046-af13-c95e7b0d2846", 24),
        ("0037-00:0 0128-03:1 0219-06:2", 18),
        ("数据库备份什么时候运行", 11),
        ("👩🏽‍🚀🚀", 8),
        ("POSTGRES_PASSWORD_FILE", 7),
        ("getUserAccountName", 4),
        ("=>{}[]();", 9),
        ("1234567890", 4),
    ],
)
def test_what_is_dense_costs_more(text, least):
    """Ids, digits, marks, capitals and other scripts cost more than four bytes a token."""
    assert tokens(text) >= least
    assert tokens(text) > len(text.encode()) // 6


def test_a_hook_can_afford_it():
    """A thousand lines of 300 characters are estimated well within a second."""
    chance = random.Random(3)
    lines = ["".join(chance.choice("abc DEF 012 .,-é数") for _ in range(300)) for _ in range(1000)]
    began = time.process_time()
    assert sum(map(tokens, lines)) > 0
    assert time.process_time() - began < 1.0
