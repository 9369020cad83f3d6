"""The ingest service's settings: the common ones."""

from __future__ import annotations

from askem.settings import CommonSettings


class IngestSettings(CommonSettings):
    """Read from `ASKEM_*`."""
