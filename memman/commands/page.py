"""`memman page`: serve what memory knows to one browser, with buttons; or write it to a file."""

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import click

from memman.commands.person import refuse_agents, tell
from memman.commands.place import Opened, Place, opened
from memman.commands.verb import verb
from memman.config.places import put_file
from memman.model.errors import CannotWrite, UsageError

if TYPE_CHECKING:
    from memman.page.server import Server, Site

T = TypeVar("T")
_PRIVATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


@verb()
@click.argument("file", required=False, metavar="[FILE]")
@click.option("--idle", type=click.IntRange(1, 1440), default=15, show_default=True, help="Minutes without a visit.")
@click.option("--port", type=click.IntRange(1024, 65535), help="Port on 127.0.0.1; by default any that is free.")
@click.option("--open", "browser", is_flag=True, help="Open the browser.")
@click.option("--token-file", metavar="FILE", help="For scripts: write a token to this file, and print no link.")
def page(
    place: Place,
    file: str | None = None,
    *,
    idle: int = 15,
    port: int | None = None,
    browser: bool = False,
    token_file: str | None = None,
) -> int:
    """Show and change memory in a browser.

    Serves until nobody has looked for a while. The link works once, for one browser. With FILE it serves nothing,
    but writes one file without buttons, to read or to send. With --token-file a script may read every page as JSON,
    and remember.
    """
    from memman.page.server import Server

    refuse_agents()
    if file is not None:
        if port or browser or token_file:
            raise UsageError("a FILE is written, not served: leave out --port, --open and --token-file")
        return _filed(place, file)
    try:
        server = Server(site(place), idle * 60, port or 0)
    except OSError as error:
        raise CannotWrite(f"port {port} cannot be used: {error.strerror}") from None
    for ends in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ends, lambda *_: server.stop())
    with _told(place, server, token_file, browser=browser):
        server.run()
    return 0


def _filed(place: Place, path: str) -> int:
    """Write the file, readable by nobody else, over an older page only. Raises UsageError and CannotWrite."""
    from memman.page.document import ours, written

    if path == "-":
        raise UsageError("a page is written to a file: give its name, like page.html")
    try:
        if os.path.lexists(path) and not ours(path):
            raise UsageError(f"{path} already exists and is no page of memman: give another name")
        with opened(place) as store:
            text = written(store)
        put_file(os.path.abspath(path), text.encode(errors="replace").decode())
    except OSError as error:
        raise CannotWrite(f"{path} cannot be written: {error.strerror}") from None
    click.echo(f"wrote {path}")
    return 0


@contextmanager
def _told(place: Place, server: "Server", token_file: str | None, *, browser: bool) -> Iterator[None]:
    """Say where the page is: to a script in a file, to a person at their terminal or by opening the browser."""
    if token_file:
        with _written(token_file, f"Authorization: Bearer {server.scripts}\n"):
            click.echo(server.address)
            yield
    elif browser:
        import webbrowser

        tell(f"{server.link}\nThe link works once. Ctrl-C ends the page.", "Serve the page?")
        # The link itself would stand in the list of processes.
        door = f'<!doctype html><meta http-equiv="refresh" content="0;url={server.link}">\n'
        with _written(path := os.path.join(place.data, f"page-{server.port}.html"), door):
            webbrowser.open(f"file://{path}")
            yield
    else:
        tell(f"{server.link}\nThe link works once. Ctrl-C ends the page.", "Serve the page?")
        yield


@contextmanager
def _written(path: str, text: str) -> Iterator[None]:
    """Keep a file of one's own that nobody else reads, for as long as the page is served."""
    try:
        with os.fdopen(os.open(path, _PRIVATE, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise CannotWrite(f"{path} cannot be written: {error.strerror}") from None
    try:
        yield
    finally:
        with suppress(FileNotFoundError):
            os.unlink(path)


def site(place: Place) -> "Site":
    """Return what is served of a store."""
    from memman.page.actions import ACTIONS, FOR_SCRIPTS
    from memman.page.document import whole
    from memman.page.server import Site
    from memman.page.views import VIEWS

    views = {path: _opening(place, view) for path, view in VIEWS.items()}
    actions, scripts = ({name: partial(act, place) for name, act in table.items()} for table in (ACTIONS, FOR_SCRIPTS))
    return Site(views, actions, scripts, whole)


def _opening(place: Place, view: Callable[[Opened, Mapping[str, str]], T]) -> Callable[[Mapping[str, str]], T]:
    """Have a view look at the store as it is when it is asked."""

    def looked(values: Mapping[str, str]) -> T:
        with opened(place) as store:
            return view(store, values)

    return looked
