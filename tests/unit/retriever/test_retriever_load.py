"""Slow ports, full queues, failing ports: what other callers notice of them."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from askem.errors import (
    BackendUnavailable,
    ConfigurationError,
    CorruptStore,
    EncoderMismatch,
    InvalidInput,
)
from askem.testing.inprocess import AppRunner

Q: dict[str, Any] = {"question": "What is SIDARTHE model?"}
ROUTES = [
    ("POST", "/vector"),
    ("POST", "/hybrid"),
    ("POST", "/search"),
    ("GET", "/topics"),
    ("GET", "/papers"),
    ("GET", "/papers/sidarthe-lombardy"),
    ("GET", "/passages/sidarthe-lombardy%23p0"),
]


def body_of(method: str) -> dict[str, Any]:
    return {"json": Q} if method == "POST" else {}


def test_a_slow_search_does_not_hold_up_health(open_app: Any) -> None:
    gate = threading.Event()
    door: AppRunner = open_app(lambda name: name == "screen" and gate.wait(5))

    async def meanwhile() -> tuple[int, bool, int]:
        search = asyncio.create_task(door.client.post("/hybrid", json=Q))
        await asyncio.sleep(0.02)
        health = await door.client.get("/healthz")
        running = not search.done()
        gate.set()
        return health.status_code, running, (await search).status_code

    assert door.run(meanwhile()) == (200, True, 200)


@pytest.mark.parametrize(("method", "path"), [*ROUTES, ("GET", "/readyz")])
def test_ports_are_never_called_on_the_event_loop(open_app: Any, method: str, path: str) -> None:
    calls: list[tuple[str, int]] = []
    door: AppRunner = open_app(lambda name: calls.append((name, threading.get_ident())))

    async def loop_thread() -> int:
        return threading.get_ident()

    calls.clear()
    assert door.request(method, path, **body_of(method)).status_code == 200
    assert calls
    assert door.run(loop_thread()) not in {thread for _, thread in calls}


def test_what_does_not_fit_the_queue_is_refused_at_once(open_app: Any) -> None:
    gate = threading.Event()
    door: AppRunner = open_app(lambda name: name == "search" and gate.wait(5), workers=1, queue=1)

    async def crowd() -> tuple[list[int], Any, int]:
        tasks = [asyncio.create_task(door.client.post("/vector", json=Q)) for _ in range(2)]
        await asyncio.sleep(0.05)
        refused = await door.client.post("/vector", json=Q)
        ready = await door.client.get("/readyz")
        gate.set()
        return [(await task).status_code for task in tasks], refused, ready.status_code

    statuses, refused, ready = door.run(crowd())
    assert statuses == [200, 200]
    assert refused.status_code == 503
    assert refused.headers["content-type"] == "application/problem+json"
    assert int(refused.headers["retry-after"]) >= 1
    assert refused.json()["detail"] == "The service is busy; try again later."
    # Busy is not broken.
    assert ready == 200
    assert door.request("POST", "/vector", json=Q).status_code == 200


def test_a_request_has_a_deadline(open_app: Any) -> None:
    gate = threading.Event()
    door: AppRunner = open_app(
        lambda name: name == "search" and gate.wait(5), request_timeout_s=0.05
    )
    response = door.request("POST", "/vector", json=Q)
    gate.set()
    assert response.status_code == 503
    assert "retry-after" in response.headers


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize(
    ("error", "status"),
    [
        (BackendUnavailable("store", "secret upstream", retry_after_s=2.5), 503),
        (ConfigurationError("secret path"), 500),
        (EncoderMismatch("secret id"), 503),
        (CorruptStore("secret file"), 503),
        (InvalidInput("topic", "is odd"), 422),
        (RuntimeError("secret bug"), 500),
        (TimeoutError("secret socket"), 500),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_failing_port_is_an_error_and_tells_nothing_inner(
    open_app: Any, method: str, path: str, error: Exception, status: int
) -> None:
    armed: list[bool] = []

    def fail(name: str) -> None:
        if armed:
            raise error

    door: AppRunner = open_app(fail)
    armed.append(True)
    response = door.request(method, path, **body_of(method))
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    assert "secret" not in response.text
    body = response.json()
    assert body["request_id"] == response.headers["x-request-id"]
    if status == 503:
        assert response.headers["retry-after"] == ("3" if "upstream" in str(error) else "60")
    if status == 500:
        assert "detail" not in body


def test_readiness_names_what_is_missing(open_app: Any) -> None:
    broken: list[bool] = []

    def fail(name: str) -> None:
        if name == "snapshot" and broken:
            raise BackendUnavailable("store", "secret")

    door: AppRunner = open_app(fail)
    broken.append(True)
    response = door.request("GET", "/readyz")
    assert response.status_code == 503
    assert "retry-after" in response.headers
    checks = {check["name"]: check for check in response.json()["checks"]}
    assert checks["encoder"]["ok"]
    assert not checks["store"]["ok"]
    assert "secret" not in response.text


def test_an_index_of_another_encoder_says_what_to_do(open_app: Any) -> None:
    def fail(name: str) -> None:
        if name == "search":
            raise EncoderMismatch("the index is now of encoder secret id")

    response = open_app(fail).request("POST", "/hybrid", json=Q)
    assert response.status_code == 503
    assert response.headers["content-type"] == "application/problem+json"
    assert int(response.headers["retry-after"]) >= 1
    assert "starts it again with the encoder" in response.json()["detail"]
    assert "secret" not in response.text
