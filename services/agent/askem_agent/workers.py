"""Threads for picking and checking: few, so that who shares the process is not starved."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from askem.errors import Overloaded

THREADS = 2
GRACE_S = 2.0
"""What work may take to notice that its time is up."""
ShouldStop = Callable[[], bool]
_Result = TypeVar("_Result")


class Workers:
    """Runs work that asks between its pieces whether to stop: threads cannot be stopped."""

    def __init__(self, threads: int = THREADS) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="askem-check")
        self._closed = threading.Event()

    async def run(
        self, work: Callable[[ShouldStop], _Result], *, until: float | None = None
    ) -> _Result:
        """`work(should_stop)`, which is true from `until` on (the loop's time), and as soon as
        the caller is cancelled.

        Raises Overloaded where there was no result soon after `until`.
        """
        loop = asyncio.get_running_loop()
        end = math.inf if until is None else time.monotonic() + until - loop.time()
        left = threading.Event()

        def should_stop() -> bool:
            return left.is_set() or self._closed.is_set() or time.monotonic() >= end

        try:
            async with asyncio.timeout_at(None if until is None else until + GRACE_S) as deadline:
                return await loop.run_in_executor(self._pool, work, should_stop)
        except TimeoutError:
            if not deadline.expired():
                raise
            raise Overloaded("workers", "no answer was checked in time") from None
        finally:
            left.set()

    def close(self) -> None:
        """Tells what runs to stop, and drops what waits."""
        self._closed.set()
        self._pool.shutdown(wait=False, cancel_futures=True)
