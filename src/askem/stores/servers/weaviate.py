"""The Weaviate client inside its breaker and a deadline of our own.

The client repeats a search on a server that is gone for 63 s before it says so. Calls run in
threads; a caller waits for its deadline, then the connection is thrown away, which ends what still
waits on it.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as Late
from contextlib import suppress
from typing import TypeVar
from urllib.parse import urlsplit

import grpc
import httpx
import weaviate
from weaviate.classes.init import AdditionalConfig, Auth, Timeout
from weaviate.exceptions import (
    ResponseCannotBeDecodedError,
    UnexpectedStatusCodeError,
    WeaviateBaseError,
    WeaviateInvalidInputError,
)

from askem.breaker import Breaker, Outage
from askem.errors import BackendUnavailable, ConfigurationError, SchemaUnfit

T = TypeVar("T")
BACKEND = "weaviate"
_GATEWAY = (502, 503, 504)
_GONE = (
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.CANCELLED,
)


class Weaviate:
    """Thread-safe. Connects when first asked, and anew after an outage."""

    def __init__(
        self,
        url: str,
        grpc_url: str,
        api_key: str | None,
        *,
        timeout_s: float,
        write_timeout_s: float,
        threads: int = 32,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._http = _address("WEAVIATE_URL", url)
        self._grpc = _address("WEAVIATE_GRPC_URL", grpc_url)
        self._api_key = api_key
        self._timeout_s = timeout_s
        self._write_timeout_s = write_timeout_s
        self._threads = threads
        self._clock = clock
        self._lock = threading.Lock()
        self._connecting = threading.Lock()
        self._closed = False
        self._client: weaviate.WeaviateClient | None = None
        self._pool = self._new_pool()
        self.breaker = Breaker(BACKEND)

    def read(self, work: Callable[[weaviate.WeaviateClient], T]) -> T:
        """Raises BackendUnavailable within the time-out, at once while the breaker is open."""
        return self._by(work, self._timeout_s)

    def write(self, work: Callable[[weaviate.WeaviateClient], T]) -> T:
        """As `read`, with the time that writing takes. `work` must be safe to repeat."""
        return self._by(work, self._write_timeout_s)

    def close(self) -> None:
        self._closed = True
        self._drop()

    def _by(self, work: Callable[[weaviate.WeaviateClient], T], seconds: float) -> T:
        """Once more where the connection broke, all of it in `seconds`: another caller's time-out
        breaks the connection of those who have waited nearly as long."""
        deadline = self._clock() + seconds
        return self.breaker.call(lambda: self._in_time(work, max(deadline - self._clock(), 0.0)))

    def _in_time(self, work: Callable[[weaviate.WeaviateClient], T], seconds: float) -> T:
        with self._lock:
            running = self._pool.submit(self._translated, work)
        try:
            return running.result(seconds)
        except Late as error:
            self._drop()
            raise Outage(BACKEND, "no answer in time") from error
        except Outage:
            self._drop()
            raise

    def _translated(self, work: Callable[[weaviate.WeaviateClient], T]) -> T:
        try:
            return work(self._connected())
        except WeaviateInvalidInputError:
            # Our own mistake, not the engine's.
            raise
        except (WeaviateBaseError, httpx.HTTPError, grpc.RpcError, ValueError, OSError) as error:
            raise _ours(error) from error

    def _connected(self) -> weaviate.WeaviateClient:
        with self._connecting:
            client = self._client
            if client is None:
                client = weaviate.WeaviateClient(
                    connection_params=weaviate.connect.ConnectionParams.from_params(
                        *self._http, *self._grpc
                    ),
                    auth_client_secret=Auth.api_key(self._api_key) if self._api_key else None,
                    additional_config=AdditionalConfig(
                        timeout=Timeout(
                            init=self._timeout_s,
                            query=self._write_timeout_s,
                            insert=self._write_timeout_s,
                        )
                    ),
                    # It would ask for its own newest version elsewhere.
                    skip_init_checks=True,
                )
                try:
                    self._greet(client)
                    if self._closed:
                        raise Outage(BACKEND, "closed")
                except BaseException:
                    client.close()
                    raise
                self._client = client
            return client

    def _greet(self, client: weaviate.WeaviateClient) -> None:
        """Connects, and looks who is there: searches and writes go another way than the rest, and
        the client would wait for that one for half a minute."""
        try:
            client.connect()
        except (UnexpectedStatusCodeError, ResponseCannotBeDecodedError) as error:
            if error.status_code in (401, 403, *_GATEWAY):
                raise
            raise _stranger() from error
        except (AssertionError, KeyError, TypeError, ValueError) as error:
            # JSON, but not what Weaviate says of itself.
            raise _stranger() from error
        host, port, _ = self._grpc
        try:
            socket.create_connection((host, port), timeout=min(self._timeout_s, 1.0)).close()
        except OSError as error:
            raise Outage(
                BACKEND,
                "answers over HTTP, but not on its gRPC port: check WEAVIATE_GRPC_URL",
                lasting=True,
            ) from error

    def _drop(self) -> None:
        """Threads that still wait get an error from the closed connection and end."""
        with self._lock:
            client, self._client = self._client, None
            pool, self._pool = self._pool, self._new_pool()
        pool.shutdown(wait=False, cancel_futures=True)
        if client is not None:
            with suppress(Exception):
                client.close()

    def _new_pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self._threads, thread_name_prefix="askem-weaviate")


def _address(setting: str, url: str) -> tuple[str, int, bool]:
    """Host, port and whether TLS, as the client wants them."""
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigurationError(f"{setting}: {url!r} is not of the form http://host:port")
    return parts.hostname, parts.port or (443 if secure else 80), secure


def _ours(error: Exception) -> BackendUnavailable:
    for cause in _chain(error):
        if isinstance(cause, grpc.RpcError):
            code = cause.code() if isinstance(cause, grpc.Call) else None
            if code in _GONE:
                return Outage(BACKEND, "cannot be reached", repeat=True)
            if code in (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED):
                return refused_key()
        if isinstance(cause, httpx.TimeoutException):
            return Outage(BACKEND, "no answer in time")
        if isinstance(cause, httpx.TransportError | OSError):
            return Outage(BACKEND, "cannot be reached", repeat=True)
    text = str(error)
    if "closed channel" in text or "is closed" in text:
        return Outage(BACKEND, "the connection was given up", repeat=True)
    if "could not find class" in text or "class not found" in text.lower():
        return SchemaUnfit(BACKEND, "the collection is missing: run `askem schema create`")
    if is_refusal(text):
        return refused_key()
    if isinstance(error, UnexpectedStatusCodeError) and error.status_code in _GATEWAY:
        return Outage(BACKEND, f"answered {error.status_code}")
    return BackendUnavailable(BACKEND, f"answered with an error ({type(error).__name__}: {text})")


def refused_key() -> BackendUnavailable:
    return BackendUnavailable(BACKEND, "refuses the API key: check WEAVIATE_APIKEY")


def is_refusal(text: str) -> bool:
    """Whether an error's text is about the API key or what it may do."""
    lowered = text.lower()
    return any(
        word in lowered
        for word in ("code: 401", "code: 403", "unauthenticated", "unauthorized", "forbidden")
    )


def _stranger() -> BackendUnavailable:
    return BackendUnavailable(BACKEND, "what answers is not Weaviate: check WEAVIATE_URL")


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and what led to it."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__
