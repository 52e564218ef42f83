"""Options that many verbs share, and the store they lead to."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from memman.govern.stores import Chosen

_STORE = "memman.store"


def said_store() -> str | None:
    """Return the store named on the command line, before or after the verb."""
    name: str | None = click.get_current_context().meta.get(_STORE)
    return name


def place() -> "Chosen":
    """Return the store that the command means."""
    from memman.govern.stores import chosen
    from memman.hot.provenance import agent, session

    return chosen(said_store(), agent(), session())


def _say(ctx: click.Context, _: click.Parameter, name: str | None) -> None:
    if name is not None:
        ctx.meta[_STORE] = name


def complete_store(_ctx: click.Context, _param: click.Parameter, begun: str) -> list[CompletionItem]:
    """Return the stores whose names begin so."""
    from memman.govern.stores import chosen, listed

    return starting((row["name"] for row in listed(chosen())), begun)


def starting(words: Iterable[str], begun: str) -> list[CompletionItem]:
    """Return those of `words` that begin with `begun`."""
    return [CompletionItem(word) for word in words if word.startswith(begun)]


store_option = click.option(
    "--store",
    metavar="NAME",
    expose_value=False,
    callback=_say,
    shell_complete=complete_store,
    help="Store to use.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def data_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --json and --store."""
    return json_option(store_option(command))


limit_option = click.option(
    "--limit", type=click.IntRange(1, 100_000), default=20, show_default=True, help="Maximum number of rows."
)
