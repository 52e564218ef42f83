"""A way to a server that falls silent: it takes what is sent and acknowledges it, and nothing comes back."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_CHUNK = 256


class Proxy:
    """What relays between clients at `port` and a server on loopback."""

    def __init__(self, server: int) -> None:
        self.server, self.left = server, float("inf")
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self.listening.getsockname()[1])
        self.open: list[socket.socket] = [self.listening]
        threading.Thread(target=self._accept, daemon=True).start()

    def hush(self, after: int) -> None:
        """Fall silent once so many more bytes have come from the server."""
        self.left = after

    def relay(self) -> None:
        """Relay everything again."""
        self.left = float("inf")

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self.listening.accept()
                server = socket.create_connection(("127.0.0.1", self.server))
                self.open += [client, server]
                for ends, counted in (((client, server), False), ((server, client), True)):
                    threading.Thread(target=self._relay, args=(*ends, counted), daemon=True).start()

    def _relay(self, source: socket.socket, target: socket.socket, counted: bool) -> None:
        with suppress(OSError):
            while said := source.recv(_CHUNK):
                if counted:
                    self.left -= len(said)
                if self.left > 0:
                    target.sendall(said)
            target.shutdown(socket.SHUT_WR)


@contextmanager
def proxied(server: int) -> Iterator[Proxy]:
    """Hold a proxy before a server's port."""
    proxy = Proxy(server)
    try:
        yield proxy
    finally:
        for one in proxy.open:
            one.close()
