"""A bucket of requests for each key: who sends faster than it fills gets 429."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from askem.http.keys import KEY_LABEL
from askem.http.problems import problem

_MINUTE_S = 60.0


class RateLimit:
    """ASGI middleware behind `ApiKeyGuard`, whose label of the key names the bucket. Requests
    without a label, those of open paths, are not counted.

    The bucket of a key holds `per_minute` requests and fills evenly: a minute's worth may come at
    once. It is kept as one number a key, the time at which it will be full again (the generic cell
    rate algorithm of ITU-T I.371), in this process alone.

    Answers carry `RateLimit-Policy`, `-Limit`, `-Remaining` and `-Reset` (seconds until the
    bucket is full), as in draft-ietf-httpapi-ratelimit-headers-07; a 429 has `Retry-After` too.
    """

    def __init__(
        self, app: ASGIApp, *, per_minute: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`per_minute` is at least 1. `clock` gives seconds."""
        self._app = app
        self._per_minute = per_minute
        self._interval_s = _MINUTE_S / per_minute
        self._clock = clock
        # As many as there are keys: only good ones have a label.
        self._full_at: dict[str, float] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        label = scope.get("state", {}).get(KEY_LABEL)
        if scope["type"] != "http" or label is None:
            await self._app(scope, receive, send)
            return
        wait_s, missing_s = self._take(label)
        headers = self._headers(missing_s)
        if wait_s > 0:
            seconds = math.ceil(wait_s)
            answer = problem(
                scope,
                429,
                f"The key has used up its {self._per_minute} requests a minute; "
                f"try again in {seconds} s.",
                headers=headers | {"Retry-After": str(seconds)},
            )
            await answer(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(headers)
            await send(message)

        await self._app(scope, receive, send_with_headers)

    def _take(self, label: str) -> tuple[float, float]:
        """Seconds until a request is there to be had, 0 when one was taken; seconds until the
        bucket is full."""
        now = self._clock()
        missing_s = max(self._full_at.get(label, now) - now, 0.0)
        wait_s = missing_s + self._interval_s - _MINUTE_S
        # Times are sums of fractions: what is a nanosecond off is there.
        if wait_s > 1e-9:
            return wait_s, missing_s
        self._full_at[label] = now + missing_s + self._interval_s
        return 0.0, missing_s + self._interval_s

    def _headers(self, missing_s: float) -> dict[str, str]:
        remaining = int((_MINUTE_S - missing_s) / self._interval_s + 1e-6)
        return {
            "RateLimit-Policy": f"{self._per_minute};w={_MINUTE_S:.0f}",
            "RateLimit-Limit": str(self._per_minute),
            "RateLimit-Remaining": str(remaining),
            "RateLimit-Reset": str(math.ceil(missing_s)),
        }
