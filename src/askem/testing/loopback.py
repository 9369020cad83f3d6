"""An HTTP server on loopback with real sockets, in threads of its own, for scripted servers."""

from __future__ import annotations

import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


class LoopbackServer:
    """Runs from `with` to its end. `closing` is set once that end is reached."""

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        """`handler`: gets this server as its class's attribute `owner`."""
        self.closing = threading.Event()
        owned = type("Handler", (handler,), {"owner": self})
        self._server = _Server(("127.0.0.1", 0), owned)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        # Clients that go away are part of the tests, and no fault of the server's.
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)
