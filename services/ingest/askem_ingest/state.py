"""What the routes work with, for the life of the app."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

from fastapi import Request

from askem.http.executor import BoundedExecutor
from askem.http.slots import Slots
from askem.ports import Encoder, Ledger, PassageWriter
from askem_ingest.jobs import JobStore
from askem_ingest.settings import IngestSettings
from askem_ingest.spool import Spool
from askem_ingest.worker import Worker

NAME = "ingest"


@dataclass(frozen=True, slots=True)
class Access:
    """One writer's access to the stores. For one thread at a time."""

    writer: PassageWriter
    ledger: Ledger


@dataclass(frozen=True, slots=True)
class Components:
    """The library's objects behind the service."""

    encoder: Encoder
    ingesting: Access
    """The worker's."""
    deleting: Access
    """Of another connection: papers are deleted while a job runs."""


@dataclass(frozen=True, slots=True)
class State:
    """Lives in `app.state.ingest`."""

    settings: IngestSettings
    spool: Spool
    jobs: JobStore
    worker: Worker
    executor: BoundedExecutor = field(repr=False)
    """For everything that blocks but deletion."""
    deleter: BoundedExecutor = field(repr=False)
    """A single thread: the pipeline that `delete` uses is for one."""
    delete: Callable[[str], int] = field(repr=False)
    """Deletes a paper; how many sources it had."""
    uploads: Slots


def state_of(request: Request) -> State:
    return cast(State, getattr(request.app.state, NAME))
