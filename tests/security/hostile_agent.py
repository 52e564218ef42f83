"""What an agent's program answers that means harm, or nothing: one question's worth, as text and file decide."""

import random
import zlib

from tests.security.test_hostile_replies import HONEST, Hostile


def answer(question):
    """Answer one question; the same one in the same way."""
    hostile = Hostile(zlib.crc32(question["user"].encode()), HONEST, "openai")
    made = hostile._reconciled() if question["task"] == "reconcile" else hostile._facts(question["user"])
    wild = random.Random(len(question["user"]))
    if wild.random() < 0.2:
        made["question"] = wild.randrange(-1, 40)
    return made
