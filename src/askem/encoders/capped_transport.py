"""HTTP for the embeddings client: what an answer may weigh and take, whatever the server does."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import httpx2

MAX_ANSWER_BYTES = 32 * 1024 * 1024
"""64 vectors of 16,384 numbers written out in full."""


class AnswerTooLarge(Exception):
    """More than the cap was sent, or it was packed, so that its size is not known."""


class CappedTransport(httpx2.BaseTransport):
    """Passes requests on, and stops reading an answer at a size or a time.

    A read time-out alone bounds each piece of an answer, not the answer.
    """

    def __init__(self, inner: httpx2.BaseTransport, *, max_bytes: int, max_s: float) -> None:
        self._inner = inner
        self._max_bytes = max_bytes
        self._max_s = max_s

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        deadline = time.monotonic() + self._max_s
        response = self._inner.handle_request(request)
        stream = _Capped(response.stream, request, self._max_bytes, deadline)
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            stream.close()
            raise AnswerTooLarge("the answer has a content encoding that was not asked for")
        return httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=stream,
            extensions=response.extensions,
        )

    def close(self) -> None:
        self._inner.close()


class _Capped(httpx2.SyncByteStream):
    def __init__(self, inner: Any, request: httpx2.Request, max_bytes: int, deadline: float):
        self._inner = inner
        self._request = request
        self._left = max_bytes
        self._deadline = deadline

    def __iter__(self) -> Iterator[bytes]:
        for part in self._inner:
            self._left -= len(part)
            if self._left < 0:
                raise AnswerTooLarge("the answer is larger than any that was asked for")
            if time.monotonic() > self._deadline:
                raise httpx2.ReadTimeout("the answer was not whole in time", request=self._request)
            yield part

    def close(self) -> None:
        self._inner.close()
