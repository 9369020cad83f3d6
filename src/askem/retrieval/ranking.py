"""Rankings of screened passages: pure functions of what both legs found.

All return scores where higher is better. `proximity` is the default; `distance` is what the
original system did; `docs/ranking.md` has the measurements.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from askem.models import Ranking, Screened

Scores = NDArray[np.float64]

RRF_K = 60


@dataclass(frozen=True, slots=True)
class Weights:
    """The rankings' constants, chosen by measurement (`docs/ranking.md`)."""

    cosine: float = 1.1
    """Of the cosine in `proximity`."""
    pair: float = 0.5
    """Of P in `proximity`."""
    kernel_width: float = 5.0
    """Content tokens after which a neighbouring term counts 1/e (a plateau from 3 to 8)."""
    blend_dense: float = 0.25
    """Of the dense leg in `blend`, 0..1."""


DEFAULT_WEIGHTS = Weights()


def rank(
    ranking: Ranking,
    screened: Screened,
    rows: NDArray[np.intp],
    distances: NDArray[np.float64],
    weights: Weights = DEFAULT_WEIGHTS,
) -> Scores:
    """Scores of the passages in `rows` (indices into `screened`), in the order of `rows`.

    `distances`, parallel to `rows`, are cosine distances to the question, 0..2.
    """
    if ranking == "proximity":
        return proximity(screened, rows, distances, weights)
    if ranking == "blend":
        return blend(screened, rows, distances, weights.blend_dense)
    if ranking == "rrf":
        return rrf(rows, distances)
    return 1.0 - distances


def proximity(
    screened: Screened,
    rows: NDArray[np.intp],
    distances: NDArray[np.float64],
    weights: Weights = DEFAULT_WEIGHTS,
) -> Scores:
    """(B + K + P/2) / T + 1.1 cosine.

    B is BM25; K the best local cluster of question terms; P how close adjacent question terms
    stand to each other; T = the idf mass of the question's terms, those the corpus lacks
    included, which puts every question on one scale. T > 0 wherever anything was screened.
    """
    clusters, pairs = term_proximity(screened, weights.kernel_width)
    lexical = screened.bm25 + clusters + weights.pair * pairs
    scores: Scores = lexical[rows] / screened.idf.sum() + weights.cosine * (1.0 - distances)
    return scores


def blend(
    screened: Screened,
    rows: NDArray[np.intp],
    distances: NDArray[np.float64],
    dense_weight: float = DEFAULT_WEIGHTS.blend_dense,
) -> Scores:
    """Min-max normalised BM25 and similarity, by default weighted 3 : 1."""
    lexical = min_max_of(screened.bm25[rows])
    return (1 - dense_weight) * lexical + dense_weight * min_max_of(-distances)


def rrf(rows: NDArray[np.intp], distances: NDArray[np.float64]) -> Scores:
    """Reciprocal rank fusion of both legs, k = 60 (Cormack, Clarke and Büttcher 2009)."""
    sparse_rank = rows + 1
    dense_rank = np.empty(len(rows), dtype=np.int64)
    dense_rank[np.argsort(distances, kind="stable")] = np.arange(1, len(rows) + 1)
    scores: Scores = 1.0 / (RRF_K + sparse_rank) + 1.0 / (RRF_K + dense_rank)
    return scores


def min_max_of(values: Scores) -> Scores:
    """Values moved and scaled to 0..1; all 0 where they are equal."""
    if not len(values):
        return values
    low, high = values.min(), values.max()
    return np.zeros_like(values) if high == low else (values - low) / (high - low)


def term_proximity(
    screened: Screened, kernel_width: float = DEFAULT_WEIGHTS.kernel_width
) -> tuple[Scores, Scores]:
    """K and P of every screened passage; both shape (n,).

    With d(i, t) the distance in content tokens from position i to the nearest occurrence of t:
    K = max over occurrences i of any question term of sum_t idf(t) exp(-d(i, t) / kernel_width);
    P = sum over adjacent question terms (a, b) of (idf(a) + idf(b)) / (2 delta), delta the least
    distance between them, doubled where b comes before a.
    """
    passages, terms = len(screened.passage_ids), len(screened.idf)
    clusters, pairs = np.zeros(passages), np.zeros(passages)
    if not len(screened.hit_rows):
        return clusters, pairs
    rows = screened.hit_rows.astype(np.int64)
    # One axis for all passages, so that two of them are further apart than any two positions of
    # one passage, and than the kernel reaches.
    span = int(screened.hit_positions.max())
    axis = rows * (2 * span + _GAP) + screened.hit_positions
    occurrences = [np.flatnonzero(screened.hit_terms == term) for term in range(terms)]
    mass = np.zeros(len(axis))
    for term, places in enumerate(occurrences):
        if len(places):
            nearest = _nearest(axis, axis[places])
            mass += screened.idf[term] * np.exp(-nearest / kernel_width)
    np.maximum.at(clusters, rows, mass)
    for first, second in pairwise(range(terms)):
        a, b = occurrences[first], occurrences[second]
        if len(a) and len(b):
            closeness = _closeness(axis[a], axis[b], span)
            best = np.zeros(passages)
            np.maximum.at(best, rows[a], closeness)
            pairs += best * (screened.idf[first] + screened.idf[second]) / 2
    return clusters, pairs


_GAP = 1000


def _nearest(axis: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Distance from every point of `axis` to the nearest of the sorted, non-empty `places`."""
    at = np.searchsorted(places, axis)
    right = np.abs(places[np.minimum(at, len(places) - 1)] - axis)
    left = np.abs(axis - places[np.maximum(at - 1, 0)])
    nearest: NDArray[np.int64] = np.minimum(left, right)
    return nearest


def _closeness(first: NDArray[np.int64], second: NDArray[np.int64], span: int) -> Scores:
    """1 / delta for every place of `first`; 0 where `second` is not within `span`."""
    at = np.searchsorted(second, first)
    after = second[np.minimum(at, len(second) - 1)] - first
    before = first - second[np.maximum(at - 1, 0)]
    forward = np.where((after > 0) & (after <= span), 1.0 / np.maximum(after, 1), 0.0)
    backward = np.where((before > 0) & (before <= span), 0.5 / np.maximum(before, 1), 0.0)
    return np.maximum(forward, backward)
