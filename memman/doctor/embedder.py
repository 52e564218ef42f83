"""Whether the embedder's provider answers."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memman import compose
from memman.doctor.finding import Context, Finding, ok

if TYPE_CHECKING:
    from memman.http import Http


def check(context: Context) -> Iterator[Finding]:
    """Look whether the embedder's provider answers."""
    record = compose.in_force(context.settings)["embed"]
    if record["provider"] == "builtin":
        yield ok(f"built-in, {record['model']}: nothing to reach")
        return
    from memman.doctor.probe import probed

    async def ask(http: "Http") -> None:
        from memman.embed.builtin import BuiltinEmbedder

        await compose.embedder(context.settings, lambda: http, BuiltinEmbedder()).embed(["yes"])

    yield probed(context, "EMBED", record, ask)
