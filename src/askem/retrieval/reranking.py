"""The best passages in the order of a model that reads question and passage together."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from askem.models import Hit, Passage
from askem.ports import Reranker


@dataclass(frozen=True, slots=True)
class Reranking:
    """A reranker and how long it may take for one question."""

    reranker: Reranker
    budget_ms: float = 1_000.0
    """No further batch is begun once this much is spent; the first is always read."""
    clock: Callable[[], float] = time.monotonic
    """Seconds."""

    def reordered(self, question: str, hits: Sequence[Hit], top_k: int) -> tuple[list[Hit], int]:
        """The first `top_k` hits by the model's scores, ties as they stood; after them those that
        it was not asked about, or had no time for, as they stood. And how many it has read."""
        scores = self._scores(question, [hit.passage for hit in hits[:top_k]])
        order = np.argsort(-scores, kind="stable")
        read = [replace(hits[i], rerank_score=float(scores[i])) for i in order]
        return [*read, *hits[len(scores) :]], len(scores)

    def _scores(self, question: str, passages: Sequence[Passage]) -> NDArray[np.float64]:
        """Of the first passages, as many as there was time for; shape (n,), n <= passages."""
        until = self.clock() + self.budget_ms / 1e3
        found: list[NDArray[np.float64]] = []
        for start in range(0, len(passages), self.reranker.batch):
            if start and self.clock() >= until:
                break
            batch = passages[start : start + self.reranker.batch]
            found.append(self.reranker.rerank(question, batch))
        return np.concatenate(found) if found else np.empty(0)
