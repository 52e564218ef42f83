"""What a person is told before their agent becomes the model: what is sent, to whom, and about what it costs."""

from memman.llm.agent.clients import CLIENTS, Client
from memman.llm.agent.program import find

# Calls that a day of 150 turns takes, and tokens of its questions and answers (docs/adr/0038-agent-as-model.md).
CALLS, TOKENS = 40, 28_000


def here() -> list[Client]:
    """Return the agents whose programs are on this machine."""
    return [client for client in CLIENTS.values() if find(client.program)]


def sentence(client: Client) -> str:
    """Say it for one agent."""
    tokens = round((TOKENS + CALLS * client.tokens) / 10_000) * 10_000
    return (
        f"your own {client.program}, under its login: what the judge finds worth asking about in notes and turns goes"
        f" to {client.vendor}; a day of 150 turns takes about {CALLS} calls and {tokens:,} tokens of your allowance"
    )
