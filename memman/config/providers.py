"""Every provider there is, one row for each: settings, wizard, doctor and what builds them read it here."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Provider:
    """One provider of a model or of vectors.

    `models` are the defaults: a language model's small and large one, or one for everything. `adapter` is its class as
    "module:name", `free` a path that can be asked for nothing, `keyed` whether with the key.
    """

    name: str
    endpoint: str = ""
    models: tuple[str, ...] = ()
    adapter: str = ""
    free: str = ""
    keyed: bool = False
    help: str = ""

    @property
    def by_http(self) -> bool:
        """Whether it is asked by HTTP."""
        return bool(self.adapter)


def _rows(*rows: Provider) -> dict[str, Provider]:
    return {row.name: row for row in rows}


_EMBEDDER = "memman.embed.remote:RemoteEmbedder"
LLMS = _rows(
    Provider("builtin", help="no model: the built-in judge and vectors, nothing leaves this machine"),
    Provider(
        "openai",
        "https://openrouter.ai/api/v1",
        ("anthropic/claude-haiku-4.5", "anthropic/claude-sonnet-4.5"),
        "memman.llm.openai:OpenAICompatible",
        "/models",
        keyed=True,
        help="any endpoint compatible with OpenAI's",
    ),
    Provider(
        "anthropic",
        "https://api.anthropic.com",
        ("claude-haiku-4-5", "claude-sonnet-4-5"),
        "memman.llm.anthropic:AnthropicMessages",
        "/v1/models",
        keyed=True,
        help="Anthropic",
    ),
    # Coding agents on this machine; how each is called is in memman.llm.agent.clients.
    *map(Provider, ("claude-code", "codex", "gemini", "opencode")),
)
EMBEDDERS = _rows(
    Provider("builtin"),
    Provider("openai", "https://api.openai.com/v1", ("text-embedding-3-small",), _EMBEDDER, "/models", keyed=True),
    Provider("voyage", "https://api.voyageai.com/v1", ("voyage-3.5-lite",), _EMBEDDER, "/"),
    Provider("ollama", "http://127.0.0.1:11434", ("nomic-embed-text",), _EMBEDDER, "/api/tags"),
)
# Agents that can be the model, and the word for whichever made the note.
AGENTS = tuple(name for name, row in LLMS.items() if name != "builtin" and not row.by_http)
AUTO = "auto"
# The host of `openai`'s endpoint, the one provider that says in each reply what it cost.
TELLS_COST = "openrouter.ai"
