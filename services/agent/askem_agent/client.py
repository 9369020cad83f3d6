"""A blocking client of the agent: the whole answer, or its events as they come."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import get_args

import httpx
from pydantic import BaseModel, TypeAdapter, ValidationError

from askem.http import exchange
from askem.http.client import BlockingClient
from askem.http.exchange import Busy, Call, ServerFault, Unavailable
from askem.http.problems import Problem
from askem_agent.events import EventName
from askem_agent.wire import (
    CitationEvent,
    ObservationEvent,
    ReactRequest,
    ReactResponse,
    StepEvent,
    TokenEvent,
)

TIMEOUT_S = 120.0
"""For a whole answer: more than a run takes at most by default."""
_MAX_EVENT_CHARS = 8 * 1024 * 1024
_ANSWER = TypeAdapter(ReactResponse)
_SHAPES: dict[EventName, type[BaseModel]] = {
    "step": StepEvent,
    "observation": ObservationEvent,
    "token": TokenEvent,
    "citation": CitationEvent,
    "final": ReactResponse,
}


@dataclass(frozen=True, slots=True)
class Event:
    name: EventName
    data: BaseModel


class AgentClient(BlockingClient):
    """Every method raises ClientError: Unauthorized, NotFoundError, Rejected, Unavailable,
    ServerFault. Nothing is retried here."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        timeout_s: float = TIMEOUT_S,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """As of every client; `timeout_s` suits a run."""
        super().__init__(base_url, api_key, timeout_s=timeout_s, transport=transport)

    def react(self, request: ReactRequest) -> ReactResponse:
        return self._send(_call(request))

    def events(self, request: ReactRequest) -> Iterator[Event]:
        """The events in order, `final` last. A problem in mid-stream is raised, and so is a stream
        that ends before its answer."""
        call = _call(request)
        arguments = exchange.request_arguments(call)
        arguments["headers"] = {**arguments["headers"], "Accept": "text/event-stream"}
        end = time.monotonic() + self._timeout_s
        try:
            with self._http.stream(**arguments) as response:
                if response.status_code != 200:
                    exchange.read(call, response, response.read())
                for event in _events(_timed(response.iter_lines(), end)):
                    yield event
                    if event.name == "final":
                        return
        except httpx.HTTPError as error:
            raise exchange.transport_error(error) from error
        raise ServerFault("the stream ended before the answer")


def _call(request: ReactRequest) -> Call[ReactResponse]:
    body = request.model_dump_json(exclude_unset=True).encode()
    return Call("POST", "/react", _ANSWER, body)


def _timed(lines: Iterable[str], end: float) -> Iterator[str]:
    for line in lines:
        if time.monotonic() > end:
            raise Unavailable("the answer was not whole in time")
        yield line


def _events(lines: Iterable[str]) -> Iterator[Event]:
    """Events of the names that are known; comments and others are passed over."""
    name, data = "", ""
    for line in lines:
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            name = value
        elif field == "data":
            data += value
            if len(data) > _MAX_EVENT_CHARS:
                raise ServerFault("an event is too large")
        elif not line:
            if name in get_args(EventName):
                yield _event(name, data)
            name, data = "", ""


def _event(name: str, data: str) -> Event:
    try:
        if name == "error":
            raise _failure(Problem.model_validate_json(data))
        shape = next(known for known in _SHAPES if known == name)
        return Event(shape, _SHAPES[shape].model_validate_json(data))
    except ValidationError:
        raise ServerFault(f"an event {name!r} of another shape") from None


def _failure(problem: Problem) -> Busy | ServerFault:
    message = f"{problem.status} {problem.detail or problem.title}"
    kind = Busy if problem.status in (502, 503, 504) else ServerFault
    return kind(message, request_id=problem.request_id)
