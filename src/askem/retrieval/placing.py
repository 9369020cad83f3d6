"""From what the legs found to an order of passages: pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askem.models import DenseHits, Hit, Passage, Ranking, Screened
from askem.retrieval.ranking import Weights, rank

_SLACK = 1e-6
"""Thresholds on distance are inclusive, as Weaviate's are, with its tolerance."""


@dataclass(frozen=True, slots=True)
class Place:
    """A hit before its passage is fetched."""

    passage_id: str
    score: float
    distance: float | None
    bm25: float | None = None
    sparse_rank: int | None = None
    dense_rank: int | None = None

    def hit(self, passage: Passage) -> Hit:
        return Hit(
            passage=passage,
            score=self.score,
            distance=self.distance,
            bm25=self.bm25,
            sparse_rank=self.sparse_rank,
            dense_rank=self.dense_rank,
        )


def by_distance(found: DenseHits) -> list[Place]:
    """Nearest first; score = 1 - distance."""
    return [
        Place(passage_id, 1.0 - float(distance), float(distance), dense_rank=i + 1)
        for i, (passage_id, distance) in enumerate(
            zip(found.passage_ids, found.distances, strict=True)
        )
    ]


def by_bm25(screened: Screened) -> list[Place]:
    """The sparse leg's own order; score = BM25."""
    return [
        Place(passage_id, float(bm25), None, bm25=float(bm25), sparse_rank=row + 1)
        for row, (passage_id, bm25) in enumerate(
            zip(screened.passage_ids, screened.bm25, strict=True)
        )
    ]


def by_ranking(
    ranking: Ranking, candidates: Screened, handed_on: int, found: DenseHits, weights: Weights
) -> list[Place]:
    """Candidates that the dense leg knows too, best first; ties by distance, then id.

    The first `handed_on` candidates come from the screening and have a rank there.
    """
    rows = rows_of(candidates, found)
    scores = rank(ranking, candidates, rows, found.distances, weights)
    places = [
        Place(
            passage_id=found.passage_ids[i],
            score=float(scores[i]),
            distance=float(found.distances[i]),
            bm25=float(candidates.bm25[row]),
            sparse_rank=int(row) + 1 if row < handed_on else None,
            dense_rank=i + 1,
        )
        for i, row in enumerate(rows)
    ]
    return sorted(places, key=lambda place: (-place.score, place.distance, place.passage_id))


def rows_of(candidates: Screened, found: DenseHits) -> NDArray[np.intp]:
    """Where among the candidates each passage stands that the dense leg found."""
    row_of = {passage_id: row for row, passage_id in enumerate(candidates.passage_ids)}
    return np.array([row_of[passage_id] for passage_id in found.passage_ids], dtype=np.intp)


def within(places: Sequence[Place], max_distance: float | None) -> list[Place]:
    """Those no further than `max_distance`; places without a distance stay."""
    return [p for p in places if p.distance is None or is_within(p.distance, max_distance)]


def is_within(distance: float, max_distance: float | None) -> bool:
    """Whether the cut lets a distance pass; None: there is no cut."""
    return max_distance is None or distance <= max_distance + _SLACK
