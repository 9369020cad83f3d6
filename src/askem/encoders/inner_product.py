"""Inner products as cosines, so that a model trained on them fits every index and ranking.

The reduction of Bachrach et al., "Speeding Up the Xbox Recommender System Using a Euclidean
Transformation for Inner-Product Spaces" (RecSys 2014). With M no less than any passage's norm,
a passage x becomes (x, sqrt(M² - |x|²)) / M and a question q becomes (q, 0) / |q|: both of length
1, and their cosine is q·x / (|q| M). For one question that is the inner product times a positive
constant, so the order is that of the inner product, exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askem.encoders.vectors import unit


def augmented_passages(vectors: NDArray[Any], bound: float) -> NDArray[np.float32]:
    """(n, d) to (n, d + 1), every row of length 1. `bound` is M.

    Raises ValueError where a row is longer than M by more than rounding.
    """
    scaled = np.asarray(vectors, dtype=np.float64) / bound
    squares = np.einsum("ij,ij->i", scaled, scaled)
    if len(squares) and squares.max() > 1 + _ROUNDING:
        raise ValueError(f"a vector has the length {bound * squares.max() ** 0.5:g} > {bound:g}")
    last = np.sqrt(np.maximum(0.0, 1.0 - squares))
    return np.column_stack([scaled, last]).astype(np.float32)


_ROUNDING = 1e-4


def augmented_question(vector: NDArray[Any]) -> NDArray[np.float32]:
    """(d,) to (d + 1,), of length 1; zeros stay zeros."""
    return np.append(unit(vector), np.float32(0))


def layer_norm_bound(weight: NDArray[Any], bias: NDArray[Any]) -> float:
    """The largest length that a layer normalisation with these parameters can give out.

    Before `weight` and `bias` its rows have mean 0 and a variance of at most 1, hence a length of
    at most sqrt(d); so |weight ∘ n + bias| <= max |weight| sqrt(d) + |bias|.
    """
    scale, shift = np.asarray(weight, np.float64), np.asarray(bias, np.float64)
    return float(np.abs(scale).max() * np.sqrt(len(scale)) + np.linalg.norm(shift))


def projected_bound(bound: float, weight: NDArray[Any], bias: NDArray[Any]) -> float:
    """The largest length of `weight @ x + bias` for |x| <= bound."""
    spectral = float(np.linalg.norm(np.asarray(weight, np.float64), ord=2))
    return spectral * bound + float(np.linalg.norm(np.asarray(bias, np.float64)))
