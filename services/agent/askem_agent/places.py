"""Places for runs, of which no key has so many that others have none."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from askem.errors import Overloaded

OTHERS_S = 60.0
"""How long after it last asked a key counts as one of the others."""
RETRY_AFTER_S = 5.0


class Places:
    """For one event loop. A key may have all places while it is alone, and half of them once
    another key has asked within the last minute; what it has, it keeps."""

    def __init__(
        self, name: str, count: int, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`name`: of what is said to be taken."""
        self._name, self._count, self._clock = name, count, clock
        self._held: Counter[str] = Counter()
        self._asked: dict[str, float] = {}

    @contextmanager
    def taken(self, key: str) -> Iterator[None]:
        """A place for `key`. Raises Overloaded where none is free for it."""
        now = self._clock()
        self._asked[key] = now
        if self._held.total() >= self._count:
            raise self._overloaded("all places are taken")
        others = any(now - at < OTHERS_S for other, at in self._asked.items() if other != key)
        if others and self._held[key] >= max(1, self._count // 2):
            raise self._overloaded("this key has half of the places, and others ask too")
        self._held[key] += 1
        try:
            yield
        finally:
            self._held[key] -= 1

    def _overloaded(self, why: str) -> Overloaded:
        return Overloaded(self._name, why, retry_after_s=RETRY_AFTER_S)
