"""Clients of the retriever, blocking and asynchronous. A failure is an error, never an empty list.

Every method raises ClientError: Unauthorized, NotFoundError, Rejected, Unavailable, ServerFault.
Nothing is retried here.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Self, TypeVar

import httpx

from askem.closing import Closing
from askem.http import exchange, wire
from askem.http.exchange import (
    Call,
    ClientError,
    Meter,
    NotFoundError,
    Rejected,
    ServerFault,
    Unauthorized,
    Unavailable,
)

__all__ = [
    "AskemClient",
    "AsyncAskemClient",
    "BlockingClient",
    "ClientError",
    "NotFoundError",
    "Rejected",
    "ServerFault",
    "Unauthorized",
    "Unavailable",
]

_Answer = TypeVar("_Answer")
TIMEOUT_S = 35.0
"""A little more than a server takes at most by default."""


class BlockingClient(Closing):
    """What blocking clients of services share. Thread-safe. Redirects are not followed, the
    environment's proxy is not used."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        timeout_s: float = TIMEOUT_S,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """`timeout_s`: for connecting, for each wait, and for the whole body of an answer.

        Raises ConfigurationError for a key that cannot be one.
        """
        self._timeout_s = timeout_s
        arguments = exchange.options(base_url, api_key, timeout_s)
        self._http = httpx.Client(transport=transport, **arguments)

    def close(self) -> None:
        self._http.close()

    def _send(self, call: Call[_Answer]) -> _Answer:
        meter = Meter(self._timeout_s)
        try:
            with self._http.stream(**exchange.request_arguments(call)) as response:
                for part in response.iter_bytes():
                    meter.add(part)
        except httpx.HTTPError as error:
            raise exchange.transport_error(error) from error
        return exchange.read(call, response, meter.body())


class AskemClient(BlockingClient):
    """Of the retriever; blocking."""

    def vector(self, request: wire.VectorRequest) -> list[wire.PassageOut]:
        return self._send(exchange.vector(request))

    def hybrid(self, request: wire.HybridRequest) -> list[wire.PassageOut]:
        return self._send(exchange.hybrid(request))

    def hybrid_search(
        self, request: wire.HybridRequest
    ) -> wire.SearchResponse | list[wire.PassageOut]:
        """`/hybrid` with how its hits were found, or the bare list where a server does not tell."""
        return self._send(exchange.hybrid_search(request))

    def search(self, request: wire.SearchRequest) -> wire.SearchResponse:
        return self._send(exchange.search(request))

    def explain(self, request: wire.ExplainRequest) -> wire.ExplanationOut:
        return self._send(exchange.explain(request))

    def topics(self) -> list[wire.TopicOut]:
        return self._send(exchange.topics())

    def papers(
        self, *, topic: str | None = None, after: str | None = None, limit: int = 100
    ) -> wire.PapersPage:
        """A page; its `next` is the `after` of the following one."""
        return self._send(exchange.papers(topic, after, limit))

    def paper(self, paper_id: str, *, limit: int = 100, offset: int = 0) -> wire.PaperDetail:
        return self._send(exchange.paper(paper_id, limit, offset))

    def passage(self, passage_id: str) -> wire.StoredPassage:
        return self._send(exchange.passage(passage_id))

    def ready(self) -> wire.Readiness:
        """What works and what is missing; a server that is not ready is no error here."""
        return self._send(exchange.ready())


class AsyncAskemClient:
    """The same for asyncio."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        timeout_s: float = TIMEOUT_S,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """Raises ConfigurationError for a key that cannot be one."""
        self._timeout_s = timeout_s
        arguments = exchange.options(base_url, api_key, timeout_s)
        self._http = httpx.AsyncClient(transport=transport, **arguments)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def vector(self, request: wire.VectorRequest) -> list[wire.PassageOut]:
        return await self._send(exchange.vector(request))

    async def hybrid(self, request: wire.HybridRequest) -> list[wire.PassageOut]:
        return await self._send(exchange.hybrid(request))

    async def hybrid_search(
        self, request: wire.HybridRequest
    ) -> wire.SearchResponse | list[wire.PassageOut]:
        """`/hybrid` with how its hits were found, or the bare list where a server does not tell."""
        return await self._send(exchange.hybrid_search(request))

    async def search(self, request: wire.SearchRequest) -> wire.SearchResponse:
        return await self._send(exchange.search(request))

    async def explain(self, request: wire.ExplainRequest) -> wire.ExplanationOut:
        return await self._send(exchange.explain(request))

    async def topics(self) -> list[wire.TopicOut]:
        return await self._send(exchange.topics())

    async def papers(
        self, *, topic: str | None = None, after: str | None = None, limit: int = 100
    ) -> wire.PapersPage:
        """A page; its `next` is the `after` of the following one."""
        return await self._send(exchange.papers(topic, after, limit))

    async def paper(self, paper_id: str, *, limit: int = 100, offset: int = 0) -> wire.PaperDetail:
        return await self._send(exchange.paper(paper_id, limit, offset))

    async def passage(self, passage_id: str) -> wire.StoredPassage:
        return await self._send(exchange.passage(passage_id))

    async def ready(self) -> wire.Readiness:
        """What works and what is missing; a server that is not ready is no error here."""
        return await self._send(exchange.ready())

    async def _send(self, call: Call[_Answer]) -> _Answer:
        meter = Meter(self._timeout_s)
        try:
            async with (
                asyncio.timeout(self._timeout_s),
                self._http.stream(**exchange.request_arguments(call)) as response,
            ):
                async for part in response.aiter_bytes():
                    meter.add(part)
        except httpx.HTTPError as error:
            raise exchange.transport_error(error) from error
        except TimeoutError:
            raise Unavailable(f"no answer within {self._timeout_s:g} s") from None
        return exchange.read(call, response, meter.body())
