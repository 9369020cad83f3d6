"""A bucket per key: what is let through, what is told, and when it goes on."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from askem.http.compose import build_app
from askem.http.keys import ApiKeyGuard
from askem.http.rate import RateLimit
from askem.testing.inprocess import AppRunner

KEY = "right-key-0123456789"
SECOND = "second-key-0123456789"


async def inner(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"inside"})


class Door:
    """The limit behind the guard, and a clock that tests move."""

    def __init__(self, per_minute: int) -> None:
        self.now = 1000.0
        limited = RateLimit(inner, per_minute=per_minute, clock=lambda: self.now)
        self._app = ApiKeyGuard(limited, keys=[KEY, SECOND], open_paths=["/healthz"])

    def get(self, path: str = "/x", key: str | None = KEY) -> httpx.Response:
        async def call() -> httpx.Response:
            transport = httpx.ASGITransport(self._app)
            async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
                return await client.get(path, headers={"Api-Key": key} if key else {})

        return asyncio.run(call())

    def statuses(self, count: int, **more: Any) -> list[int]:
        return [self.get(**more).status_code for _ in range(count)]


def told(answer: httpx.Response) -> tuple[str, ...]:
    return tuple(answer.headers[f"ratelimit-{n}"] for n in ("limit", "remaining", "reset"))


def test_a_minutes_worth_may_come_at_once_and_no_more() -> None:
    door = Door(3)
    assert door.statuses(5) == [200, 200, 200, 429, 429]


def test_the_bucket_fills_evenly() -> None:
    door = Door(3)
    door.statuses(3)
    door.now += 19.9
    assert door.statuses(1) == [429]
    door.now += 0.1
    assert door.statuses(2) == [200, 429]
    door.now += 40
    assert door.statuses(3) == [200, 200, 429]


def test_it_never_holds_more_than_a_minutes_worth() -> None:
    door = Door(3)
    door.statuses(1)
    door.now += 3600
    assert door.statuses(4) == [200, 200, 200, 429]


@pytest.mark.parametrize("per_minute", [1, 7, 600, 6000])
def test_fractions_of_seconds_cost_nobody_a_request(per_minute: int) -> None:
    door = Door(per_minute)
    assert door.statuses(per_minute if per_minute < 100 else 0).count(429) == 0
    # Exactly as fast as it fills.
    for _ in range(50):
        door.now += 60 / per_minute
        assert door.get().status_code == 200


def test_every_answer_says_how_much_is_left() -> None:
    door = Door(3)
    first = door.get()
    assert told(first) == ("3", "2", "20")
    assert first.headers["ratelimit-policy"] == "3;w=60"
    assert "retry-after" not in first.headers
    door.get()
    assert told(door.get()) == ("3", "0", "60")


def test_a_refusal_says_when_to_try_again_and_does_not_prolong_the_wait() -> None:
    door = Door(3)
    door.statuses(3)
    door.now += 4.5
    refused = [door.get() for _ in range(10)][-1]
    assert refused.status_code == 429
    assert refused.headers["retry-after"] == "16"
    assert told(refused) == ("3", "0", "56")
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.json()["title"] == "Too Many Requests"
    assert "3 requests a minute" in refused.json()["detail"]
    door.now += 16
    assert door.statuses(1) == [200]


def test_each_key_has_its_own_bucket() -> None:
    door = Door(1)
    assert door.statuses(2) == [200, 429]
    assert door.statuses(2, key=SECOND) == [200, 429]


def test_what_needs_no_key_or_has_none_is_not_counted() -> None:
    door = Door(1)
    assert door.statuses(3, path="/healthz") == [200] * 3
    assert door.statuses(3, key="wrong-key-0123456789") == [401] * 3
    assert door.statuses(3, key=None) == [401] * 3
    assert "ratelimit-limit" not in door.get("/healthz").headers
    assert door.statuses(1) == [200]


def test_an_app_is_limited_where_it_is_set_and_only_there() -> None:
    for per_minute, statuses in ((2, [404, 404, 429]), (0, [404, 404, 404])):
        with AppRunner(build_app([], api_keys=[KEY], rate_per_minute=per_minute)) as door:
            answers = [door.request("GET", "/x", headers={"Api-Key": KEY}) for _ in range(3)]
            assert [answer.status_code for answer in answers] == statuses
            assert all(("ratelimit-limit" in a.headers) == bool(per_minute) for a in answers)
            assert all(answer.headers["x-request-id"] for answer in answers)
