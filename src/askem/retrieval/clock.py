"""How long the stages of a search take."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Clock:
    """Wall time per stage, in milliseconds."""

    def __init__(self) -> None:
        self._start = time.perf_counter()
        self._stages: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self._stages[name] = (time.perf_counter() - start) * 1e3

    def add(self, name: str, milliseconds: float) -> None:
        self._stages[name] = milliseconds

    def finish(self) -> dict[str, float]:
        return {**self._stages, "total": (time.perf_counter() - self._start) * 1e3}
