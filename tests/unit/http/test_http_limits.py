"""Request ids, log lines, sizes and deadlines of bodies."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from fastapi import FastAPI, Request, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from askem.http import problems
from askem.http.limits import BodyLimit, RequestContext


def app() -> FastAPI:
    made = FastAPI()
    problems.install(made)

    @made.post("/echo/{name}")
    async def echo(request: Request, name: str) -> Response:
        return Response(await request.body())

    @made.post("/large")
    async def large(request: Request) -> Response:
        return Response(str(len(await request.body())))

    @made.get("/bug")
    async def bug() -> Response:
        raise RuntimeError("secret")

    made.add_middleware(BodyLimit, max_bytes=1000, timeout_s=0.1, exceptions={"/large": 5000})
    made.add_middleware(RequestContext)
    return made


def call(method: str, path: str, target: ASGIApp | None = None, **arguments: Any) -> httpx.Response:
    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(target or app())
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            return await client.request(method, path, **arguments)

    return asyncio.run(send())


async def chunks(count: int, size: int, pause_s: float = 0.0) -> AsyncIterator[bytes]:
    for _ in range(count):
        await asyncio.sleep(pause_s)
        yield b"x" * size


def test_a_body_arrives_whole() -> None:
    assert call("POST", "/echo/a", content=b"x" * 1000).content == b"x" * 1000
    assert call("POST", "/echo/a", content=chunks(10, 100)).content == b"x" * 1000
    assert call("POST", "/echo/a").content == b""


def test_too_much_is_413_announced_or_not() -> None:
    for content in (b"x" * 1001, chunks(11, 100)):
        response = call("POST", "/echo/a", content=content)
        assert response.status_code == 413
        assert "1000 bytes" in response.json()["detail"]


def test_an_endless_body_is_cut_off_when_the_limit_is_passed() -> None:
    taken = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal taken
        while True:
            taken += 1
            yield b"x" * 100

    assert call("POST", "/echo/a", content=endless()).status_code == 413
    assert taken <= 12


def test_some_paths_may_take_more() -> None:
    assert call("POST", "/large", content=b"x" * 5000).text == "5000"
    assert call("POST", "/large", content=b"x" * 5001).status_code == 413


def test_a_dripping_body_is_408() -> None:
    response = call("POST", "/echo/a", content=chunks(100, 1, 0.02))
    assert response.status_code == 408
    assert response.headers["content-type"] == "application/problem+json"


def test_a_caller_who_leaves_is_not_answered() -> None:
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/echo/a", "headers": []}
    asyncio.run(BodyLimit(app())(scope, receive, send))
    assert sent == []


@pytest.mark.parametrize("value", ["abc", "A-b_c.1", "x" * 64])
def test_a_sane_request_id_is_kept(value: str) -> None:
    response = call("GET", "/nowhere", headers={"X-Request-Id": value})
    assert response.headers["x-request-id"] == value
    assert response.json()["request_id"] == value


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-Request-Id": ""},
        {"X-Request-Id": "x" * 65},
        {"X-Request-Id": "a b"},
        {"X-Request-Id": '"><script>'},
        {"X-Request-Id": b"\xff"},
        [("X-Request-Id", "a"), ("X-Request-Id", "b")],
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_any_other_is_replaced(headers: Any) -> None:
    response = call("GET", "/nowhere", headers=headers)
    assert len(response.headers["x-request-id"]) == 32


def test_the_log_line_has_the_route_and_nothing_private(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "askem.access"):
        call(
            "POST",
            "/echo/secret-name?q=secret",
            content=b"secret",
            headers={"X-Request-Id": "id1", "Api-Key": "secret"},
        )
        call("GET", "/secret-path")
    lines = [json.loads(r.getMessage()) for r in caplog.records if r.name == "askem.access"]
    assert lines[0] == {
        "method": "POST",
        "route": "/echo/{name}",
        "status": 200,
        "key": None,
        "ms": lines[0]["ms"],
        "request_id": "id1",
    }
    assert lines[1]["route"] is None
    assert "secret" not in caplog.text


def test_what_nobody_foresaw_is_a_bare_500(caplog: pytest.LogCaptureFixture) -> None:
    response = call("GET", "/bug")
    assert response.status_code == 500
    assert set(response.json()) == {"type", "title", "status", "request_id"}
    # The operator sees what the caller does not.
    assert response.json()["request_id"] in caplog.text
    assert "RuntimeError" in caplog.text


def test_an_answer_that_breaks_off_is_not_made_to_look_whole() -> None:
    async def breaks(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        call("GET", "/", RequestContext(breaks))


def test_answers_are_neither_cached_nor_sniffed() -> None:
    headers = call("GET", "/nowhere").headers
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"
