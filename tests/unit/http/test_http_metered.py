"""Bodies that a route reads as they come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException

from askem.http import problems
from askem.http.limits import BodyLimit, RequestContext
from askem.http.metered import metered


def post(path: str, content: Any, **headers: str) -> tuple[httpx.Response, list[int]]:
    """The answer, and the sizes that the route saw."""
    app, seen = FastAPI(), []
    problems.install(app)

    @app.post("/streamed")
    @app.post("/whole")
    async def read(request: Request) -> Response:
        seen.extend([len(chunk) async for chunk in request.stream()])
        return Response()

    app.add_middleware(BodyLimit, max_bytes=1000, timeout_s=0.2, streamed={"/streamed": 5000})
    app.add_middleware(RequestContext)

    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            return await client.post(path, content=content, headers=headers)

    return asyncio.run(send()), seen


async def chunks(count: int, size: int, pause_s: float = 0.0) -> AsyncIterator[bytes]:
    for _ in range(count):
        await asyncio.sleep(pause_s)
        yield b"x" * size


def test_a_route_reads_the_body_as_it_comes() -> None:
    answer, seen = post("/streamed", chunks(5, 1000))
    assert answer.status_code == 200
    assert [size for size in seen if size] == [1000] * 5
    answer, seen = post("/whole", chunks(2, 500))
    assert [size for size in seen if size] == [1000]


@pytest.mark.parametrize("content", [b"x" * 5001, chunks(6, 1000)], ids=["announced", "chunked"])
def test_too_much_is_413(content: Any) -> None:
    answer, seen = post("/streamed", content)
    assert answer.status_code == 413
    assert answer.headers["content-type"] == "application/problem+json"
    assert "5000 bytes" in answer.json()["detail"]
    assert seen == []


def test_dripping_is_408() -> None:
    answer, _ = post("/streamed", chunks(1000, 1, 0.02))
    assert answer.status_code == 408
    assert answer.headers["content-type"] == "application/problem+json"


def receiver(*messages: tuple[float, dict[str, Any]]) -> Any:
    pending = list(messages)

    async def receive() -> Any:
        pause_s, message = pending.pop(0)
        await asyncio.sleep(pause_s)
        return message

    return receive


def body(size: int, *, more: bool = True) -> dict[str, Any]:
    return {"type": "http.request", "body": b"x" * size, "more_body": more}


def test_who_sends_much_may_take_long() -> None:
    async def go() -> None:
        paced = receiver(*[(0.05, body(100))] * 6, (0.05, body(100, more=False)))
        counted = metered(paced, 10_000, grace_s=0.1, min_bytes_per_s=500)
        for _ in range(7):
            await counted()
        # What comes after the body may take for ever.
        later = receiver((0, body(1, more=False)), (0.3, {"type": "http.disconnect"}))
        counted = metered(later, 10, grace_s=0.1, min_bytes_per_s=500)
        await counted()
        assert (await counted())["type"] == "http.disconnect"

    asyncio.run(go())


def test_only_waiting_counts() -> None:
    async def go() -> None:
        ready = receiver(*[(0.0, body(1))] * 3)
        counted = metered(ready, 10, grace_s=0.2, min_bytes_per_s=1000)
        for _ in range(3):
            await counted()
            await asyncio.sleep(0.15)

    asyncio.run(go())


def test_a_caller_who_leaves_is_an_error_for_the_route() -> None:
    async def go() -> None:
        counted = metered(receiver((0, body(1)), (0, {"type": "http.disconnect"})), 10)
        await counted()
        with pytest.raises(HTTPException) as raised:
            await counted()
        assert raised.value.status_code == 400

    asyncio.run(go())
