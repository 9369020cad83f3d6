"""What a run tells while it works."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from pydantic import BaseModel

EventName = Literal["step", "observation", "token", "citation", "final", "error"]
Emit = Callable[[EventName, BaseModel], None]
"""Takes an event; never blocks."""


def ignore(name: EventName, data: BaseModel) -> None:
    """For callers who want the answer alone."""
