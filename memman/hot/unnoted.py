"""At a prompt, what the user said in the turn before that the agent did not note, though the judge finds it lasting."""

from memman.hot.attended import wanted
from memman.hot.frame import framed, harmless
from memman.model.noted import WORD
from memman.queue.untold import take

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.hot.call import Call

# Characters of what is quoted.
_LONGEST = 160
_SAYS = 'Last turn the user said: "{}". If that holds in later sessions, too, end your answer with a line `{}: \u2026`.'


def unnoted(call: "Call") -> str:
    """Return the block that says it, once, and only in the turn that follows; '' for nothing."""
    session = call.session
    before = next((said for who, said in reversed(session.said) if who == "user"), "")
    text = take(call.data, call.host, session.id, " ".join(before.split()) if session.asked and wanted(call) else "")
    return framed(harmless(_SAYS.format(text[:_LONGEST], WORD)), ()) if text else ""
