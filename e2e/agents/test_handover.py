"""What a session of one real client leaves in a repository is taken up in another, also where the first was killed."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from threading import Event

from clients import left
from house import House
from model_server import SAY

PROMPT = "Split the tariff table of the harbour by season."
OTHER = "Move the berth list to its own module."
OFFER = "can be taken up once"


def test_made_in_claude_code_and_accepted_in_codex(house: House) -> None:
    """Codex is told of it at its start, and its model is given the words by `handover accept`; once."""
    house.repository("harbour")
    made = house.desks["claude-code"].ask(PROMPT, folder="harbour")
    assert made.code == 0, made.errors
    accepting = f"{house.program} handover accept"
    codex = house.desks["codex"].run(accepting, folder="harbour")
    assert codex.code == 0, codex.errors
    assert OFFER in codex.asked[0].text
    assert PROMPT not in codex.asked[0].text
    assert PROMPT in codex.whole
    assert SAY in codex.whole
    again = house.desks["codex"].run(accepting, folder="harbour")
    assert PROMPT not in again.whole


def test_a_killed_client_s_is_offered(house: House) -> None:
    """In the middle of a turn, as where a terminal is closed or the machine goes down."""
    house.repository("pier")
    desk, asked, over = house.desks["claude-code"], Event(), Event()

    def say(_: object) -> str:
        asked.set()
        over.wait(60)
        return SAY

    desk.model.say = say
    with ThreadPoolExecutor(1) as pool:
        turn = pool.submit(desk.ask, OTHER, folder="pier")
        assert asked.wait(120)
        for process, command in left(house.home).items():
            if "claude" in command and "memman" not in command:
                os.kill(process, signal.SIGKILL)
        over.set()
        assert turn.result().code != 0
    desk.model.say = lambda _: SAY
    other = house.desks["gemini"].run(f"{house.program} handover accept", folder="pier")
    assert other.code == 0, other.errors
    assert OFFER in other.whole
    assert OTHER in other.whole
