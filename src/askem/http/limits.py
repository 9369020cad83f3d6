"""Pure ASGI middleware around every request: its id and log line, and the size of its body."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import time
import uuid
from collections.abc import Mapping

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from askem.http.keys import KEY_LABEL
from askem.http.metered import metered
from askem.http.problems import problem, request_id

MAX_BODY_BYTES = 64 * 1024
BODY_TIMEOUT_S = 10.0
REQUEST_ID_HEADER = "X-Request-Id"

_SANE_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_log = logging.getLogger("askem.http")
_access_log = logging.getLogger("askem.access")


class RequestContext:
    """Outermost: gives the request its id, writes its log line, answers 500 for what was not
    foreseen. The log line never holds the path's values, the query, the body or a key; it names the
    key by what the guard left in the request's state: its id, or a fingerprint."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start = time.perf_counter()
        identity = _incoming_id(scope) or uuid.uuid4().hex
        # A copy: servers may share one state among the requests of a connection.
        scope["state"] = {**scope.get("state", {}), "request_id": identity}
        status = 0

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers[REQUEST_ID_HEADER] = identity
                headers.setdefault("Cache-Control", "no-store")
                headers.setdefault("X-Content-Type-Options", "nosniff")
            await send(message)

        try:
            await self._app(scope, receive, send_with_id)
        except Exception:
            _log.exception("request %s failed", identity)
            if status:
                # The answer has begun: only a cut connection can still say that it is not whole.
                raise
            await problem(scope, 500)(scope, receive, send_with_id)
        finally:
            _access_log.info("%s", _log_line(scope, status, time.perf_counter() - start))


def _incoming_id(scope: Scope) -> str | None:
    name = REQUEST_ID_HEADER.lower().encode()
    sent = [value for header, value in scope["headers"] if header == name]
    sane = len(sent) == 1 and _SANE_ID.fullmatch(sent[0])
    return sent[0].decode("ascii") if sane else None


def _log_line(scope: Scope, status: int, elapsed_s: float) -> str:
    """JSON; status 0: the caller went away before the answer began. A key beside status 401 was
    once good: it has expired or been revoked."""
    return json.dumps(
        {
            "method": scope["method"],
            "route": getattr(scope.get("route"), "path", None),
            "status": status,
            "key": scope.get("state", {}).get(KEY_LABEL),
            "ms": round(elapsed_s * 1e3, 2),
            "request_id": request_id(scope),
        }
    )


class BodyLimit:
    """Reads the whole body before the app sees the request, within a size and a time.

    413 as soon as more than `max_bytes` are announced or received, 408 when the body is not whole
    after `timeout_s`. `exceptions` gives other sizes to exact paths. So does
    `streamed`, but there the routes read the body themselves, metered.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        max_bytes: int = MAX_BODY_BYTES,
        timeout_s: float = BODY_TIMEOUT_S,
        exceptions: Mapping[str, int] | None = None,
        streamed: Mapping[str, int] | None = None,
    ) -> None:
        self._app = app
        self._max_bytes = max_bytes
        self._timeout_s = timeout_s
        self._streamed = dict(streamed or {})
        self._exceptions = {**(exceptions or {}), **self._streamed}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = self._exceptions.get(scope["path"], self._max_bytes)
        try:
            if _announced_bytes(scope) > limit:
                raise _TooLarge
            if scope["path"] in self._streamed:
                await self._app(scope, metered(receive, limit, grace_s=self._timeout_s), send)
                return
            async with asyncio.timeout(self._timeout_s):
                body = await _read(receive, limit)
        except _TooLarge:
            large = f"The body may have {limit} bytes at most."
            await problem(scope, 413, large)(scope, receive, send)
        except TimeoutError:
            late = f"The body was not whole after {self._timeout_s:g} s."
            await problem(scope, 408, late)(scope, receive, send)
        else:
            if body is not None:
                await self._app(scope, _replay(body, receive), send)


class _TooLarge(Exception):
    pass


def _announced_bytes(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length":
            # A length that is no number has been refused by the server already.
            return int(value) if value.isdigit() else 0
    return 0


async def _read(receive: Receive, limit: int) -> bytes | None:
    """The whole body; None when the caller went away. Raises _TooLarge."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        part = message.get("body", b"")
        size += len(part)
        if size > limit:
            raise _TooLarge
        parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts)


def _replay(body: bytes, receive: Receive) -> Receive:
    pending = [body]

    async def replayed() -> Message:
        if pending:
            return {"type": "http.request", "body": pending.pop(), "more_body": False}
        return await receive()

    return replayed
