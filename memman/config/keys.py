"""The table of configuration keys: the docs' table and `config show` are made from it."""

from collections.abc import Callable
from dataclasses import dataclass

from memman.config.providers import AGENTS, AUTO, EMBEDDERS, LLMS
from memman.model.vocabulary import BUILTIN, CATEGORIES

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
# Endings of names that no public name server gives out.
_LOCAL_NAMES = (".localhost", ".local", ".internal", ".lan", ".home.arpa")
# This machine, private networks, and a link's own addresses.
_LOCAL_NETS = """
    127.0.0.0/8 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 169.254.0.0/16 ::1/128 fc00::/7 fe80::/10
""".split()
# Where clouds tell a machine its keys.
_METADATA = frozenset({"169.254.169.254", "fd00:ec2::254", "metadata.google.internal"})
# What may be said of how often to back up but a number of hours, in hours.
BACKUP_WORDS = {"off": 0, "daily": 24, "weekly": 168}


def _anything(value: str) -> str:  # noqa: ARG001 - every check has one shape
    return ""


@dataclass(frozen=True, slots=True)
class Key:
    """One setting; `check` says what is wrong with a value."""

    name: str
    help: str
    check: Callable[[str], str] = _anything
    default: str = ""
    secret: bool = False

    @property
    def own(self) -> bool:
        """Whether a store may have it for itself: what makes vectors of its texts, and its server."""
        return self.name.startswith("MEMMAN_EMBED_") or self.shared

    @property
    def shared(self) -> bool:
        """Whether it says where a store is shared, and so is each store's own."""
        return self.name == "MEMMAN_STORE_DSN"

    def outward(self, value: str) -> bool:
        """Whether setting it to `value` says where text is sent, or with whose key."""
        return value != BUILTIN and self.name.endswith(
            ("_PROVIDER", "_ENDPOINT", "_API_KEY", "_COMMAND", "_DSN", "_HTTPS_PROXY", "_CERT_FILE")
        )


def _one_of(*words: str) -> Callable[[str], str]:
    return lambda value: "" if value in words else f"takes one of {', '.join(words)}"


def _whole(low: int, high: int) -> Callable[[str], str]:
    def check(value: str) -> str:
        fits = value.isascii() and value.isdigit() and low <= int(value) <= high
        return "" if fits else f"takes a whole number from {low} to {high}"

    return check


def _amount(value: str) -> str:
    try:
        fits = float(value) >= 0
    except ValueError:
        fits = False
    return "" if fits and value.lower() not in {"inf", "nan", "infinity"} else "takes a number that is not negative"


def _prices(value: str) -> str:
    parts = value.split(",")
    return "" if len(parts) == 2 and not any(map(_amount, parts)) else "takes two numbers: IN,OUT"  # noqa: PLR2004


def _path(value: str) -> str:
    return "" if value.startswith("/") else "takes an absolute path"


def _every(value: str) -> str:
    hours = value.removesuffix("h")
    fits = value in BACKUP_WORDS or (value != hours and not _whole(1, 8760)(hours))
    return "" if fits else "takes off, daily, weekly, or a number of hours such as 12h"


def _ages(value: str) -> str:
    parts = [part.partition("=") for part in value.split(",")]
    fits = all(name in CATEGORIES and not _whole(1, 36_500)(days) for name, _, days in parts)
    return "" if fits else f"takes days by category, as in context=30,fact=365; categories are {', '.join(CATEGORIES)}"


def _endpoint(value: str) -> str:
    from urllib.parse import urlsplit

    scheme, separator, rest = value.partition("://")
    if scheme not in {"http", "https"} or not separator or not rest or "@" in rest or " " in rest:
        return "takes an http:// or https:// URL without a user name"
    try:
        target = urlsplit(value)
        host, _ = target.hostname or "", target.port
    except ValueError:
        return "takes a URL with a valid host and port"
    return (
        ""
        if scheme == "https" or in_local_network(host)
        else "takes an https:// URL; http:// is allowed only for the local network"
    )


