"""What is waited for is returned, once it is there."""

from __future__ import annotations

import asyncio

from askem.testing.waiting import until, until_async


def test_what_came_about_is_returned() -> None:
    seen = iter([None, 0, "it"])
    assert until(lambda: next(seen)) == "it"


def test_it_is_waited_for_on_a_loop_too() -> None:
    seen = iter([None, 0, "it"])

    async def look() -> object:
        return next(seen)

    assert asyncio.run(until_async(look)) == "it"
