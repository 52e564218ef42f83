"""`memman mcp`, where more than the verb is given: the entry point runs the rest without click."""

from memman.commands.verb import said_store, verb
from memman.mcp.server import main


@verb(store=False)
def mcp() -> int:
    """Offer memory to an agent as tools, by the Model Context Protocol.

    Frames come on standard input and go to standard output.
    In a client's settings: {"command": "memman", "args": ["mcp"]}
    """
    return main(said_store())
