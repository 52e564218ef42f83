"""A memman that is broken, stopped or gone costs no client its turn."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from clients import CLIENTS, Turn
from house import House
from model_server import SAY

NAMES = [*reversed(CLIENTS)]
# A turn of OpenClaw takes 10 s: its plugin is opencode's in another dress, as Qwen Code is Gemini CLI in one; so they
# are tried with the worst only.
SPARED = {"openclaw": ("hangs",), "qwen": ("hangs", "lost its data")}
PROMPT = "Where is the staging cluster?"
PATIENCE = 45.0  # seconds that a turn may take beyond its usual time; a program that hangs does so for twice as long
Breakage = Callable[[House], AbstractContextManager[None]]


def behaving(script: str) -> Breakage:
    """Return the breakage in which memman's program, and the interpreter that hooks are started by, are this script."""

    @contextmanager
    def broken(house: House) -> Iterator[None]:
        parts = (house.program, Path(house.program.read_text().splitlines()[0].removeprefix("#!")))
        for part in parts:
            os.rename(part, f"{part}.away")
            part.write_text(f"#!/bin/sh\n{script}\n")
            part.chmod(0o755)
        try:
            yield
        finally:
            for part in parts:
                os.rename(f"{part}.away", part)
            # What hung is started again at once.
            (house.home / ".memman/hung").unlink(missing_ok=True)

    return broken


def without(place: Callable[[House], Path]) -> Breakage:
    """Return the breakage in which a folder is gone."""

    @contextmanager
    def gone(house: House) -> Iterator[None]:
        folder = place(house)
        os.rename(folder, f"{folder}.away")
        try:
            yield
        finally:
            os.rename(f"{folder}.away", folder)

    return gone


@contextmanager
def stopped(house: House) -> Iterator[None]:
    """Stop the scheduler: memory is read only."""
    house.memman("scheduler", "stop")
    yield
    house.memman("scheduler", "start")


BREAKAGES: dict[str, Breakage] = {
    "fails": behaving("echo broken >&2; exit 1"),
    "prints garbage": behaving("cat >/dev/null; printf 'not JSON {\\377\\n'"),
    "hangs": behaving("exec sleep 90"),
    "is stopped": stopped,
    "is uninstalled": without(lambda house: house.program.parents[1]),
    "lost its data": without(lambda house: house.home / ".memman"),
}


@pytest.fixture(name="usual", scope="module")
def _usual(house: House) -> dict[tuple[str, str], Turn]:
    """Return turns with a memman that works."""
    return house.each({name: [PROMPT] for name in NAMES})


@pytest.mark.parametrize("breakage", BREAKAGES)
def test_a_turn_neither_fails_nor_waits(house: House, usual: dict[tuple[str, str], Turn], breakage: str) -> None:
    """Each client succeeds with the model's answer, in its usual time and a few seconds.

    Usual is what it takes before, or right after, for the machine may have become busy.
    """
    with BREAKAGES[breakage](house):
        turns = house.each({name: [PROMPT] for name in NAMES if breakage in SPARED.get(name, BREAKAGES)})
    for turn in turns.values():
        assert (turn.code, SAY in turn.output) == (0, True), turn.errors
    slow = {asked: turn.seconds for asked, turn in turns.items() if turn.seconds > usual[asked].seconds + PATIENCE}
    after = house.each({name: [PROMPT] for name, _ in slow})
    late = {asked: (took, after[asked].seconds) for asked, took in slow.items()}
    assert all(took <= usual_now + PATIENCE for took, usual_now in late.values()), late


def test_it_remembers_again_once_it_is_mended(house: House, usual: dict[tuple[str, str], Turn]) -> None:
    """After all that the data is whole, and the next session is given what is stored."""
    assert usual
    house.memman("remember", "The staging cluster is in Frankfurt.")
    house.memman("scheduler", "drain", "--wait")
    turns = house.each({name: [PROMPT] for name in NAMES if name not in SPARED})
    assert [name for (name, _), turn in turns.items() if "Frankfurt" not in turn.whole] == []
