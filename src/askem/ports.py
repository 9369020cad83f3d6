"""What the library asks of its surroundings. Each port is drawn from its caller."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from askem.models import (
    CorpusSnapshot,
    DenseHits,
    Filters,
    PaperSummary,
    Passage,
    Screened,
    SourceKey,
    TopicCount,
    Vector,
)


class Encoder(Protocol):
    """Text to unit vectors, compared by their cosine. Thread-safe.

    A model that scores by the dot product is made to fit here: docs/decisions/0006-dpr-metric.md.
    Where an encoder asks another service, encoding raises BackendUnavailable, and
    ConfigurationError where that service refuses us.
    """

    @property
    def encoder_id(self) -> str:
        """Model name and the hash of its files: two encoders with one id give equal vectors."""

    @property
    def dimension(self) -> int: ...

    def encode_question(self, text: str) -> Vector:
        """Unit vector, shape (dimension,)."""

    def encode_passages(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """One array a text, shape (windows, dimension), windows >= 1: a text longer than the
        model's window is split, so that nothing is left out."""

    def close(self) -> None:
        """Lets go of threads and connections. Safe to repeat; nothing is encoded afterwards."""


class LocalEncoder(Encoder, Protocol):
    """An encoder of this machine, which knows its model's window."""

    @property
    def window_tokens(self) -> int:
        """The longest text that one vector covers, in the model's tokens, with its own marks."""


class SparseIndex(Protocol):
    def screen(
        self,
        terms: Sequence[str],
        top_k: int,
        filters: Filters,
        within: Sequence[str] | None = None,
    ) -> Screened:
        """The `top_k` passages with the highest BM25 for the distinct analysed `terms`.

        Passages without any of the terms are never returned; no terms give no passages. With
        `within`, only these passage ids compete, at most 10,000. Raises BackendUnavailable.
        """

    def vocabulary(self, terms: Sequence[str]) -> Mapping[str, int]:
        """Those of the analysed `terms`, some thousands at most, that the corpus has, and how
        many of its passages hold each: the document frequencies that `screen` works with. Raises
        BackendUnavailable.
        """


class DenseIndex(Protocol):
    def search(
        self,
        vector: Vector,
        top_k: int,
        filters: Filters,
        within: Sequence[str] | None = None,
    ) -> DenseHits:
        """The `top_k` passages nearest to `vector` (any length; normalised here).

        A passage's distance is that of its nearest window. With `within`, only these passage ids
        compete, and ids that no longer exist are left out. Raises BackendUnavailable.
        """


class PassageReader(Protocol):
    def passages(self, passage_ids: Sequence[str]) -> dict[str, Passage]:
        """The passages that exist, by id."""

    def paper(self, paper_id: str) -> PaperSummary | None: ...

    def papers(self, *, topic: str | None, after: str | None, limit: int) -> list[PaperSummary]:
        """Papers by ascending paper id, those above `after`."""

    def paper_passages(self, paper_id: str, *, limit: int, offset: int) -> list[Passage]: ...

    def topics(self) -> list[TopicCount]: ...

    def snapshot(self) -> CorpusSnapshot: ...


@dataclass(frozen=True, slots=True)
class EncodedSource:
    """A source ready to be stored: its passages in order and their vectors."""

    key: SourceKey
    content_hash: str
    preprocessor_id: str
    topics: tuple[str, ...]
    passages: tuple[Passage, ...]
    tokens: tuple[tuple[str, ...], ...]
    """Analysed tokens of each passage, in order."""
    vectors: tuple[NDArray[np.float32], ...]
    """One array a passage, shape (windows, dimension)."""


LedgerState = Literal["pending", "complete", "failed"]


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """What is known of one source.

    `complete` means written to both stores and counted there. An `error` beside `complete` says
    that a newer version failed and the older one is still served.
    """

    key: SourceKey
    state: LedgerState
    content_hash: str
    preprocessor_id: str
    encoder_id: str
    topics: tuple[str, ...]
    passages: int
    windows: int
    updated_at: str
    error: str | None = None


@dataclass(frozen=True, slots=True)
class StoredCounts:
    """How many passages each leg can serve of one source, read from the leg itself."""

    sparse: int
    dense: int


class Ledger(Protocol):
    def get(self, key: SourceKey) -> LedgerEntry | None: ...

    def record(self, entries: Sequence[LedgerEntry]) -> None:
        """Insert or overwrite, durably, all or none."""

    def entries(self, paper_id: str | None = None) -> Iterator[LedgerEntry]: ...

    def forget(self, keys: Sequence[SourceKey]) -> None: ...


class PassageWriter(Protocol):
    def exclusive(self) -> AbstractContextManager[object]:
        """Keeps every other writer of the same stores out, in any process. Reentrant."""

    def replace(self, sources: Sequence[EncodedSource]) -> None:
        """Make the stores hold exactly these passages of each source. Safe to repeat."""

    def delete(self, keys: Sequence[SourceKey]) -> None: ...

    def counts(self, keys: Sequence[SourceKey]) -> list[StoredCounts]:
        """Read back from both legs, parallel to `keys`."""

    def vectors(self, key: SourceKey) -> list[NDArray[np.float32]] | None:
        """The stored vectors of a source's passages in their order, as in `EncodedSource`; None
        where there are none, or not all of them as they were written. To be asked within
        `exclusive`."""


class Reranker(Protocol):
    """A model that reads question and passage together. Thread-safe."""

    @property
    def reranker_id(self) -> str:
        """Model name and the hash of its files: two rerankers with one id give equal scores."""

    @property
    def batch(self) -> int:
        """How many passages are best read at a time, at least 1."""

    def rerank(self, question: str, passages: Sequence[Passage]) -> NDArray[np.float64]:
        """Scores parallel to `passages`, higher is better. A passage longer than the model's
        window counts by its best part. Blocks."""
