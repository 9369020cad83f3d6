"""A key as a bearer token is the same key, and nothing else gets in by it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi import APIRouter

from askem.http.bearer import BearerKey
from askem.http.compose import Service, build_app
from askem.testing.inprocess import AppRunner

KEY = "test-key-0123456789"


@pytest.fixture(scope="module")
def door() -> Iterator[AppRunner]:
    from contextlib import asynccontextmanager

    router = APIRouter()

    @router.get("/here")
    async def here() -> str:
        return "here"

    @asynccontextmanager
    async def opened(_: object) -> object:
        yield []

    app = build_app([Service(name="x", router=router, open=opened)], api_keys=[KEY])
    app.add_middleware(BearerKey)
    with AppRunner(app) as runner:
        yield runner


def status(door: AppRunner, *headers: tuple[str, str]) -> int:
    return door.request("GET", "/here", headers=list(headers)).status_code


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_a_bearer_token_is_taken(door: AppRunner, scheme: str) -> None:
    assert status(door, ("Authorization", f"{scheme} {KEY}")) == 200
    assert status(door, ("Api-Key", KEY)) == 200


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [("Authorization", KEY)],
        [("Authorization", f"Basic {KEY}")],
        [("Authorization", "Bearer ")],
        [("Authorization", f"Bearer {KEY}x")],
        [("Authorization", f"Bearer {KEY}"), ("Authorization", f"Bearer {KEY}")],
        [("Authorization", f"Bearer {KEY}"), ("Authorization", "Bearer other-key-0123456")],
        [("Authorization", f"Bearer {KEY}"), ("Api-Key", KEY)],
        [("Authorization", "Bearer other-key-0123456"), ("Api-Key", KEY)],
    ],
    ids=str,
)
def test_anything_else_is_refused(door: AppRunner, headers: list[tuple[str, str]]) -> None:
    assert status(door, *headers) == 401
