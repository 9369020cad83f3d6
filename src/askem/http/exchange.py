"""What both clients share: requests to send, how answers are read, and one tree of errors."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from urllib.parse import quote

import httpx
from pydantic import BaseModel, TypeAdapter, ValidationError

from askem.http import wire
from askem.http.keys import HEADER, require_key
from askem.http.problems import Problem

MAX_ANSWER_BYTES = 32 * 1024 * 1024
_Answer = TypeVar("_Answer")

_HITS = TypeAdapter(list[wire.PassageOut])
_SEARCH = TypeAdapter(wire.SearchResponse)
_Either = wire.SearchResponse | list[wire.PassageOut]
_BARE: TypeAdapter[_Either] = TypeAdapter(list[wire.PassageOut])
_EXPANDED: TypeAdapter[_Either] = TypeAdapter(wire.SearchResponse)
_TOPICS = TypeAdapter(list[wire.TopicOut])
_PAPERS = TypeAdapter(wire.PapersPage)
_PAPER = TypeAdapter(wire.PaperDetail)
_PASSAGE = TypeAdapter(wire.StoredPassage)
_EXPLANATION = TypeAdapter(wire.ExplanationOut)
_READY = TypeAdapter(wire.Readiness)


class ClientError(Exception):
    """A call that did not succeed; `request_id` finds it in the server's log."""

    def __init__(self, message: str, *, request_id: str | None = None) -> None:
        super().__init__(message)
        self.request_id = request_id


class Unauthorized(ClientError):
    """The key is missing or wrong (401)."""


class NotFoundError(ClientError):
    """No such paper or passage, or the address is not that of a retriever (404)."""


class Rejected(ClientError):
    """The request does not fit (any other 4xx); `errors` are (field, message)."""

    def __init__(
        self, message: str, errors: tuple[tuple[str, str], ...] = (), **details: Any
    ) -> None:
        super().__init__(message, **details)
        self.errors = errors


class Unavailable(ClientError):
    """No answer now: 503, no connection, or too late. Trying again may work."""

    def __init__(self, message: str, retry_after_s: float | None = None, **details: Any) -> None:
        super().__init__(message, **details)
        self.retry_after_s = retry_after_s


class Busy(Unavailable):
    """The server is there, and says that it cannot answer now: 429, 502, 503, 504."""


class ServerFault(ClientError):
    """The server failed, or its answer is not one of a retriever."""


@dataclass(frozen=True, slots=True)
class Call(Generic[_Answer]):
    """A request, and the shape of its answer."""

    method: str
    path: str
    answer: TypeAdapter[_Answer]
    content: bytes | None = None
    params: Mapping[str, str | int] = field(default_factory=dict)
    variants: Mapping[str, TypeAdapter[_Answer]] = field(default_factory=dict)
    """Media types that are preferred to JSON, and the shapes of answers of these types."""
    also_ok: frozenset[int] = frozenset()
    """Statuses besides 200 that carry the answer."""


def vector(request: wire.VectorRequest) -> Call[list[wire.PassageOut]]:
    return _post("/vector", _HITS, request)


def hybrid(request: wire.HybridRequest) -> Call[list[wire.PassageOut]]:
    return _post("/hybrid", _HITS, request)


def hybrid_search(request: wire.HybridRequest) -> Call[_Either]:
    expanded = {wire.SEARCH_MEDIA_TYPE: _EXPANDED}
    return Call("POST", "/hybrid", _BARE, _body(request), variants=expanded)


def search(request: wire.SearchRequest) -> Call[wire.SearchResponse]:
    return _post("/search", _SEARCH, request)


def explain(request: wire.ExplainRequest) -> Call[wire.ExplanationOut]:
    return _post("/explain", _EXPLANATION, request)


def topics() -> Call[list[wire.TopicOut]]:
    return Call("GET", "/topics", _TOPICS)


def papers(topic: str | None, after: str | None, limit: int) -> Call[wire.PapersPage]:
    params = {"topic": topic, "after": after, "limit": limit}
    given = {name: value for name, value in params.items() if value is not None}
    return Call("GET", "/papers", _PAPERS, params=given)


def paper(paper_id: str, limit: int, offset: int) -> Call[wire.PaperDetail]:
    params = {"limit": limit, "offset": offset}
    return Call("GET", f"/papers/{quote(paper_id, safe='')}", _PAPER, params=params)


