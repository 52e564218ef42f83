"""What starts drains on a machine, and which of them answers here."""

import os
from typing import Any, Protocol

from memman.config.launcher import launcher_path
from memman.scheduler import launchd, systemd


class Adapter(Protocol):
    """A service manager of the user's. Raises NoScheduler where it refuses an order or does not answer."""

    KIND: str

    def available(self) -> bool:
        """Whether the manager answers."""

    def folder(self) -> str:
        """Return the folder its files go to."""

    def rendered(self, data: str) -> dict[str, str]:
        """Return what its files must hold, by their names below the folder."""

    def owner(self) -> str:
        """Return the launcher that the files which are there call, '' where there are none."""

    def install(self, data: str) -> list[str]:
        """Lay down its files and load them; return what to tell the user."""

    def uninstall(self, data: str) -> list[str]:
        """Unload and remove its files; return what to tell the user, nothing where there was nothing."""

    def start(self) -> None:
        """Let drains be started, now and after every boot."""

    def stop(self) -> None:
        """Let no drain be started, also after a boot, and ask a running one to end."""

    def trigger(self) -> None:
        """Start a drain now."""

    def health(self) -> dict[str, Any]:
        """Return `well`, the state of each unit in `units`, and `next_run` in Unix milliseconds where it is known."""


ADAPTERS: tuple[Adapter, ...] = (systemd, launchd)


def answering() -> Adapter | None:
    """Return the first that answers here."""
    return next((adapter for adapter in ADAPTERS if adapter.available()), None)


def named(kind: str) -> Adapter | None:
    """Return the one that a schedule names."""
    return next((adapter for adapter in ADAPTERS if kind == adapter.KIND), None)


def elsewhere(adapter: Adapter, data: str) -> str:
    """Return the launcher of another data folder that the adapter's files call, '' where they do not."""
    owner = adapter.owner()
    return owner if owner and os.path.realpath(owner) != os.path.realpath(launcher_path(data)) else ""


def left_alone(adapter: Adapter, owner: str) -> str:
    """Say why nothing is done to an adapter's files."""
    return f"{adapter.KIND} starts drains by {owner}, of another data folder, and was left alone"
