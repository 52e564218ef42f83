"""A drain whose model is unsure: which memories are maybe replaced, and by what."""

import re

from tests.support.providers import ScriptedProvider, respond

OLD = "We deploy the shop on Vercel."
NEW = "Since the spring Coolify takes each deploy of the shop."
# Has one memory, by uid, be maybe replaced by another.
DOUBT = "INSERT INTO mark(memory, maybe) SELECT o.id, n.id FROM memory o, memory n WHERE o.uid = ? AND n.uid = ?"
ASKED = "what is Vercel for?"
_MEMORY = re.compile(r"^m(\d+) [^:]*: (.*)$", re.MULTILINE)
_FACT = re.compile(r"^f(\d+): (.*)$", re.MULTILINE)


def judging(*judged, reason="moved, it seems"):
    """Answer reconcile by (word of a fact, action, word of a memory), and the rest dutifully."""

    def answer(asked):
        if asked["task"] != "reconcile":
            return respond(asked)
        told = [
            {"fact": int(f), "action": action, "memory": int(m), "reason": reason}
            for newer, action, older in judged
            for f, fact in _FACT.findall(asked["user"])
            for m, memory in _MEMORY.findall(asked["user"])
            if newer in fact and older in memory
        ]
        return {"verdicts": told, "causes": []}

    return answer


def drained(box, *notes, judged=(("Coolify", "MAYBE", "Vercel"),), reason="moved, it seems", **columns):
    """Remember notes one by one, each drained by a model that judges so; return the uids of the new memories."""
    with ScriptedProvider(respond=judging(*judged, reason=reason)) as provider:
        box.use(provider, EMBED_PROVIDER="builtin", EMBED_ENDPOINT="", EMBED_MODEL="")
        uids = []
        for text in notes:
            uids.append(box.remember(text, **columns))
            assert box.drain().done == 1
    box.configure()
    return [memory for uid in uids for memory in box.store("SELECT uid FROM memory WHERE note = ?", uid)]


def marks(box, name="default"):
    """Return what is maybe replaced, each text with that of the newer memory, of what is not forgotten."""
    sql = (
        "SELECT o.text, n.text FROM mark JOIN memory o ON o.id = memory JOIN memory n ON n.id = maybe"
        " WHERE 'forgotten' NOT IN (o.status, n.status) ORDER BY o.id"
    )
    return dict(box.store(sql, name=name))
