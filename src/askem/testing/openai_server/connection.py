"""One answer's bytes, and whether anybody still reads them."""

from __future__ import annotations

import math
import select
import socket
import threading
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler

_TICK_S = 0.02


class Left(Exception):
    """The client has closed the connection, or the server is being closed."""


class Connection:
    """Writes an answer, whole or in chunks."""

    def __init__(self, handler: BaseHTTPRequestHandler, closing: threading.Event) -> None:
        self._handler = handler
        self._closing = closing

    def whole(
        self, status: int, headers: Mapping[str, str], body: bytes, keep: int | None = None
    ) -> None:
        """`keep`: only so many bytes of `body` are sent, then the connection is closed."""
        length = {"Content-Length": str(len(body))}
        self._head(status, {"Content-Type": "application/json", **headers, **length})
        self._handler.wfile.write(body[:keep])
        if keep is not None and keep < len(body):
            self.close()

    def begin(self, headers: Mapping[str, str], content_type: str) -> None:
        """Starts an answer in chunks."""
        chunked = {"Transfer-Encoding": "chunked"}
        self._head(200, {"Content-Type": content_type, **headers, **chunked})

    def part(self, data: bytes) -> None:
        self._handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def finish(self) -> None:
        self._handler.wfile.write(b"0\r\n\r\n")

    def close(self) -> None:
        self._handler.close_connection = True

    def wait(self, seconds: float | None, comment: bytes | None = None) -> None:
        """Until `seconds` are over, None: for ever; `comment` is sent again and again meanwhile.

        Raises Left as soon as the client goes or the server closes.
        """
        until = math.inf if seconds is None else time.monotonic() + seconds
        while (left_s := until - time.monotonic()) > 0:
            if self._closing.is_set() or self._has_gone(min(left_s, _TICK_S)):
                raise Left
            if comment is not None:
                self.part(comment)

    def _has_gone(self, within_s: float) -> bool:
        """Looks for the client's end of the connection, for so long at most."""
        connection = self._handler.connection
        readable, _, _ = select.select([connection], [], [], within_s)
        return bool(readable) and connection.recv(1, socket.MSG_PEEK) == b""

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        self._handler.send_response(status)
        for name, value in headers.items():
            self._handler.send_header(name, value)
        self._handler.end_headers()
