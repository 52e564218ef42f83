"""A provider that fails in every way there is, tick after tick: it costs time, and neither a memory nor an attempt."""

import pytest

from tests.support.kinds import KINDS, over
from tests.support.providers import (
    DROP,
    GARBAGE_BODY,
    GARBAGE_CONTENT,
    NEVER,
    OK,
    REFUSAL,
    TRUNCATED_BODY,
    TRUNCATED_CONTENT,
    Act,
    ScriptedProvider,
    hang,
    redirect,
    status,
    trickle,
)

BAD = {
    "429": status(429),
    "429, come back now": status(429, retry_after=0),
    "429, come back tomorrow": status(429, retry_after=86_400),
    "429, come back at a date": status(429, retry_after="Fri, 01 Jan 2100 00:00:00 GMT"),
    "500": status(500),
    "502 with a page": status(502, body=b"<html>Bad Gateway</html>"),
    "503": status(503),
    "an error in a reply that says 200": Act(body=b'{"error": {"code": 429}}'),
    "no answer in time": hang(NEVER),
    "an answer in drops": trickle(30),
    "the connection dropped": DROP,
    "a body that breaks off": TRUNCATED_BODY,
    "a body that is no JSON": GARBAGE_BODY,
    "an empty body": Act(body=b""),
    "an object of nothing": Act(body=b"{}"),
    "content that breaks off": TRUNCATED_CONTENT,
    "content that is no JSON": GARBAGE_CONTENT,
}
# What the pipeline has an answer to that is no waiting: the rules' work, and a stop that says what to check.
OTHER = {"a refusal": REFUSAL, "a redirect": redirect("http://127.0.0.1:9/elsewhere")}
NOTES = 6


class Down:
    """A provider that is down: the model answers with `act`, and the embedder whatever else it can do to fail."""

    def __init__(self):
        self.act, self.down, self.notes = OK, True, set()

    def __call__(self, got):
        """Say what to do with a request, and note which note it is about."""
        self.notes |= {n for n in range(NOTES) if f"Worker{n}word" in str(got.body).partition("<memories>")[0]}
        if not self.down:
            return OK
        return self.act if got.task or self.act.content == "good" else status(503)


@pytest.mark.slow
@pytest.mark.promise("R10")
@over(*KINDS)
def test_bad_ticks_cost_time_and_neither_a_memory_nor_an_attempt(box, kind, rounds, kept):
    """However the provider fails, nothing is parked, one note a tick is tried, and two good ticks finish all."""
    number, most, spent, parked = rounds(20, 200), 0, 0, 0
    with ScriptedProvider(script=(provider := Down())) as server:
        box.use(server, HTTP_TIMEOUT=1)
        uids = [box.remember(f"Worker{n}word reads topic {n}.") for n in range(NOTES)]
        for tick in range(number):
            provider.act = [*BAD.values()][tick % len(BAD)]
            opened = box.queue("SELECT value FROM meta WHERE key = 'breaker' AND value <> ''")
            provider.notes.clear()
            report = box.drain()
            assert (report.done, report.failed) == (0, 0), provider.act
            parked += box.states().get("parked", 0)
            spent += sum(box.queue("SELECT attempts FROM note"))
            most = max(most, len(provider.notes)) if opened else most
        asked = server.calls.total()
        provider.down = False
        ticks = 0
        while box.states().keys() - {"done"}:
            box.drain()
            ticks += 1
    assert (parked, spent) == (0, 0)
    assert most == 1
    assert ticks <= 2
    assert sorted(box.store("SELECT note FROM memory")) == sorted(uids)
    kind.agree()
    kept(
        f"{number} bad ticks of {len(BAD)} kinds: {parked} parked, {spent} attempts spent, at most {most} note tried"
        f" a tick ({asked} requests), all {NOTES} done {ticks} ticks after"
    )


@pytest.mark.promise("R10")
@pytest.mark.parametrize("act", OTHER.values(), ids=OTHER.keys())
def test_what_waiting_does_not_help_against_parks_nothing_either(box, act, rounds, kept):
    """A model that declines is answered for by the rules; an address that leads elsewhere is never followed."""
    number, down = rounds(4, 20), True
    with ScriptedProvider(script=lambda got: act if down and got.task else OK) as server:
        box.use(server)
        uids = []
        for n in range(number):
            uids.append(box.remember(f"Worker{n}word reads topic {n}."))
            box.drain()
            assert set(box.states()) <= {"pending", "done"}
            assert set(box.queue("SELECT attempts FROM note WHERE state = 'pending'")) <= {0}
        down = False
        box.drain()
    assert box.states() == {"done": number}
    assert sorted(box.store("SELECT note FROM memory")) == sorted(uids)
    states = box.states()
    kept(f"{number} ticks: {states.get('parked', 0)} parked, {states['done']} done")
