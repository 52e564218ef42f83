"""Category and importance of a statement, by weighted cue words."""

from memman.llm.builtin.patterns import cues
from memman.model.records import DEFAULT_IMPORTANCE

# Category → (weight, cues). The earlier category wins a tie.
_CATEGORIES = {
    "preference": (
        (
            3,
            r"""prefers? preferred_to preference i_(?:really_)?(?:like|love|hate|want|dislike) i'd_rather favou?rite
            ^(?:always|never|please|avoid|do_not|don't|make_sure) (?:user|he|she)_(?:wants|likes|hates|dislikes)
            (?:should|must)_(?:always|never) ^use_\S+_(?:instead_of|rather_than)""",
        ),
        (
            2,
            r"""^use please :_(?:always|never|use|prefer|avoid|don't|do_not) we_(?:always|never)
            (?:don't|do_not|never)_(?:use|add|write|commit|push|touch|run|edit|delete)""",
        ),
        (1, "always never should must ^(?:keep|run|write|put|add|ask)"),
    ),
    "decision": (
        (
            3,
            r"""decided decision we(?:'ve|_have)?_(?:chose|chosen|picked|agreed|settled|opted) (?:going|went|go)_with
            we(?:'ll|_will)_(?:use|go|keep|adopt|ship) agreed_(?:to|on|that) settled_on opted_(?:for|to)""",
        ),
        (
            3,
            r"""(?:switched|migrated|moved|changed)_(?:\S+_){0,4}?(?:to|from|off|over) replaced no_longer
            stopped_using in_favou?r_of renamed from_now_on""",
        ),
        (2, "dropped adopted rejected chosen picked upgraded approved"),
        (1, "deprecated instead_of rather_than"),
    ),
    "insight": (
        (
            4,
            r"""turns?_out root_cause lessons? learn(?:ed|t) the_trick gotcha the_reason workaround pitfall beware
            caveat til reali[sz]ed discovered""",
        ),
        (
            2,
            r"""because caused_by due_to the_(?:fix|problem|issue|bug|key|cause|culprit)_(?:is|was) found_(?:out|that)
            only_works? fixed_by as_a_result leads?_to watch_out""",
        ),
    ),
    "context": (
        (
            3,
            r"""currently working_on in_progress next_steps? this_(?:week|month|sprint|morning) to_do: todo wip
            right_now at_the_moment blocked_(?:on|by) waiting_(?:for|on)""",
        ),
        (2, "today tomorrow yesterday next_week for_now done: temporar(?:y|ily) deadline"),
    ),
}
_THRESHOLD = 2
# What moves importance away from the middle, each counted once.
_SHIFTS = (
    (1, "always never must mandatory forbidden do_not don't"),
    (
        1,
        r"""secur(?:ity|e) production critical important breaking data_loss outage secrets? credentials? passwords?
        vulnerab\w{0,10} incident compliance gdpr""",
    ),
    (1, r"actually correction no_longer wrong root_cause"),
    (1, "decided decision agreed remember"),
    (-1, "maybe perhaps might possibly probably not_sure i_think seems? could"),
    (-1, "today currently right_now at_the_moment for_now in_progress this_(?:week|morning) wip working_on"),
    (-1, "trivial minor fyi nit cosmetic by_the_way"),
)
_BOUND = 2000  # characters looked at; a statement is far shorter
_LEAST, _MOST = 1, 5

_CATEGORY = {name: tuple((weight, cues(table)) for weight, table in rows) for name, rows in _CATEGORIES.items()}
_IMPORTANCE = tuple((shift, cues(table)) for shift, table in _SHIFTS)


def category(text: str) -> str:
    """Name the category whose cues weigh most, 'fact' when none weighs enough."""
    said = text[:_BOUND]
    weights = {name: sum(w for w, cue in rows if cue.search(said)) for name, rows in _CATEGORY.items()}
    best = max(weights, key=lambda name: weights[name])
    return best if weights[best] >= _THRESHOLD else "fact"


def importance(text: str) -> int:
    """Rate a statement from 1 (may be forgotten) to 5 (must not be)."""
    said = text[:_BOUND]
    rated = DEFAULT_IMPORTANCE + sum(shift for shift, cue in _IMPORTANCE if cue.search(said))
    return min(_MOST, max(_LEAST, rated))
