"""Blocking work off the event loop, bounded in number and in time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar, TypeVarTuple

from askem.errors import BackendUnavailable, Overloaded

_Result = TypeVar("_Result")
_Args = TypeVarTuple("_Args")


class BoundedExecutor:
    """At most `workers` calls run and at most `queue` wait; more are refused at once.

    A caller who is cancelled or runs out of time leaves its call behind: a call that waits is
    dropped, one that runs keeps its place until it is done, since threads cannot be stopped.
    """

    def __init__(
        self, workers: int, queue: int, *, timeout_s: float | None = None, name: str = "search"
    ) -> None:
        """`timeout_s`: longest wait of a caller, queueing included; None: no limit. `name`: what
        callers are told is late."""
        self._name = name
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="askem-worker")
        self._places = workers + queue
        self._timeout_s = timeout_s
        self._taken = 0
        self._lock = threading.Lock()

    @property
    def taken(self) -> int:
        """How many calls run or wait now."""
        return self._taken

    async def run(self, function: Callable[[*_Args], _Result], *args: *_Args) -> _Result:
        """`function(*args)` from a worker thread.

        Raises Overloaded when all places are taken, BackendUnavailable when the time is up, and
        whatever the function raises.
        """
        future = self._submit(function, *args)
        try:
            async with asyncio.timeout(self._timeout_s) as deadline:
                return await asyncio.wrap_future(future)
        except TimeoutError:
            # The function may raise TimeoutError of its own.
            if not deadline.expired():
                raise
            message = f"no answer within {self._timeout_s:g} s"
            raise BackendUnavailable(self._name, message) from None

    def close(self) -> None:
        """Refuse new calls, drop those that wait, and wait for those that run. Blocks."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _submit(self, function: Callable[..., _Result], *args: Any) -> Future[_Result]:
        with self._lock:
            if self._taken >= self._places:
                raise Overloaded("workers", f"all {self._places} places are taken")
            self._taken += 1
        try:
            future = self._pool.submit(function, *args)
        except RuntimeError:
            self._release()
            raise BackendUnavailable("service", "it is shutting down") from None
        future.add_done_callback(self._release)
        return future

    def _release(self, _: Future[Any] | None = None) -> None:
        with self._lock:
            self._taken -= 1
