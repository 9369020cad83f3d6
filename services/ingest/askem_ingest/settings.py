"""The ingest service's settings: the common ones, and its own as `ASKEM_INGEST_*`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from askem.settings import CommonSettings


class IngestSettings(CommonSettings):
    """Read from `ASKEM_*`."""

    ingest_queue_jobs: Annotated[int, Field(ge=1, le=100_000)] = 100
    """Most jobs that wait or run; above that, callers get 503."""
    ingest_queue_bytes: Annotated[int, Field(ge=1024 * 1024)] = 2 * 1024**3
    """Most bytes of files that wait on disk."""
    ingest_uploads: Annotated[int, Field(ge=1, le=256)] = 4
    """Most uploads taken at a time; each may hold some 100 MB in memory while it is parsed."""
    ingest_keep_days: Annotated[float, Field(ge=1, le=3650)] = 7.0
    """How long finished jobs and their receipts can be looked up."""
