"""A caller who goes away ends the answer."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from pydantic import SecretStr

from askem.testing.openai_server import OpenAiServer, Request, Turn, endless, hang
from askem_agent.models import ModelConfig, ModelConnection, SteppingModel, open_model


def opened(server: OpenAiServer) -> SteppingModel:
    connection = ModelConnection(base_url=server.url, api_key=SecretStr("k"))
    return open_model(ModelConfig(name="m"), connection)


async def seen(server: OpenAiServer) -> bool:
    """Whether the server saw its client go, while this client is still open."""
    return await asyncio.to_thread(server.requests[0].gone.wait, 10)


@pytest.mark.parametrize("turn", [hang(), endless()])
def test_cancelling_a_plain_answer_closes_its_connection(turn: Turn) -> None:
    arrived = threading.Event()

    def script(_: Request) -> Turn:
        arrived.set()
        return turn

    async def run(server: OpenAiServer) -> None:
        model = opened(server)
        work = asyncio.create_task(model.ainvoke("Why?"))
        assert await asyncio.to_thread(arrived.wait, 10)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        assert await seen(server)
        await model.aclose()

    with OpenAiServer(script) as server:
        asyncio.run(run(server))


def test_cancelling_a_stream_closes_its_connection() -> None:
    async def read(model: SteppingModel, first: asyncio.Event) -> None:
        async for _ in model.astream("Why?"):
            first.set()

    async def run(server: OpenAiServer) -> None:
        model, first = opened(server), asyncio.Event()
        work = asyncio.create_task(read(model, first))
        await first.wait()
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        assert await seen(server)
        await model.aclose()

    with OpenAiServer([endless()]) as server:
        asyncio.run(run(server))


def test_leaving_a_stream_closes_its_connection() -> None:
    async def run(server: OpenAiServer) -> None:
        model = opened(server)
        stream: Any = model.astream("Why?")
        await anext(stream)
        await stream.aclose()
        assert await seen(server)
        await model.aclose()

    with OpenAiServer([endless()]) as server:
        asyncio.run(run(server))
