"""Which models answered about a note: in place of the one that is set up a fallback may have, or the built-in one."""

from dataclasses import replace

from memman.llm import LLM, Wrapper
from memman.model.records import Reply, Request
from memman.pipeline.plan import Tools


class Answering(Wrapper):
    """A model, and in `names` who answered when it was asked, each once."""

    def __init__(self, inner: LLM, names: list[str]) -> None:
        super().__init__(inner)
        self.names = names

    async def complete(self, request: Request) -> Reply:
        """Answer `request`. Raises what the model does."""
        reply = await self.inner.complete(request)
        name = f"{reply.provider}/{reply.model}"
        if name not in self.names:
            self.names.append(name)
        return reply


def heard(tools: Tools) -> tuple[Tools, list[str]]:
    """Return `tools` for one stage of one note, and a list that comes to name the models that answered."""
    names: list[str] = []
    return replace(tools, llm=Answering(tools.llm, names), builtin=Answering(tools.builtin, names)), names
