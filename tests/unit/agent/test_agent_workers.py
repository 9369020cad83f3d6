"""Picking and checking end when their time is up or nobody waits, and leave the cores to others."""

from __future__ import annotations

import asyncio
import threading

import pytest

from askem.errors import Overloaded
from askem_agent.workers import GRACE_S, THREADS, ShouldStop, Workers


def patient(should_stop: ShouldStop) -> str:
    while not should_stop():
        threading.Event().wait(0.005)
    return "stopped"


def test_work_hears_that_its_time_is_up() -> None:
    async def run() -> str:
        return await Workers().run(patient, until=asyncio.get_running_loop().time() + 0.05)

    assert asyncio.run(run()) == "stopped"


def test_work_hears_that_nobody_waits() -> None:
    ended = threading.Event()

    def work(should_stop: ShouldStop) -> None:
        patient(should_stop)
        ended.set()

    async def run() -> None:
        task = asyncio.create_task(Workers().run(work))
        await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(run())
    assert ended.wait(5)


def test_work_hears_that_the_service_closes() -> None:
    async def run() -> str:
        workers = Workers()
        task = asyncio.create_task(workers.run(patient))
        await asyncio.sleep(0.05)
        workers.close()
        return await task

    assert asyncio.run(run()) == "stopped"


def test_who_waits_for_work_that_hears_nothing_is_told() -> None:
    deaf = threading.Event()

    async def run() -> None:
        past = asyncio.get_running_loop().time() - GRACE_S
        await Workers().run(lambda _: deaf.wait(5), until=past)

    with pytest.raises(Overloaded, match="in time"):
        asyncio.run(run())
    deaf.set()


def test_few_run_at_a_time() -> None:
    running, most, lock = 0, 0, threading.Lock()

    def work(_: ShouldStop) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        threading.Event().wait(0.01)
        with lock:
            running -= 1

    async def run() -> None:
        workers = Workers()
        await asyncio.gather(*(workers.run(work) for _ in range(6)))

    asyncio.run(run())
    assert most <= THREADS
