"""Bounds of blocking work."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from askem.errors import BackendUnavailable, Overloaded
from askem.http.executor import BoundedExecutor


def test_results_and_errors_come_back() -> None:
    async def go() -> None:
        executor = BoundedExecutor(1, 0)
        assert await executor.run(pow, 2, 5) == 32
        with pytest.raises(ZeroDivisionError):
            await executor.run(lambda: 1 // 0)
        assert executor.taken == 0
        executor.close()

    asyncio.run(go())


def test_all_places_taken_is_overloaded() -> None:
    async def go() -> None:
        executor, gate = BoundedExecutor(2, 1), threading.Event()
        tasks = [asyncio.create_task(executor.run(gate.wait, 5)) for _ in range(3)]
        await asyncio.sleep(0)
        assert executor.taken == 3
        with pytest.raises(Overloaded):
            await executor.run(gate.wait, 5)
        gate.set()
        assert await asyncio.gather(*tasks) == [True] * 3
        assert executor.taken == 0
        executor.close()

    asyncio.run(go())


def test_a_cancelled_caller_frees_its_place_when_the_work_is_done() -> None:
    async def go() -> None:
        executor, gate = BoundedExecutor(1, 1), threading.Event()
        running = asyncio.create_task(executor.run(gate.wait, 5))
        await asyncio.sleep(0.02)
        waiting = asyncio.create_task(executor.run(gate.wait, 5))
        await asyncio.sleep(0.02)
        for task in (running, waiting):
            task.cancel()
        await asyncio.gather(running, waiting, return_exceptions=True)
        # The one that waited is gone; the one that runs cannot be stopped.
        assert executor.taken == 1
        gate.set()
        executor.close()
        assert executor.taken == 0

    asyncio.run(go())


def test_time_is_up() -> None:
    async def go() -> None:
        executor, gate = BoundedExecutor(1, 0, timeout_s=0.02), threading.Event()
        with pytest.raises(BackendUnavailable, match=r"within 0\.02 s"):
            await executor.run(gate.wait, 5)
        assert executor.taken == 1
        gate.set()
        executor.close()

    asyncio.run(go())


def test_the_works_own_timeout_error_is_its_own() -> None:
    def late() -> None:
        raise TimeoutError("mine")

    async def go() -> None:
        executor = BoundedExecutor(1, 0, timeout_s=5)
        with pytest.raises(TimeoutError, match="mine"):
            await executor.run(late)
        executor.close()

    asyncio.run(go())


def test_closing_waits_for_running_work_and_refuses_new() -> None:
    async def go() -> None:
        executor = BoundedExecutor(1, 1)
        done: list[int] = []

        def work() -> None:
            time.sleep(0.05)
            done.append(1)

        task = asyncio.create_task(executor.run(work))
        await asyncio.sleep(0.01)
        await asyncio.to_thread(executor.close)
        assert done == [1]
        await task
        with pytest.raises(BackendUnavailable):
            await executor.run(work)
        assert executor.taken == 0

    asyncio.run(go())
