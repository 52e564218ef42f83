"""The guide: what an agent is told about memman."""

from memman.config.command import NAME
from memman.model.noted import EXAMPLE, WORD

ABOUT = "memman keeps what earlier sessions left behind. What it knows of this user and this place stands below."
# What ends an answer, where somebody is there to read it.
NOTED = f"""\
When the user corrects you or says what will hold in later sessions, end your answer with one line: \
`{WORD}: {EXAMPLE}` (`{WORD} everywhere: …` for all their projects, `{WORD} instead of ID: …` where it replaces \
that memory). A sentence names its subject and says what the user said, not more. Tasks, progress, \
guesses and secrets are not noted."""
CAPTURED = "What the user corrects, prefers or decides is kept when a turn ends."
COMMANDS = """\
`memman recall "words"` finds more. `memman remember -` keeps what you found out (standard input). \
`memman forget ID`: only if the user asks."""


def guide(command: str = NAME, *, says: str = NOTED) -> str:
    """Return the guide, for agents whose shells are to call memman so; it `says` what is kept of turns, if anything."""
    return "\n".join(filter(None, (ABOUT, says, COMMANDS.replace(f"`{NAME} ", f"`{command} "))))
