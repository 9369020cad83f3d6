"""Lets callers send the key as `Authorization: Bearer …`, which is all that some clients can."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from askem.http.keys import HEADER

_API_KEY = HEADER.lower().encode()
_SCHEME = b"bearer "


class BearerKey:
    """ASGI middleware to stand before `ApiKeyGuard`, which decides. A request with a key in both
    headers has two keys, and the guard refuses it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope = {**scope, "headers": _translated(scope["headers"])}
        await self._app(scope, receive, send)


def _translated(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    sent = [value for name, value in headers if name == b"authorization"]
    if len(sent) != 1 or sent[0][: len(_SCHEME)].lower() != _SCHEME:
        return headers
    return [
        *((name, value) for name, value in headers if name != b"authorization"),
        (_API_KEY, sent[0][len(_SCHEME) :].strip()),
    ]
