"""Arithmetic that all encoders share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askem.models import Vector


def unit(vector: NDArray[Any]) -> Vector:
    """`vector` at length 1; a zero vector stays what it is."""
    norm = float(np.linalg.norm(vector))
    return np.asarray(vector / norm if norm > 0 else vector, dtype=np.float32)


def question_vector(windows: Sequence[NDArray[Any]]) -> Vector:
    """One read-only unit vector for a question: that of its only window, or of their mean."""
    vector = unit(windows[0] if len(windows) == 1 else np.mean(windows, axis=0))
    # Questions are cached: who asked must not change what others get.
    vector.flags.writeable = False
    return vector
