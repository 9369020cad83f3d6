"""HTTP for models: what an answer may weigh and take, whatever the server does."""

from __future__ import annotations

import ssl
import time
from collections.abc import AsyncIterator
from functools import cache
from typing import Any

import httpx2

from askem_agent.models.config import ModelConnection


class AnswerTooLarge(Exception):
    """More than the cap was sent, or it was packed, so that its size is not known."""


def http_client(connection: ModelConnection) -> httpx2.AsyncClient:
    """No redirects, no proxy and no credentials from the environment."""
    transport = CappedTransport(
        httpx2.AsyncHTTPTransport(verify=_certificates()),
        max_bytes=connection.max_answer_bytes,
        max_s=connection.total_timeout_s,
    )
    return httpx2.AsyncClient(
        transport=transport,
        trust_env=False,
        follow_redirects=False,
        timeout=httpx2.Timeout(connection.idle_timeout_s, connect=connection.connect_timeout_s),
    )


@cache
def _certificates() -> ssl.SSLContext:
    # Reading them takes a tenth of a second, and each model has a client of its own.
    return httpx2.create_ssl_context(trust_env=False)


class CappedTransport(httpx2.AsyncBaseTransport):
    """Passes requests on, and stops reading an answer at a size or a time.

    A read time-out alone bounds each piece of an answer, not the answer.
    """

    def __init__(self, inner: httpx2.AsyncBaseTransport, *, max_bytes: int, max_s: float) -> None:
        self._inner = inner
        self._max_bytes = max_bytes
        self._max_s = max_s

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        deadline = time.monotonic() + self._max_s
        response = await self._inner.handle_async_request(request)
        stream = _Capped(response.stream, request, self._max_bytes, deadline)
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            await stream.aclose()
            raise AnswerTooLarge("the answer has a content encoding that was not asked for")
        return httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=stream,
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Capped(httpx2.AsyncByteStream):
    def __init__(self, inner: Any, request: httpx2.Request, max_bytes: int, deadline: float):
        self._inner = inner
        self._request = request
        self._left = max_bytes
        self._deadline = deadline

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._inner:
            self._left -= len(part)
            if self._left < 0:
                raise AnswerTooLarge("the answer is larger than any that was asked for")
            if time.monotonic() > self._deadline:
                raise httpx2.ReadTimeout("the answer was not whole in time", request=self._request)
            yield part

    async def aclose(self) -> None:
        await self._inner.aclose()
