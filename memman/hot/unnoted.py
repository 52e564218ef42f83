"""At a prompt, what the user said in the turn before that the agent did not note, though the judge finds it lasting."""

from memman.config.unnoted import LONGEST, take
from memman.hot.frame import framed, harmless
from memman.model.noted import WORD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.hot.call import Call

_SAYS = 'Last turn the user said: "{}". If that holds in later sessions, too, end your answer with a line `{}: \u2026`.'


def unnoted(call: "Call") -> str:
    """Return the block that says it, once, and only in the turn that follows; '' for nothing."""
    session = call.session
    text = take(call.data, call.host, session.id)
    before = next((said for who, said in reversed(session.said) if who == "user"), "")
    if not text or text not in " ".join(before.split()):
        return ""
    return framed(harmless(_SAYS.format(text[:LONGEST], WORD)), ())
