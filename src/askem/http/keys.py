"""API keys: who may ask, and what. Only digests are kept; one answer covers every refusal."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Collection, Iterable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from askem.errors import ConfigurationError
from askem.http.keyformat import ID_SLICE
from askem.http.keywatch import KeyringWatch
from askem.http.problems import problem
from askem.http.scopes import SCOPES, KeyScope

HEADER = "Api-Key"
KEY_LABEL = "key"
"""Where the request's state names the key for logs: by its id, or its fingerprint."""
MIN_LENGTH = 16
_RAW_HEADER = HEADER.lower().encode()


def require_key(value: str | None) -> str:
    """`value` if it can serve as a key: at least 16 printable ASCII characters without spaces.

    Raises ConfigurationError, whose message never holds the value.
    """
    if not value:
        raise ConfigurationError(
            "no API key: set ASKEM_API_KEY, or make a key with `askem keys create`"
        )
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


_NONE: tuple[str, ...] = ()


def _reads(scope: Scope) -> KeyScope:
    return "read"


class ApiKeyGuard:
    """ASGI middleware: requests without a good key go no further than a 401, and those whose key
    lacks the scope no further than a 403.

    It stands before routing and before the body is read, so that a caller without a key learns
    nothing, not even which paths exist. A missing, unknown, expired or revoked key gets one and
    the same answer; only who holds a live key is told about scopes.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        keys: Iterable[str],
        open_paths: Iterable[str],
        keyring: KeyringWatch | None = None,
        scope_of: Callable[[Scope], KeyScope | None] = _reads,
    ) -> None:
        """`keys` have every scope; those of `keyring` have their own. `open_paths` are exact paths
        that need no key; `scope_of` says which scope a request needs; None: any.

        Raises ConfigurationError for a key that cannot serve, and where there is none at all.
        """
        self._app = app
        self._known = [
            (hashlib.sha256(require_key(key).encode()).digest(), fingerprint(key)) for key in keys
        ]
        self._keyring = keyring
        self._open_paths = frozenset(open_paths)
        self._scope_of = scope_of
        if not self._known and not (keyring and keyring.live_count()):
            require_key(None)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or self._is_open(scope):
            await self._app(scope, receive, send)
            return
        allowed = self._allowed(scope)
        needed = self._scope_of(scope)
        if needed in allowed or (allowed and needed is None):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            closing: Message = {"type": "websocket.close", "code": 1008}
            await send(closing)
        elif allowed and needed:
            answer = problem(scope, 403, missing_scope(needed))
            await answer(scope, receive, send)
        else:
            answer = problem(
                scope,
                401,
                f"Send a valid key in the header {HEADER}.",
                headers={"WWW-Authenticate": 'ApiKey realm="askem"'},
            )
            await answer(scope, receive, send)

    def _is_open(self, scope: Scope) -> bool:
        return scope["type"] == "http" and scope["path"] in self._open_paths

    def _allowed(self, scope: Scope) -> Collection[str]:
        """The scopes of the key that was sent; empty: no good key."""
        sent = [value for name, value in scope["headers"] if name == _RAW_HEADER]
        value = sent[0] if sent else b""
        # Always one digest, one look-up, and one comparison per key, whatever was sent: a missing
        # key, a wrong one, one with the right beginning and a revoked one take the same time.
        digest = hashlib.sha256(value).digest()
        matches = [hmac.compare_digest(digest, known) for known, _ in self._known]
        label: str | None = None
        scopes: Collection[str] = _NONE
        if self._keyring:
            key, live = self._keyring.match(value[ID_SLICE].decode("latin-1"), digest)
            label, scopes = key.id, (_NONE, key.scopes)[live]
        if any(matches):
            label, scopes = self._known[matches.index(True)][1], SCOPES
        # Two headers are one too many, since a proxy in front may have looked at the other one.
        if len(sent) != 1:
            return _NONE
        scope.setdefault("state", {})[KEY_LABEL] = label
        return scopes


def missing_scope(needed: str) -> str:
    """What a 403 says."""
    return f"The key lacks the scope {needed!r}."
