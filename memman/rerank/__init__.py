"""Rerankers behind one class. Only `recall` asks them, so loading counts: they need no httpx."""

from memman.config.env import Settings
from memman.config.providers import RERANKERS
from memman.model.errors import BadConfig

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.rerank.remote import RemoteReranker


def reranker(settings: Settings) -> "RemoteReranker":
    """Build the configured reranker. Raises BadConfig where there is none."""
    from memman.rerank.remote import RemoteReranker

    provider = settings["MEMMAN_RERANK_PROVIDER"]
    if not provider:
        raise BadConfig(f"`memman config set MEMMAN_RERANK_PROVIDER {'|'.join(RERANKERS)}` first")
    row = RERANKERS[provider]
    endpoint = settings["MEMMAN_RERANK_ENDPOINT"] or row.endpoint
    if not endpoint:
        raise BadConfig(f"the provider {provider} needs MEMMAN_RERANK_ENDPOINT, an address that ends before /rerank")
    settings.reach_out()
    return RemoteReranker(
        provider,
        endpoint,
        settings["MEMMAN_RERANK_API_KEY"],
        settings["MEMMAN_RERANK_MODEL"] or row.models[0],
        int(settings["MEMMAN_RERANK_BUDGET_MS"]) / 1000,
    )
