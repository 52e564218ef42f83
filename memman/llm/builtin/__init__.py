"""The embedded language model: rules that answer the pipeline's questions without a network or a key."""

from collections.abc import Callable, Mapping
from typing import Any

from memman.llm.builtin.extract import extract
from memman.llm.builtin.reconcile import reconcile
from memman.model.errors import ProviderMisconfigured
from memman.model.records import Reply, Request, Usage


def _turn(payload: Mapping[str, Any]) -> dict[str, Any]:
    # Its tables take as long to compile as all others together, and most drains meet no turn.
    from memman.llm.builtin.turn import turn

    return turn(payload)


_TASKS: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "extract": extract,
    "reconcile": reconcile,
    "turn": _turn,
}


class BuiltinLLM:
    """Deterministic rules behind the LLM protocol: reads the payload, never the prompt."""

    provider = "builtin"

    def model(self, role: str) -> str:  # noqa: ARG002 - one rule book serves every role
        """Name the rule book."""
        return "rules-v1"

    async def complete(self, request: Request) -> Reply:
        """Answer `request` by the rules of its task."""
        task = _TASKS.get(request.task)
        if task is None:
            raise ProviderMisconfigured(f"the built-in rules have no task named {request.task!r}")
        return Reply(task(request.payload), Usage(), self.model(request.role))

    async def close(self) -> None:
        """Hold nothing, release nothing."""
