"""Is one run better than another, or was it luck?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

RESAMPLES = 10_000
_SEED = 20261130


@dataclass(frozen=True, slots=True)
class Difference:
    """Paired difference B - A of one measure."""

    mean: float
    low: float
    high: float
    """95 % interval by bootstrap over clusters."""
    p: float
    """Two-sided, by randomisation of signs over clusters."""
    wins: int
    losses: int
    ties: int


def paired(
    a: Mapping[str, float], b: Mapping[str, float], clusters: Mapping[str, str] | None = None
) -> Difference:
    """Compares values by question; questions of one cluster (say, a paper) are drawn together,
    since they succeed and fail together. Raises ValueError where the questions differ."""
    if a.keys() != b.keys() or not a:
        raise ValueError("both runs must have been measured on the same questions")
    questions = sorted(a)
    differences = np.array([b[q] - a[q] for q in questions])
    names = [clusters[q] if clusters else q for q in questions]
    _, member = np.unique(names, return_inverse=True)
    sums = np.bincount(member, weights=differences)
    sizes = np.bincount(member).astype(np.float64)
    random = np.random.default_rng(_SEED)
    drawn = random.integers(0, len(sums), size=(RESAMPLES, len(sums)))
    resampled = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    low, high = np.quantile(resampled, [0.025, 0.975])
    signs = random.choice([-1.0, 1.0], size=(RESAMPLES, len(sums)))
    chance = np.abs(signs @ sums)
    p = (1 + np.count_nonzero(chance >= abs(sums.sum()) - 1e-12)) / (1 + RESAMPLES)
    return Difference(
        mean=float(differences.mean()),
        low=float(low),
        high=float(high),
        p=float(p),
        wins=int(np.count_nonzero(differences > 0)),
        losses=int(np.count_nonzero(differences < 0)),
        ties=int(np.count_nonzero(differences == 0)),
    )


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction (1979): each p so that the family's error is at most it."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    corrected = [0.0] * len(p_values)
    least = 0.0
    for rank, i in enumerate(order):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[i]))
        corrected[i] = least
    return corrected
