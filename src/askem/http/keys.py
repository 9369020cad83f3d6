"""The API key: who may ask. Only digests are kept, and one answer covers every refusal."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from askem.errors import ConfigurationError
from askem.http.problems import problem

HEADER = "Api-Key"
MIN_LENGTH = 16
_RAW_HEADER = HEADER.lower().encode()


def require_key(value: str | None) -> str:
    """`value` if it can serve as a key: at least 16 printable ASCII characters without spaces.

    Raises ConfigurationError, whose message never holds the value.
    """
    if not value:
        raise ConfigurationError("no API key is set: set ASKEM_API_KEY")
    if not all("!" <= character <= "~" for character in value):
        raise ConfigurationError(
            "the API key must consist of printable ASCII characters without spaces"
        )
    if len(value) < MIN_LENGTH:
        raise ConfigurationError(f"the API key must have at least {MIN_LENGTH} characters")
    return value


def fingerprint(key: str) -> str:
    """Eight hex digits by which logs may name a key."""
    return hashlib.sha256(key.encode()).hexdigest()[:8]


class ApiKeyGuard:
    """ASGI middleware: requests without a configured key go no further than a 401.

    It stands before routing and before the body is read, so that a caller without a key learns
    nothing, not even which paths exist. `open_paths` are exact paths that need no key.
    """

    def __init__(self, app: ASGIApp, *, keys: Iterable[str], open_paths: Iterable[str]) -> None:
        """Raises ConfigurationError for a key that cannot serve, and for none at all."""
        self._app = app
        self._digests = [hashlib.sha256(require_key(key).encode()).digest() for key in keys]
        if not self._digests:
            require_key(None)
        self._open_paths = frozenset(open_paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or self._admits(scope):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            closing: Message = {"type": "websocket.close", "code": 1008}
            await send(closing)
        else:
            answer = problem(
                scope,
                401,
                f"Send a valid key in the header {HEADER}.",
                headers={"WWW-Authenticate": 'ApiKey realm="askem"'},
            )
            await answer(scope, receive, send)

    def _admits(self, scope: Scope) -> bool:
        if scope["type"] == "http" and scope["path"] in self._open_paths:
            return True
        sent = [value for name, value in scope["headers"] if name == _RAW_HEADER]
        # Always one digest and one comparison per key, whatever was sent: a missing key, a wrong
        # one and one with the right beginning take the same time. Two headers are one too many,
        # since a proxy in front may have looked at the other one.
        digest = hashlib.sha256(sent[0] if sent else b"").digest()
        matches = [hmac.compare_digest(digest, known) for known in self._digests]
        return any(matches) and len(sent) == 1
