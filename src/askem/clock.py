"""The time as it is written down."""

from __future__ import annotations

from datetime import UTC, datetime


def utc_now() -> str:
    """UTC, ISO 8601, whole seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")
