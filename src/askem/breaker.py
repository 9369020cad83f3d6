"""A circuit breaker: an engine that is dead or hangs costs one caller its time-out, not everyone.

Closed, calls pass. An outage opens it: calls then fail at once. After `open_s`, doubled with every
outage up to `max_open_s`, one caller at a time is let through to try; its success closes it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from askem.errors import BackendUnavailable

T = TypeVar("T")


class Outage(BackendUnavailable):
    """The engine could not be reached, or did not answer in time.

    `repeat`: the connection broke, as one kept open across a restart does; another one may hold.
    `lasting`: more likely a wrong address than an outage; nobody need wait for its end.
    """

    def __init__(
        self, backend: str, message: str, *, repeat: bool = False, lasting: bool = False
    ) -> None:
        super().__init__(backend, message)
        self.repeat = repeat
        self.lasting = lasting


def patiently(
    work: Callable[[], T], *, attempts: int = 9, sleep: Callable[[float], None] = time.sleep
) -> T:
    """What `work` returns, called again through an outage of up to half a minute, as a restart is,
    for those who can wait: after 0.5, 1, 2, 4, and then 5 s. Raises what the last call raised."""
    for attempt in range(attempts - 1):
        try:
            return work()
        except Outage as error:
            if error.lasting:
                raise
            sleep(min(0.5 * 2**attempt, 5.0))
    return work()


class Breaker:
    """Thread-safe. One for each engine and process."""

    def __init__(
        self,
        backend: str,
        *,
        open_s: float = 0.5,
        max_open_s: float = 4.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._backend = backend
        self._open_s = open_s
        self._max_open_s = max_open_s
        self._clock = clock
        self._lock = threading.Lock()
        self._outages = 0
        self._retry_at = 0.0
        self._trying = False
        self._last = ""

    def call(self, work: Callable[[], T], *, attempts: int = 2) -> T:
        """What `work` returns. Its `Outage`s count; whatever else it raises passes unchanged.

        A broken connection is tried again at once, `attempts` in all. Raises Outage without
        calling `work` while open.
        """
        trial = self._enter()
        try:
            return self._attempt(work, 1 if trial else attempts)
        except Outage as error:
            self._failed(str(error))
            error.retry_after_s = max(self._retry_at - self._clock(), 0.1)
            raise
        finally:
            if trial:
                with self._lock:
                    self._trying = False

    @property
    def is_open(self) -> bool:
        return self._outages > 0

    def _attempt(self, work: Callable[[], T], attempts: int) -> T:
        for left in range(attempts - 1, -1, -1):
            try:
                result = work()
            except Outage as error:
                if not (left and error.repeat):
                    raise
            except Exception:
                # An answer, if not the one that was hoped for: the engine is there.
                self._outages = 0
                raise
            else:
                self._outages = 0
                return result
        raise AssertionError("unreachable")

    def _enter(self) -> bool:
        """Whether this call is the one that tries; raises where it may not pass."""
        with self._lock:
            if not self._outages:
                return False
            wait = self._retry_at - self._clock()
            if wait > 0 or self._trying:
                closed = Outage(self._backend, f"not asked: {self._last}")
                closed.retry_after_s = max(wait, 0.1)
                raise closed
            self._trying = True
            return True

    def _failed(self, message: str) -> None:
        with self._lock:
            # Calls that were under way when it opened are no new outages.
            if self._clock() >= self._retry_at:
                self._outages += 1
                pause = min(self._open_s * 2 ** (self._outages - 1), self._max_open_s)
                self._retry_at = self._clock() + pause
            self._outages = max(self._outages, 1)
            self._last = message
