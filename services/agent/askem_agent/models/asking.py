"""One answer of the server, whole or an error, after as many attempts as are worth it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Any

from langchain_core.messages import BaseMessage

from askem_agent.models import translate
from askem_agent.models.answer import Answer, Gathered
from askem_agent.models.completions import Completions, open_completions
from askem_agent.models.config import ModelConfig, ModelConnection

Sleep = Callable[[float], Awaitable[object]]


class Asking:
    """Belongs to the event loop that first uses it. Cancelling closes the answer's connection."""

    def __init__(
        self, config: ModelConfig, connection: ModelConnection, sleep: Sleep = asyncio.sleep
    ) -> None:
        self._connection = connection
        self._completions: Completions = open_completions(config, connection)
        self._sleep = sleep

    async def answer(self, messages: Sequence[BaseMessage], **arguments: Any) -> Answer:
        """`arguments`: `stop`, and fields of the request such as `tools`. Raises ModelError."""
        for attempt in range(1, self._connection.attempts + 1):
            try:
                result = await self._completions._agenerate(list(messages), **arguments)
                gathered = Gathered()
                gathered.add(result.generations[0])
            except translate.CAUGHT as error:
                await self._pause_or_raise(error, attempt)
                continue
            return gathered.whole()
        raise AssertionError("there is at least one attempt")

    async def stream(
        self, messages: Sequence[BaseMessage], **arguments: Any
    ) -> AsyncIterator[str | Answer]:
        """Pieces of text, then the whole. Once a piece was given, nothing is tried again.

        Raises ModelError, also where the answer ends without saying that it has ended.
        """
        for attempt in range(1, self._connection.attempts + 1):
            gathered = Gathered()
            try:
                chunks = self._completions._astream(list(messages), **arguments)
                async with aclosing(chunks):  # type: ignore[type-var]
                    async for chunk in chunks:
                        if piece := gathered.add(chunk):
                            yield piece
            except translate.CAUGHT as error:
                last = self._connection.attempts if gathered.started else attempt
                await self._pause_or_raise(error, last)
                continue
            yield gathered.whole()
            return
        raise AssertionError("there is at least one attempt")

    async def aclose(self) -> None:
        await self._completions.root_async_client.close()

    async def _pause_or_raise(self, error: Exception, attempt: int) -> None:
        pause = translate.pause(error, attempt)
        translate.log(error, self._connection.api_key.get_secret_value())
        last = attempt >= self._connection.attempts
        if pause is None or last or pause > self._connection.longest_wait_s:
            # Not chained: the cause holds what the server said.
            raise translate.translated(error, pause) from None
        await self._sleep(pause)
