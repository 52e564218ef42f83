"""Models that garble, and servers that answer one call at a time: every note is stored, in few calls."""

import pytest

from memman.testing.providers import NEVER, OK, ScriptedProvider, hang

TIMEOUT = 1  # seconds, for the 60 of the default: what a call takes is scaled alike
WORDS = [a + b for a in ("bri", "klo", "vun", "sta", "dre") for b in ("matax", "zorn", "fipish", "ludump")]
CALLS = 2  # of a note at most: extract and reconcile


def remember(box, notes=20):
    """Queue so many notes that have nothing to do with each other."""
    return sorted(box.remember(f"{word} {word[::-1]}{n}") for n, word in enumerate(WORDS[:notes]))


@pytest.mark.parametrize("seconds", [1, 4, 15])
def test_a_server_that_answers_one_call_at_a_time_is_not_overrun(box, seconds):
    """Twenty notes are done in two drains, and next to no call is lost to a timeout."""
    with ScriptedProvider(latency=seconds * TIMEOUT / 60, serial=True) as provider:
        box.use(provider, EMBED_PROVIDER="builtin", HTTP_TIMEOUT=TIMEOUT, HTTP_TRIES=3)
        uids = remember(box)
        box.drain()
        box.drain()
        assert provider.calls.total() <= CALLS * len(uids) + 3
    assert box.states() == {"done": len(uids)}
    assert sorted(box.store("SELECT note FROM memory")) == uids


def test_a_call_that_timed_out_on_this_machine_waits_for_the_next_drain(box):
    """It is not asked again in this drain, the notes beside it are done, and the next drain asks once more."""
    with ScriptedProvider(script=[OK, hang(NEVER)]) as provider:
        box.use(provider, EMBED_PROVIDER="builtin", HTTP_TIMEOUT=TIMEOUT, HTTP_TRIES=3)
        uids = remember(box)
        assert (box.drain().done, box.states()["pending"]) == (len(uids) - 1, 1)
        assert box.drain().done == 1
        assert provider.tasks["extract"] == len(uids) + 1
