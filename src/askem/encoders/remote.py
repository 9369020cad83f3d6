"""Vectors from any server with an OpenAI-style `/v1/embeddings`."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from askem.breaker import Breaker
from askem.encoders.embeddings_client import (
    BACKEND,
    EmbeddingsClient,
    Endpoint,
    InputType,
    Patience,
)
from askem.encoders.estimate import estimated_offsets
from askem.encoders.vectors import question_vector
from askem.encoders.windows import passage_windows, windows_of
from askem.errors import ConfigurationError, Overloaded
from askem.models import Vector

MAX_BATCH = 64
MAX_BATCH_BYTES = 256 * 1024
MIN_WINDOW_TOKENS = 32

_SPECIAL_TOKENS = 8
"""Room in each window for what models put round a text."""
_QUESTION_CACHE = 4096
# Somebody waits for a question's vector; a load of passages had rather wait than fail.
_QUESTION = Patience(attempts=2, longest_wait_s=1.0)
_PASSAGES = Patience(attempts=5, longest_wait_s=30.0)
_AT_ONCE = Patience(attempts=1, longest_wait_s=0.0)
_TRIAL_S = 2.0
"""How long a server that failed is waited for until it has answered again."""


class RemoteEncoder:
    """Texts are cut into windows here, by an estimate of their tokens, so that the server need
    not cut; vectors are checked and brought to length 1 here.

    The encoder's id holds model, dimension, window and whether the input's type is said, but not
    the address: a server that moves, or another one for the same model, must not orphan an index.
    Two servers that mean different models by one name cannot be told apart; where that may happen,
    put a version into the name.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        window_tokens: int,
        dimension: int | None = None,
        concurrency: int = 4,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        """`concurrency`: requests at a time. Without `dimension` the server is asked for it here.
        `sleep`: for tests.

        Raises ConfigurationError, BackendUnavailable (the latter without `dimension` only).
        """
        if window_tokens < MIN_WINDOW_TOKENS:
            raise ConfigurationError(
                f"ASKEM_EMBEDDINGS_WINDOW_TOKENS must be at least {MIN_WINDOW_TOKENS}"
            )
        self._client = EmbeddingsClient(endpoint, connections=concurrency, sleep=sleep)
        self._room = window_tokens - _SPECIAL_TOKENS
        self._wait_s = endpoint.timeout_s
        self._breaker = Breaker(BACKEND)
        self._places = threading.BoundedSemaphore(concurrency)
        self._pool = ThreadPoolExecutor(concurrency, thread_name_prefix="askem-embed")
        self._dimension = dimension
        try:
            self.dimension = dimension or self._ask(["dimension"], "query", _QUESTION).shape[1]
        except BaseException:
            self.close()
            raise
        self._dimension = self.dimension
        fingerprint = hashlib.sha256(repr((window_tokens, endpoint.input_type)).encode())
        self.encoder_id = f"{endpoint.model}@{self.dimension}-{fingerprint.hexdigest()[:8]}"
        self._cached_question = lru_cache(maxsize=_QUESTION_CACHE)(self._encode_question)

    def encode_question(self, text: str) -> Vector:
        """Unit vector, shape (dimension,); read-only. A question beyond the window is the
        normalised mean of its windows. Raises BackendUnavailable, at once while a server that
        failed is left alone, and ConfigurationError."""
        return self._cached_question(text)

    def ping(self) -> None:
        """That the server encodes a question, within 2 s. Raises as `encode_question`, whose
        answers are kept: a server that has gone would go unseen."""
        self._breaker.call(
            lambda: self._ask(["ready?"], "query", _AT_ONCE, timeout_s=min(self._wait_s, _TRIAL_S))
        )

    def encode_passages(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """One array of unit vectors a text, shape (windows, dimension), in the order of `texts`.

        Raises BackendUnavailable, ConfigurationError; the requests that wait are dropped then.
        """
        windows = [passage_windows(text, estimated_offsets, self._room) for text in texts]
        flat = [window for pieces in windows for window in pieces]
        asked = [
            self._pool.submit(self._ask, batch, "document", _PASSAGES) for batch in _batches(flat)
        ]
        try:
            rows = iter([row for future in asked for row in future.result()])
        finally:
            for future in asked:
                future.cancel()
        return [np.stack([next(rows) for _ in pieces]) for pieces in windows]

    def windows(self, text: str) -> list[str]:
        """The pieces of a text that are encoded one by one; one piece where it fits."""
        return windows_of(text, estimated_offsets, self._room)

    def close(self) -> None:
        self._client.stop_trying()
        self._pool.shutdown(cancel_futures=True)
        self._client.close()

    def _encode_question(self, text: str) -> Vector:
        parts = [
            row
            for batch in _batches(self.windows(text))
            for row in self._breaker.call(partial(self._ask_question, batch))
        ]
        return question_vector(parts)

    def _ask_question(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self._breaker.is_open:
            return self._ask(texts, "query", _AT_ONCE, timeout_s=min(self._wait_s, _TRIAL_S))
        return self._ask(texts, "query", _QUESTION)

    def _ask(
        self,
        texts: Sequence[str],
        input_type: InputType,
        patience: Patience,
        *,
        timeout_s: float | None = None,
    ) -> NDArray[np.float32]:
        """Unit vectors, shape (texts, dimension). `timeout_s`: for a place, and for each attempt;
        None: the endpoint's."""
        if not self._places.acquire(timeout=self._wait_s if timeout_s is None else timeout_s):
            raise Overloaded(BACKEND, "all connections to the embeddings server are in use")
        try:
            vectors = self._client.embed(texts, input_type, patience, timeout_s=timeout_s)
        finally:
            self._places.release()
        if self._dimension not in (None, vectors.shape[1]):
            raise ConfigurationError(
                f"the embeddings server gives vectors of {vectors.shape[1]} dimensions, "
                f"{self._dimension} are expected: check ASKEM_EMBEDDINGS_MODEL and "
                "ASKEM_EMBEDDINGS_DIMENSION"
            )
        lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
        return np.asarray(vectors / lengths, dtype=np.float32)


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """At most 64 texts and 256 KiB; a larger text goes alone."""
    batch: list[str] = []
    size = 0
    for text in texts:
        weight = len(text.encode("utf-8", "replace"))
        if batch and (len(batch) == MAX_BATCH or size + weight > MAX_BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += weight
    if batch:
        yield batch
