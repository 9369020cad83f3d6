"""Waiting in tests for what another thread or process brings about."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

_Result = TypeVar("_Result")
_GUARD_S = 300.0
"""So that a test of something broken ends; no busy machine takes as long for what works."""
_PAUSE_S = 0.01


def until(look: Callable[[], _Result]) -> _Result:
    """What `look` returns once that is true. Raises AssertionError where it never is."""
    guard = time.monotonic() + _GUARD_S
    while not (seen := look()):
        if time.monotonic() > guard:
            raise AssertionError(f"it did not come about; at last: {seen!r}")
        time.sleep(_PAUSE_S)
    return seen


async def until_async(look: Callable[[], Awaitable[_Result]]) -> _Result:
    """As `until`."""
    guard = time.monotonic() + _GUARD_S
    while not (seen := await look()):
        if time.monotonic() > guard:
            raise AssertionError(f"it did not come about; at last: {seen!r}")
        await asyncio.sleep(_PAUSE_S)
    return seen
