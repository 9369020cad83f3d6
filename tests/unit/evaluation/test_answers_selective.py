"""Refusing and confidence, by hand."""

from __future__ import annotations

import pytest

from askem.evaluation.answers.selective import Point, Told, area, selective

RIGHT = Told(answerable=True, right=True, level=3, score=2.0)
WRONG = Told(answerable=True, right=False, level=1, score=1.0)
REFUSED = Told(answerable=True, right=False, level=0, score=0.5)
ABSENT = Told(answerable=False, right=True, level=0, score=0.4)
FOOLED = Told(answerable=False, right=False, level=1, score=1.5)


def test_everything_at_once() -> None:
    found = selective([RIGHT, WRONG, REFUSED, ABSENT, FOOLED])
    assert found.refusal_precision == 0.5
    assert found.refusal_recall == 0.5
    # Six pairs. Confidence: 3 over 0 and 1, 1 over 0, equal to 1, 0 equal to 0, below 1.
    assert found.auroc_answerable[0] == pytest.approx((2 + 1.5 + 0.5) / 6)
    # Scores: 2.0 over both, 1.0 over .4 alone, .5 over .4 alone.
    assert found.auroc_answerable[1] == pytest.approx(4 / 6)
    assert found.auroc_right == (1.0, 1.0)
    assert found.points == (Point(3, 1 / 5, 0.0), Point(1, 3 / 5, 2 / 3))
    # Shown in the order RIGHT, FOOLED, WRONG: risks 0, 1/2, 2/3.
    assert found.area == pytest.approx((0 + 1 / 2 + 2 / 3) / 3)


def test_equals_are_wrong_as_often_as_on_average() -> None:
    same = Told(answerable=True, right=True, level=1, score=1.0)
    assert area([same, WRONG]) == area([WRONG, same]) == pytest.approx(0.5)


def test_without_one_kind_of_question_there_is_no_figure() -> None:
    found = selective([REFUSED])
    assert (found.refusal_recall, found.auroc_answerable, found.area) == (None, (None, None), None)
    assert found.points == ()
