"""The hooks' threshold: whether a hit bears on a prompt clearly enough to be shown unasked. Safe on the hot path.

A hit must be near the prompt in meaning, or less near and hold a telling word of it; measured by `python -m
bench.unasked`.
"""

from memman.model.terms import stem, stems

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.recall.hit import Hit

# What people say to any agent, about any code.
_SAID_ANYWHERE = """
add again ahead also always answer apply back bad best better bit bug build call case change check clean code com come
commit complete continue convert correct create css cut debug delete describe diff difference different do doc docs
document done double down draw edit end error example exist expect explain fail file final find fine finish first fix
following full function generate get give good great handle hello help hey hi html http https idea implement import
improve include increase input instead issue js json keep kind know last later leave left less let lib like line list
little long look lot make many maybe md mean method minute miss more move much name need never new nice nothing now
number ok okay old one open option output part pass people place plan please point possible print problem project
proper pull push put py question quick read readme ready really refactor remove rename replace report return review
right run say second see seem sense set several short should show simple single small solve something sort split src
start step still stop sure take task test tests text thank thanks thing think three time today together try ts turn
two type undo update us user value version wait want way well without wonder word work write wrong www yeah yes
yesterday yet
""".split()
GENERIC = frozenset(map(stem, _SAID_ANYWHERE))

# The cosine that is enough by itself; and, with a telling word, the cosine with WORDS times the share of the prompt's
# words. Of a note without a vector that share alone.
NEAR, EVIDENCE, WORDS, NOTE = 0.42, 0.38, 0.3, 0.5
# Beside a hit that is much better, one tells nothing new.
RELATIVE = 0.5


def bearing(hits: "list[Hit]", prompt: str) -> "list[Hit]":
    """Return those of `hits` that clearly bear on `prompt`."""
    asked = telling(prompt)
    kept = [hit for hit in hits if _bears(hit, asked)]
    best = max((hit.score for hit in kept), default=0.0)
    return [hit for hit in kept if hit.score >= RELATIVE * best]


def telling(text: str) -> frozenset[str]:
    """Return the stems of `text` that say what it is about."""
    return frozenset(one for one in stems(text) if not one.isdigit() and len(one) > 1 and one not in GENERIC)


def _bears(hit: "Hit", asked: frozenset[str]) -> bool:
    row, near = hit.row, hit.cosine
    if near is not None and near >= NEAR:
        return True
    enough = hit.coverage >= NOTE if near is None else near + WORDS * hit.read.anchor.words >= EVIDENCE
    return enough and bool(asked & stems(f"{row.text} {row.entities} {row.keywords}"))
