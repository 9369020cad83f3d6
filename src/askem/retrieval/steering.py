"""Steering: pulling the question's vector towards or away from a concept.

The arithmetic of Weaviate's `moveTo` and `moveAwayFrom` (usecases/modulecomponents/arguments/
nearText), computed once here so that every store sees the same vector: `move_to` first, then
`move_away_from` on its result, nothing normalised in between.
"""

from __future__ import annotations

import numpy as np

from askem.models import Vector


def move_to(vector: Vector, target: Vector, weight: float) -> Vector:
    """q' = (1 - f/2) q + (f/2) t, weight f in 0..1; f = 1 is the midpoint, f = 0 is q."""
    half = np.float32(weight / 2)
    return np.asarray((1 - half) * vector + half * target, dtype=np.float32)


def move_away_from(vector: Vector, target: Vector, weight: float) -> Vector:
    """q' = q + (f/2) (q - a), weight f in 0..1; f = 0 is q."""
    half = np.float32(weight / 2)
    return np.asarray(vector + half * (vector - target), dtype=np.float32)
