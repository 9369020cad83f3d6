from __future__ import annotations

import pytest

from askem.errors import InvalidInput
from askem.evaluation.refusal import NOTHING, Scored, auroc, calibrate, sweep, wilson


def scored(score: float, answerable: bool, name: str = "q") -> Scored:
    return Scored(name, name, score, answerable)


MIXED = [
    *(scored(1 + i / 100, True, f"good{i}") for i in range(100)),
    *(scored(i / 100, False, f"bad{i}") for i in range(100)),
]


def test_a_sweep_counts_both_errors() -> None:
    questions = [scored(2, True), scored(1, True), scored(1, False), scored(NOTHING, False)]
    points = sweep(questions, [0, 1, 1.5, 3])
    assert [(p.wrongly_refused, p.wrongly_answered) for p in points] == [
        (0.0, 0.5),
        (0.0, 0.5),
        (0.5, 0.0),
        (1.0, 0.0),
    ]


def test_the_budget_is_kept_where_the_threshold_was_chosen() -> None:
    found = calibrate(MIXED, 0.05)
    at = next(p for p in found.chosen_on if p.threshold == found.threshold)
    above = [p for p in found.chosen_on if p.threshold > found.threshold]
    assert at.wrongly_refused <= 0.05 < above[0].wrongly_refused
    assert found.wrongly_refused.n + found.refused.n < len(MIXED)
    assert found.refused.value == 1.0
    assert found.auroc == 1.0


def test_calibrating_twice_gives_one_threshold() -> None:
    assert calibrate(MIXED, 0.05) == calibrate(MIXED, 0.05)


def test_ties_count_half() -> None:
    assert auroc([scored(1, True), scored(1, False)]) == 0.5


def test_without_unanswerable_questions_there_is_nothing_to_choose() -> None:
    with pytest.raises(InvalidInput, match="no unanswerable one"):
        sweep([scored(1, True)], [0.5])


def test_wilsons_interval() -> None:
    share = wilson(10, 10)  # Wilson's example of a bound below 1 where all succeed
    assert (share.value, share.high) == (1.0, 1.0)
    assert share.low == pytest.approx(0.7225, abs=1e-4)
    assert wilson(0, 20).high == pytest.approx(0.1611, abs=1e-4)
