"""Bodies that a route reads as they come: bounded in size and in the caller's slowness."""

from __future__ import annotations

import asyncio
import time

from starlette.exceptions import HTTPException
from starlette.types import Message, Receive

GRACE_S = 10.0
MIN_BYTES_PER_S = 128 * 1024


def metered(
    receive: Receive,
    limit: int,
    *,
    grace_s: float = GRACE_S,
    min_bytes_per_s: int = MIN_BYTES_PER_S,
) -> Receive:
    """`receive`, which takes at most `limit` bytes of body, and waits for them at most `grace_s`
    seconds and the time that they need at `min_bytes_per_s`. Only waiting counts, not what the
    route does in between.

    It raises HTTPException: 413 for too much, 408 for too slow, 400 when the caller goes away.
    """
    size, waited, whole = 0, 0.0, False

    async def counted() -> Message:
        nonlocal size, waited, whole
        if whole:
            return await receive()
        start = time.monotonic()
        try:
            async with asyncio.timeout(grace_s + size / min_bytes_per_s - waited):
                message = await receive()
        except TimeoutError:
            spent = waited + time.monotonic() - start
            slow = f"The body came too slowly: {size} bytes in {spent:.1f} s."
            raise HTTPException(408, slow) from None
        waited += time.monotonic() - start
        if message["type"] == "http.disconnect":
            raise HTTPException(400, "The connection ended before the body did.")
        size += len(message.get("body", b""))
        if size > limit:
            raise HTTPException(413, f"The body may have {limit} bytes at most.")
        whole = not message.get("more_body", False)
        return message

    return counted
