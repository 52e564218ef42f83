"""Whether the embedder's provider answers.

Looks at: the embedder's provider
Finds: does not answer, or rejects the key
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memman import providers
from memman.doctor.finding import Context, Finding, fail, ok, shell
from memman.model.errors import ProviderMisconfigured
from memman.model.vocabulary import MINILM

if TYPE_CHECKING:
    from memman.http import Http


def check(context: Context) -> Iterator[Finding]:
    """Look whether the embedder's provider answers."""
    record = providers.in_force(context.settings)["embed"]
    if record["provider"] == "builtin":
        yield ok(f"built-in, {record['model']}: nothing to reach")
        return
    if record["provider"] == MINILM:
        yield _minilm()
        return
    from memman.doctor.probe import probed

    async def ask(http: "Http") -> None:
        from memman.embed.builtin import BuiltinEmbedder

        await providers.embedder(context.settings, lambda: http, BuiltinEmbedder()).embed(["yes"])

    yield probed(context, "EMBED", record, ask)


def _minilm() -> Finding:
    """Have MiniLM embed a word: its weights may be missing, or not be the pinned ones."""
    from memman.embed.minilm import FINGERPRINT, INSTALL, MiniLM

    try:
        MiniLM().vectors(["yes"])
    except ProviderMisconfigured as error:
        back = shell("memman", "config", "set", "MEMMAN_EMBED_PROVIDER", "builtin")
        return fail(str(error), back, f"or {INSTALL}; the command goes back to the built-in vectors")
    return ok(f"{FINGERPRINT.model} is installed: nothing to reach")
