"""What the routes work with, for the life of the app."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from fastapi import Request

from askem.http.executor import BoundedExecutor
from askem.http.health import Probe
from askem.ports import PassageReader
from askem.retrieval.retriever import Retriever
from askem_retriever.settings import RetrieverSettings

NAME = "retriever"


@dataclass(frozen=True, slots=True)
class Components:
    """The library's objects behind the routes."""

    retriever: Retriever
    reader: PassageReader
    encoder_id: str
    probes: Sequence[Probe] = ()
    """Readiness checks."""


@dataclass(frozen=True, slots=True)
class State:
    """Lives in `app.state.retriever`."""

    settings: RetrieverSettings
    components: Components
    executor: BoundedExecutor


def state_of(request: Request) -> State:
    return cast(State, getattr(request.app.state, NAME))
