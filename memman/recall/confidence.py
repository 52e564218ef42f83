"""How sure recall is that a hit is what was asked for, from 0 to 1. Safe on the hot path.

Two things speak for a hit, each by itself: how near it is in meaning, which was taught to mean the same in every store
(docs/adr/0053), and that it holds nearly all of the question's words, as where a name is asked for that the table does
not know: of questions that nothing answers, 4 of 100 find a memory with three quarters of their words. The numbers are
fitted to labelled questions, for one table (docs/adr/0054).
"""

# --- fitted to writer 203 and bench/data/aside, docs/adr/0054 ---
TABLE = "memman-questions-v1"
# Weight of the cosine, and of the share of the question's words beside it or where there is no vector; and what is
# added to each.
MEANING, WORDS, WORDS_ALONE = (14.1, -5.75), (16.0, -13.5), (4.25, -2.74)
# An answer whose best hit is less sure than SILENT is none; of others, hits below FLOOR are left out. Questions
# about something else mostly stay below LOW.
SILENT = 0.05
FLOOR = 0.013
LOW = 0.18
# --- end of what is calibrated ---

_E = 2.718281828459045


def confidence(cosine: float | None, coverage: float) -> float:
    """Return the probability that goes with a cosine and a coverage; more of either never gives less."""
    if cosine is None:
        return _chance(coverage, WORDS_ALONE) if coverage else 0.0
    return max(_chance(cosine, MEANING), _chance(coverage, WORDS))


def _chance(value: float, fitted: tuple[float, float]) -> float:
    chance: float = 1 / (1 + _E ** -(fitted[0] * value + fitted[1]))
    return chance
