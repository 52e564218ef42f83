"""The parsers of text that others write, fed by hypothesis; `make fuzz` feeds them by coverage."""

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.harness import FOUND, HARNESSES, SEEDS

PIECES = st.sampled_from([word for seed in SEEDS for word in seed.split()]) | st.binary(max_size=8)
INPUTS = st.binary(max_size=400) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass"))
INPUTS |= st.lists(PIECES, max_size=12).map(b" ".join) | st.lists(PIECES, max_size=12).map(b"\n".join)
# Seconds that 100 kB of one character may take; on a quiet machine each takes a tenth of it.
LONGEST = 10.0


@pytest.mark.parametrize("name", HARNESSES)
def test_whatever_comes_a_parser_keeps_its_promise(name, rounds):
    """Bytes, texts and pieces of what it is made for: no harness fails."""

    @settings(max_examples=rounds(100, 5_000), deadline=None, suppress_health_check=list(HealthCheck))
    @given(data=INPUTS)
    def fed(data):
        HARNESSES[name](data)

    fed()


@pytest.mark.parametrize("name", HARNESSES)
def test_what_was_found_before_stays_mended(name):
    """Every seed, and every input that once broke a parser, is taken by each of them."""
    for data in (*SEEDS, *FOUND):
        HARNESSES[name](data)


@pytest.mark.parametrize("name", HARNESSES)
def test_a_long_run_of_anything_takes_no_long_time(name):
    """No parser takes more than its time where a text repeats itself."""
    for piece in (b"a", b"-", b'"', b"[", b"{", b"\n", b" ", b"# ", b"a:", b"<", b"1", b"\xc3\xa9", b"=", b"password="):
        started = time.process_time()
        HARNESSES[name](piece * (20_000 // len(piece)))
        assert time.process_time() - started < LONGEST, piece
