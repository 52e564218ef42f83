"""Why something is so: the chain of what led to it and what it box."""

import json

DEPLOY = "We deploy billing to Fly.io from the main branch."
WHY = "Fly.io raised its prices in October."
ASKED = ("reason", "where do we deploy billing", "--json")


def test_a_chain_goes_from_the_answer_to_its_causes_and_what_it_replaced(box):
    """Each line says who said it and why; what is asked in words that nothing answers is one line."""
    box.remember(DEPLOY)
    box.remember(WHY, agent="codex", session="s9")
    box.drain()
    box.memman("replace", box.store("SELECT uid FROM memory WHERE text = ?", DEPLOY)[0], "We deploy billing to Render.")
    box.drain()
    cause, answer = (
        box.store("SELECT uid FROM memory WHERE text LIKE ?", like)[0] for like in ("Fly.io raised%", "%Render%")
    )
    assert box.memman("graph", "link", cause, answer, "--type", "causal", "--note", "too dear").returncode == 0
    lines = json.loads(box.memman(*ASKED).stdout)
    assert [(one["depth"], one["how"], one["text"]) for one in lines] == [
        (0, "", "We deploy billing to Render."),
        (1, "because of", WHY),
        (1, "replaced", DEPLOY),
    ]
    assert (lines[1]["why"], lines[1]["provenance"]["session"]) == ("too dear", "s9")
    said = box.memman(*ASKED[:2]).stdout.splitlines()
    assert said[1].startswith(f"  because of: {WHY}  ({cause[:8]}, ")
    assert said[1].endswith("codex s9, too dear)")
    assert box.memman("forget", cause).returncode == 0
    assert len(json.loads(box.memman(*ASKED).stdout)) == 2
    assert box.memman("reason", "who won the cup in Lisbon").stdout == "memory knows nothing about that\n"
