"""Runs an ASGI app in this process, without a socket, for tests that are plain functions."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx
from fastapi import FastAPI

_Result = TypeVar("_Result")


class AppRunner:
    """An event loop with the app's lifespan open; requests go in by `request` or `run`.

    Errors that the app lets through are raised here, not turned into a 500.
    """

    def __init__(self, app: FastAPI, *, headers: dict[str, str] | None = None) -> None:
        """`headers` go with every request of `request` and `client`."""
        self.app = app
        self.client = httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://test", headers=headers
        )
        self._runner = asyncio.Runner()
        self._stack = AsyncExitStack()

    def __enter__(self) -> Self:
        self.run(self._stack.enter_async_context(self.app.router.lifespan_context(self.app)))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.run(self.client.aclose())
        self.run(self._stack.aclose())
        self._runner.close()

    def run(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        """The result of `work`, run on the app's loop."""
        return self._runner.run(work)

    def request(self, method: str, path: str, **arguments: Any) -> httpx.Response:
        return self.run(self.client.request(method, path, **arguments))