def _proxy(value: str) -> str:
    return "" if value.partition("://")[0] in {"http", "https", "socks5", "socks5h"} else "takes http://HOST:PORT"


def host(url: str) -> str:
    """Return the host of a URL, '' where it names none."""
    from urllib.parse import urlsplit

    return urlsplit(url).hostname or ""


def in_local_network(host: str) -> bool:
    """Whether a host is this machine, or has an address or a name that only the local network gives."""
    from ipaddress import ip_address, ip_network

    try:
        address = ip_address(host)
    except ValueError:
        plain = host.isascii() and host.replace("-", "").replace("_", "").replace(".", "").isalnum()
        named = plain and host[0].isalpha() and ("." not in host or host.endswith(_LOCAL_NAMES))
        return named and host not in _METADATA
    address = getattr(address, "ipv4_mapped", None) or address
    return str(address) not in _METADATA and any(address in net for net in map(ip_network, _LOCAL_NETS))


def _or(*words: str) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"


_ASKED_BY_HTTP = tuple(name for name, row in LLMS.items() if row.by_http)

KEYS: dict[str, Key] = {
    key.name: key
    for key in (
        Key(
            "MEMMAN_LLM_PROVIDER",
            f"Language model provider: builtin; by its endpoint {_or(*_ASKED_BY_HTTP)} (openai is any compatible "
            f"endpoint); your own coding agent under its login: {_or(*AGENTS)}, or auto (the agent whose session made "
            "the note). Unset: openai if a key or an endpoint is set, else builtin.",
            _one_of(*LLMS, AUTO),
        ),
        Key("MEMMAN_LLM_ENDPOINT", "Base URL; default: the provider's (for openai: OpenRouter's).", _endpoint),
        Key("MEMMAN_LLM_API_KEY", "Key for the model provider.", secret=True),
        Key(
            "MEMMAN_LLM_COMMAND",
            "Path of the agent's program; default: searched on PATH and in the usual places. Not with auto.",
            _path,
        ),
        Key(
            "MEMMAN_LLM_MODEL_FAST",
            "Model that extracts facts; default: the provider's small one; for opencode, the one in its settings.",
        ),
        Key("MEMMAN_LLM_MODEL_SLOW", "Model that compares facts; default for an agent: the same."),
        Key(
            "MEMMAN_LLM_BATCH",
            "Maximum number of notes per model call; default: 16 with an agent as the model, else 1.",
            _whole(1, 32),
        ),
        Key(
            "MEMMAN_LLM_PRICE",
            "Price IN,OUT in US dollars per million tokens, for providers that do not report the cost.",
            _prices,
        ),
        Key(
            "MEMMAN_LLM_FALLBACK",
            "builtin: the judge decides if the model fails, is over budget or rejects the account. Unset: notes wait.",
            _one_of(BUILTIN),
        ),
        Key(
            "MEMMAN_EMBED_PROVIDER",
            f"Embedding provider: {_or(*EMBEDDERS)}. openai: any compatible endpoint.",
            _one_of(*EMBEDDERS),
            default="builtin",
        ),
        Key("MEMMAN_EMBED_ENDPOINT", "Base URL; default: the provider's.", _endpoint),
        Key("MEMMAN_EMBED_API_KEY", "Key for the embedding provider.", secret=True),
        Key("MEMMAN_EMBED_MODEL", "Embedding model."),
        Key("MEMMAN_EMBED_DIMENSION", "Dimension of its vectors; unset: taken from the first reply.", _whole(8, 16384)),
        Key("MEMMAN_EMBED_PRICE", "US dollars per million tokens.", _amount),
        Key(
            "MEMMAN_STORE_DSN",
            "Postgres server of a shared store, as `postgresql://…`; each store's own: `memman team connect` sets it.",
            secret=True,
        ),
        Key(
            "MEMMAN_BUDGET_USD",
            "Daily budget in US dollars; when it is spent, notes wait until tomorrow. Calls of unknown price (see "
            "MEMMAN_LLM_PRICE, MEMMAN_EMBED_PRICE) are refused.",
            _amount,
        ),
        Key(
            "MEMMAN_BUDGET_TOKENS",
            "Daily budget in tokens; default: none, with an agent as the model 500000.",
            _whole(0, 10**12),
        ),
        Key(
            "MEMMAN_BUDGET_CALLS",
            "Daily budget in model calls; default: none, with an agent as the model 100. When an agent's budget is "
            "spent, the judge decides.",
            _whole(0, 10**6),
        ),
        Key(
            "MEMMAN_CAPTURE",
            "What hooks save from an agent's turns: off, corrections (what the user corrects, prefers or decides), "
            "turns (what the model finds worth keeping) or ask (corrections and agents' own notes, after you approve "
            "them with `memman review`). Unset: turns with a key, else corrections.",
            _one_of("off", "corrections", "turns", "ask"),
        ),
        Key(
            "MEMMAN_NOTED",
            "Whether agents are asked to end an answer with a line `Noted: …` when the user corrects them or states "
            "something lasting: on, off, or auto (if a person is present: not in CI, nor from an SDK).",
            _one_of("auto", "on", "off"),
            default="auto",
        ),
        Key(
            "MEMMAN_NUDGE",
            "Whether an agent that notes is reminded at the next prompt of what it may have missed: on or off.",
            _one_of("on", "off"),
            default="on",
        ),
        Key(
            "MEMMAN_PAGES",
            "Whether the model summarises pages of topics (`memman wiki`) in idle drains: on or off.",
            _one_of("on", "off"),
            default="off",
        ),
        Key(
            "MEMMAN_LESSONS",
            "Whether drains note which commands failed in a session and what fixed them: on or off.",
            _one_of("on", "off"),
            default="off",
        ),
        Key(
            "MEMMAN_IGNORE",
            "Folders in which nothing is remembered, separated by commas: ~/clients/*, or a folder name. "
            "A repository can opt out with a .memmanignore file.",
        ),
        Key(
            "MEMMAN_STALE_DAYS",
            "Days without confirmation after which `list --stale` lists a memory of a category.",
            _ages,
            default="context=30,fact=365",
        ),
        Key("MEMMAN_DRAIN_CONCURRENCY", "Number of notes processed at once.", _whole(1, 256), default="16"),
        Key(
            "MEMMAN_BACKUP_EVERY",
            "How often to create a backup automatically: off, daily, weekly, or e.g. 12h.",
            _every,
            default="off",
        ),
        Key("MEMMAN_BACKUP_KEEP", "How many automatic backups to keep.", _whole(1, 1000), default="7"),
        Key(
            "MEMMAN_LOG_LEVEL",
            "What logs/worker.jsonl contains: info (results, no text) or debug (also what each stage did, with text).",
            _one_of("info", "debug"),
            default="info",
        ),
        Key(
            "MEMMAN_UNSAFE_FOLDER",
            "allow: accept any file system for the data folder; only for a shared mount that a single machine uses.",
            _one_of("refuse", "allow"),
            default="refuse",
        ),
        Key(
            "MEMMAN_HTTPS_PROXY",
            "Proxy for encrypted connections, http://HOST:PORT; install takes it from the shell's HTTPS_PROXY.",
            _proxy,
            secret=True,
        ),
        Key("MEMMAN_NO_PROXY", "Hosts reached without the proxy, separated by commas."),
        Key(
            "MEMMAN_SSL_CERT_FILE",
            "File of certificates trusted besides the system's and certifi's; install takes it from the shell's "
            "SSL_CERT_FILE, REQUESTS_CA_BUNDLE or NODE_EXTRA_CA_CERTS.",
            _path,
        ),
        Key("MEMMAN_HTTP_TIMEOUT", "Timeout of a provider call, in seconds.", _whole(1, 3600), default="60"),
        Key(
            "MEMMAN_HTTP_TRIES",
            "How often a provider call is tried before the note is put back into the queue.",
            _whole(1, 10),
            default="3",
        ),
    )
}
