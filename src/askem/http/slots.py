"""Places for work that is too big for many at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from askem.errors import Overloaded


@dataclass(slots=True)
class Slots:
    """For one event loop. `name` is what is said to be taken."""

    name: str
    free: int
    retry_after_s: float = 5.0

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Raises Overloaded where no place is free."""
        if not self.free:
            raise Overloaded(self.name, "all places are taken", retry_after_s=self.retry_after_s)
        self.free -= 1
        try:
            yield
        finally:
            self.free += 1