def passage(passage_id: str) -> Call[wire.StoredPassage]:
    return Call("GET", f"/passages/{quote(passage_id, safe='')}", _PASSAGE)


def ready() -> Call[wire.Readiness]:
    return Call("GET", "/readyz", _READY, also_ok=frozenset({503}))


def _post(path: str, answer: TypeAdapter[_Answer], request: BaseModel) -> Call[_Answer]:
    return Call("POST", path, answer, _body(request))


def _body(request: BaseModel) -> bytes:
    # Only what the caller set: the rest is the server's to decide.
    return request.model_dump_json(exclude_unset=True).encode()


def options(base_url: str, api_key: str, timeout_s: float) -> dict[str, Any]:
    """Arguments of both httpx clients. Raises ConfigurationError for an unusable key."""
    return {
        "base_url": base_url.rstrip("/"),
        "headers": {HEADER: require_key(api_key), "Accept": "application/json"},
        "timeout": timeout_s,
        "follow_redirects": False,
        # A proxy from the environment would see the key.
        "trust_env": False,
    }


def request_arguments(call: Call[Any]) -> dict[str, Any]:
    """Arguments of httpx's `stream`."""
    headers = {"Content-Type": "application/json"} if call.content is not None else {}
    if call.variants:
        headers["Accept"] = ", ".join((*call.variants, "application/json;q=0.5"))
    return {
        "method": call.method,
        "url": call.path,
        "content": call.content,
        "params": dict(call.params) or None,
        "headers": headers,
    }


class Meter:
    """Collects an answer's body within a size and until a deadline."""

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._end = time.monotonic() + timeout_s
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, part: bytes) -> None:
        """Raises ServerFault when it gets too much, Unavailable when it gets too late."""
        self._size += len(part)
        if self._size > MAX_ANSWER_BYTES:
            raise ServerFault(f"the answer has more than {MAX_ANSWER_BYTES} bytes")
        # httpx's time-outs are for each read: a server that drips would never meet them.
        if time.monotonic() > self._end:
            raise Unavailable(f"the answer was not whole within {self._timeout_s:g} s")
        self._parts.append(part)

    def body(self) -> bytes:
        return b"".join(self._parts)


def transport_error(error: httpx.HTTPError) -> ClientError:
    """httpx's error as one of ours."""
    name = type(error).__name__
    if isinstance(error, httpx.TimeoutException):
        return Unavailable(f"no answer in time ({name})")
    if isinstance(error, httpx.NetworkError | httpx.RemoteProtocolError | httpx.ProxyError):
        return Unavailable(f"no connection ({name}): {error}")
    return ServerFault(f"the exchange failed ({name}): {error}")


def read(call: Call[_Answer], response: httpx.Response, body: bytes) -> _Answer:
    """The answer in `body`. Raises ClientError for every status that is not one of `call`."""
    identity = response.headers.get("x-request-id")
    if response.status_code == 200 or response.status_code in call.also_ok:
        try:
            return _shape(call, response).validate_json(body)
        except ValidationError:
            message = f"status {response.status_code} with a body of another shape"
            if response.status_code == 200:
                raise ServerFault(message, request_id=identity) from None
    raise _refusal(response, body, identity)


def _shape(call: Call[_Answer], response: httpx.Response) -> TypeAdapter[_Answer]:
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    return call.variants.get(media_type, call.answer)


def _refusal(response: httpx.Response, body: bytes, identity: str | None) -> ClientError:
    status = response.status_code
    try:
        problem = Problem.model_validate_json(body)
    except ValidationError:
        problem = Problem(title="", status=max(400, min(status, 599)), request_id=identity or "-")
    message = f"{status} {problem.detail or problem.title}".strip()
    if status == 401:
        return Unauthorized(message, request_id=identity)
    if status == 404:
        return NotFoundError(message, request_id=identity)
    if status in (429, 502, 503, 504):
        return Busy(message, _seconds(response), request_id=identity)
    if 400 <= status < 500:
        errors = tuple((error.field, error.message) for error in problem.errors or ())
        listed = "; ".join(f"{name}: {what}" for name, what in errors)
        return Rejected(f"{status} {listed}" if listed else message, errors, request_id=identity)
    return ServerFault(message, request_id=identity)


def _seconds(response: httpx.Response) -> float | None:
    value = response.headers.get("retry-after", "")
    return float(value) if value.isascii() and value.isdigit() else None
