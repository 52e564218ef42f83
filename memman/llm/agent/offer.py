"""What a person is told before their agent becomes the model: what is sent, to whom, and about what it costs."""

from memman.llm.agent.clients import CLIENTS, Client
from memman.llm.agent.program import find

# Calls that 150 turns of 20 sessions take, and tokens of their questions and answers (docs/adr/0052-conversations.md).
CALLS, TOKENS = 21, 65_000


def here() -> list[Client]:
    """Return the agents whose programs are on this machine."""
    return [client for client in CLIENTS.values() if find(client.program)]


def sentence(client: Client) -> str:
    """Say it for one agent."""
    tokens = round((TOKENS + CALLS * client.tokens) / 10_000) * 10_000
    return (
        f"your own {client.program}, under its login: notes, and conversations that may leave something, go to"
        f" {client.vendor}; 150 turns of 20 sessions take about {CALLS} calls and {tokens:,} tokens of your allowance"
    )
