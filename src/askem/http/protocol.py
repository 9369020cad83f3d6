"""uvicorn's HTTP protocol, bounded in time and size towards callers who send slowly or endlessly.

By itself uvicorn waits for ever for the headers of a request, takes any amount of them, and keeps
a connection whose body never ends although it was answered long ago.
"""

from __future__ import annotations

import asyncio
import uuid

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from askem.http.problems import problem

MAX_HEADER_BYTES = 64 * 1024
"""Of the address and all headers, with the four signs that go with each."""


class _TooLarge(Exception):
    """Stops the parser; the answer was sent."""


class PatientProtocol(HttpToolsProtocol):
    """Patient, but not for ever."""

    headers_timeout_s = 10.0
    """Longest time from the opening of a connection, or from a later request's first byte, until
    the request's headers are whole."""
    linger_s = 2.0
    """How long the rest of a body is thrown away after its request was answered. Closing at once
    would reset the connection, and the caller might never read the answer."""

    _deadline: asyncio.TimerHandle | None = None
    _lingering: asyncio.TimerHandle | None = None
    _header_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget_deadlines()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        deadline = self._deadline
        super().data_received(data)
        # Headers that ended have been counted; what began in the middle of `data` is not all of it.
        if deadline is not None and self._deadline is deadline:
            self._header_bytes += len(data)
            if self._header_bytes > MAX_HEADER_BYTES:
                self._refuse_headers()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._deadline is None:
            self._await_headers()

    def on_headers_complete(self) -> None:
        self._forget_deadlines()
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if size > MAX_HEADER_BYTES:
            self._refuse_headers()
            raise _TooLarge
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        if self._lingering is not None:
            self._lingering.cancel()
            self._lingering = None
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        # With requests in the pipeline, `cycle` is a later one than that which was answered.
        unread = self.cycle.response_complete and self.cycle.more_body
        if unread and not self.transport.is_closing():
            self._lingering = self.loop.call_later(self.linger_s, self.transport.close)

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, "The request is not valid HTTP.")

    def _refuse_headers(self) -> None:
        self._refuse(431, f"The headers may have {MAX_HEADER_BYTES} bytes at most.")

    def _await_headers(self) -> None:
        self._header_bytes = 0
        self._deadline = self.loop.call_later(self.headers_timeout_s, self.transport.close)

    def _forget_deadlines(self) -> None:
        for timer in (self._deadline, self._lingering):
            if timer is not None:
                timer.cancel()
        self._deadline = self._lingering = None

    def _refuse(self, status: int, detail: str) -> None:
        """Answers below the app, and closes; nothing where it is closed."""
        if self.transport.is_closing():
            return
        answer = problem({"state": {"request_id": uuid.uuid4().hex}}, status, detail)
        reason = "Bad Request" if status == 400 else "Request Header Fields Too Large"
        head = [f"HTTP/1.1 {status} {reason}".encode(), b"connection: close"]
        head += [name + b": " + value for name, value in answer.raw_headers]
        self.transport.write(b"\r\n".join([*head, b"", bytes(answer.body)]))
        self.transport.close()
