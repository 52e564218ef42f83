"""The agent whose session made a note, as the model for that note."""

from collections.abc import Mapping

from memman.llm import LLM
from memman.llm.agent.clients import CLIENTS
from memman.llm.agent.program import find
from memman.model.errors import ProviderMisconfigured
from memman.model.records import Reply, Request


class WhicheverAgent:
    """Asks the agent that a note came from; about one from elsewhere the first agent that is here."""

    provider = "auto"

    def __init__(self, agents: Mapping[str, LLM]) -> None:
        self._agents = agents

    def model(self, role: str) -> str:  # noqa: ARG002 - each agent has its own
        """Say that each note has its own."""
        return "of each agent"

    async def complete(self, request: Request) -> Reply:
        """Answer `request`. Raises what that agent does."""
        own = self._agents.get(request.note.provenance.agent) if request.note else None
        agent = own or next((one for name, one in self._agents.items() if find(CLIENTS[name].program)), None)
        if agent is None:
            raise ProviderMisconfigured(f"auto: none of {', '.join(self._agents)} is installed")
        return await agent.complete(request)

    async def close(self) -> None:
        """Let go of all of them."""
        for agent in self._agents.values():
            await agent.close()
