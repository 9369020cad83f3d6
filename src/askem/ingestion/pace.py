"""How much is encoded before it is stored."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

MAX_PASSAGES = 256
"""A sync costs the same for one passage as for many; beyond this there is nothing to gain."""
FIRST_PASSAGES = 32
"""Of the first batch, when it is not known yet how fast the encoder is."""
BATCH_S = 5.0


class Pace:
    """Batches of as many passages as the last one's speed encodes in five seconds, 256 at most:
    so much is lost at most to a kill, and receipts are at most so far apart, but for a source that
    takes longer by itself."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock`: seconds, from any moment."""
        self._clock = clock
        self.passages = FIRST_PASSAGES
        """That make a batch."""

    @contextmanager
    def encoding(self, passages: int) -> Iterator[None]:
        """Surrounds the encoding of so many passages, at least 1."""
        began = self._clock()
        yield
        seconds = self._clock() - began
        self.passages = (
            MAX_PASSAGES
            if seconds * MAX_PASSAGES <= BATCH_S * passages
            else max(1, int(BATCH_S * passages / seconds))
        )
