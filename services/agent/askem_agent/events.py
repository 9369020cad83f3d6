"""What a run tells while it works."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from askem.http.answers import AnswerModel

EventName = Literal["step", "observation", "token", "citation", "final", "error"]
Emit = Callable[[EventName, AnswerModel], None]
"""Takes an event; never blocks."""


def ignore(name: EventName, data: AnswerModel) -> None:
    """For callers who want the answer alone."""
