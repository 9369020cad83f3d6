"""Work that ends when nobody waits for it any more."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.types import Receive

_Result = TypeVar("_Result")


async def unless_gone(receive: Receive, work: Coroutine[Any, Any, _Result]) -> _Result | None:
    """The result of `work`; None when the caller went away first, and the work was cancelled.

    The request's body must have been read.
    """
    task = asyncio.create_task(work)
    gone = asyncio.create_task(_gone(receive))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task.done() else None
    finally:
        for each in (task, gone):
            each.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
