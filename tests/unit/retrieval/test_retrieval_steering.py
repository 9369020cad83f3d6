"""Steering against the golden cases of Weaviate's own tests."""

from __future__ import annotations

import numpy as np
import pytest

from askem.retrieval.steering import move_away_from, move_to

QUESTION = np.arange(5, dtype=np.float32)
ONES = np.ones(5, dtype=np.float32)


@pytest.mark.parametrize(
    ("weight", "wanted"),
    [
        (1.0, [0.5, 1, 1.5, 2, 2.5]),
        (0.25, [0.125, 1, 1.875, 2.75, 3.625]),
        (0.0, [0, 1, 2, 3, 4]),
    ],
)
def test_moving_to(weight: float, wanted: list[float]) -> None:
    moved = move_to(QUESTION, ONES, weight)
    assert moved.tolist() == wanted
    assert moved.dtype == np.float32


@pytest.mark.parametrize(
    ("weight", "wanted"),
    [
        # q + (f / 2) (q - a)
        (1.0, [-0.5, 1, 2.5, 4, 5.5]),
        (0.25, [-0.125, 1, 2.125, 3.25, 4.375]),
        (0.0, [0, 1, 2, 3, 4]),
    ],
)
def test_moving_away_from(weight: float, wanted: list[float]) -> None:
    moved = move_away_from(QUESTION, ONES, weight)
    assert moved.tolist() == wanted
    assert moved.dtype == np.float32


def test_the_question_itself_stays() -> None:
    question = QUESTION.copy()
    question.flags.writeable = False
    move_to(question, ONES, 1.0)
    move_away_from(question, ONES, 1.0)
    assert question.tolist() == QUESTION.tolist()
