"""Server-sent events: a run told while it goes on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager

from fastapi import Response
from pydantic import BaseModel
from starlette.types import Receive, Scope, Send

from askem.http.problems import Problem
from askem_agent.events import Emit, EventName
from askem_agent.failures import failure
from askem_agent.presence import unless_gone

MEDIA_TYPE = "text/event-stream"
PIECE_S = 10.0
"""How long a reader may leave a piece unread, and how long a silence may be."""
PIECE_BYTES = 16 * 1024
_READING_S = 30.0
"""How much longer than the run a reader may take."""
_log = logging.getLogger("askem.agent")
Work = Callable[[Emit], Awaitable[object]]
_Queue = asyncio.Queue[bytes | None]


class EventStream(Response):
    """Runs `work` for as long as the caller listens.

    Its last event is `final` or `error`; the stream of a caller who reads too slowly is cut.
    """

    def __init__(
        self,
        work: Work,
        place: AbstractContextManager[None],
        *,
        run_s: float,
        piece_s: float = PIECE_S,
    ) -> None:
        """`place` is held while it lasts. `run_s`: the longest run; `piece_s`: the longest silence,
        and the longest time that a piece may wait to be read."""
        super().__init__(media_type=MEDIA_TYPE, headers={"X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._work, self._place = work, place
        self._longest_s, self._piece_s = run_s + _READING_S, piece_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Raises Overloaded, before anything is sent, where no place is free."""
        with self._place:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            try:
                async with asyncio.timeout(self._longest_s):
                    await unless_gone(receive, self._tell(scope, send))
            except TimeoutError:
                _log.warning("a reader was too slow: its stream was cut")

    async def _tell(self, scope: Scope, send: Send) -> None:
        queue: _Queue = asyncio.Queue()
        run = asyncio.create_task(self._produce(scope, queue))
        try:
            async for piece in _pieces(queue, self._piece_s):
                # A server waits here while the reader's buffers are full.
                async with asyncio.timeout(self._piece_s):
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            run.cancel()
            await asyncio.gather(run, return_exceptions=True)

    async def _produce(self, scope: Scope, queue: _Queue) -> None:
        def emit(name: EventName, data: BaseModel) -> None:
            queue.put_nowait(event(name, data))

        try:
            await self._work(emit)
        except Exception as error:  # noqa: BLE001 - whatever it is, the caller must hear of it
            emit("error", failure(scope, error)[0])
        finally:
            queue.put_nowait(None)


def event(name: EventName, data: BaseModel) -> bytes:
    """One event. JSON on a line: no text can end it or begin another."""
    without = isinstance(data, Problem)
    return f"event: {name}\ndata: {data.model_dump_json(exclude_none=without)}\n\n".encode()


async def _pieces(queue: _Queue, longest_silence_s: float) -> AsyncIterator[bytes]:
    while True:
        try:
            async with asyncio.timeout(longest_silence_s):
                piece = await queue.get()
        except TimeoutError:
            piece = b": the answer is being worked on\n\n"
        if piece is None:
            return
        for start in range(0, len(piece), PIECE_BYTES):
            yield piece[start : start + PIECE_BYTES]


def wants_events(accept: str) -> bool:
    """Whether the header Accept names the media type of events, and JSON no sooner."""
    weights = dict(map(_weighed, accept.lower().split(",")))
    events = weights.get(MEDIA_TYPE, 0.0)
    return events > 0 and events >= weights.get("application/json", 0.0)


def _weighed(entry: str) -> tuple[str, float]:
    media_type, *parameters = (part.strip() for part in entry.split(";"))
    quality = next((p[2:] for p in parameters if p.startswith("q=")), "1")
    try:
        return media_type, float(quality)
    except ValueError:
        return media_type, 0.0
