"""Bulk writes to Elasticsearch: in bounded requests, every item's answer read.

Only `index` and `delete` with ids of ours are sent, so that sending again is harmless: after a
time-out, which may have been carried out, or for the items that were put off.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import elasticsearch as es

from askem.breaker import Outage
from askem.errors import BackendUnavailable
from askem.stores.servers.elastic import BACKEND, Elastic, blocked

MAX_ACTIONS = 500
MAX_BYTES = 10_000_000
_ATTEMPTS = 9
"""Requests in a row without any progress after which writing is given up: some 25 s."""
_LATER = (429, 502, 503, 504)


@dataclass(frozen=True, slots=True)
class Action:
    """One document to be written, or deleted where `body` is None."""

    index: str
    id: str
    body: bytes | None = None
    alias: bool = False
    """Whether `index` must be an alias: a name without one would become an index by itself."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An item that the engine will not take, however often it is sent."""

    id: str
    reason: str


class Bulk:
    def __init__(self, elastic: Elastic, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self._elastic = elastic
        self._sleep = sleep

    def run(self, actions: Sequence[Action]) -> None:
        """Carries out all. Raises BackendUnavailable, also where the engine refuses any."""
        refused = self.attempt(actions)
        if refused:
            raise BackendUnavailable(BACKEND, f"refused {refused[0].id}: {refused[0].reason}")

    def attempt(self, actions: Sequence[Action]) -> list[Refusal]:
        """Carries out what can be, returns what was refused. Raises BackendUnavailable."""
        return [refusal for part in _parts(actions) for refusal in self._part(part)]

    def _part(self, actions: list[Action]) -> Iterator[Refusal]:
        waiting, idle = actions, 0
        while idle < _ATTEMPTS:
            if idle:
                self._sleep(min(0.2 * 2**idle, 5.0) * random.uniform(0.7, 1.3))  # noqa: S311
            try:
                items = self._elastic.once(partial(_send, waiting))
            except Outage:
                idle += 1
                if idle == _ATTEMPTS:
                    raise
                continue
            later = []
            for action, item in zip(waiting, items, strict=True):
                status = item["status"]
                told = item.get("error") or {}
                if block := blocked(status, told.get("type"), told.get("reason")):
                    raise BackendUnavailable(BACKEND, block)
                if status in _LATER:
                    later.append(action)
                elif status >= 300 and not (status == 404 and action.body is None):
                    yield Refusal(action.id, _reason(item))
            if not later:
                return
            # As long as some get through, it is worth while.
            idle = 1 if len(later) < len(waiting) else idle + 1
            waiting = later
        raise BackendUnavailable(BACKEND, f"put off {len(waiting)} writes {_ATTEMPTS} times")


def _send(actions: list[Action], client: es.Elasticsearch) -> list[dict[str, Any]]:
    # Lines of JSON, which the client sends as they are.
    lines: list[Any] = []
    for action in actions:
        target = {"_index": action.index, "_id": action.id}
        if action.body is None:
            lines.append(json.dumps({"delete": target}).encode())
        else:
            lines += [json.dumps({"index": target}).encode(), action.body]
    answer = client.bulk(operations=lines, require_alias=actions[0].alias)
    return [next(iter(item.values())) for item in answer["items"]]


def _reason(item: dict[str, Any]) -> str:
    error = item.get("error", {})
    cause = error.get("caused_by", {}).get("reason")
    return f"{error.get('type')}: {error.get('reason')}" + (f" ({cause})" if cause else "")


def _parts(actions: Sequence[Action]) -> Iterator[list[Action]]:
    part: list[Action] = []
    size = 0
    for action in actions:
        more = len(action.body or b"") + 200
        if part and (len(part) == MAX_ACTIONS or size + more > MAX_BYTES):
            yield part
            part, size = [], 0
        part.append(action)
        size += more
    if part:
        yield part
