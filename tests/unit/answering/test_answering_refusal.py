"""When a question is refused, and how much an answer is to be trusted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from askem.answering.models import Confidence, Reason, Seen, Source
from askem.answering.picking import Picked
from askem.answering.refusal import RIGHT, Thresholds, confidence, reason_to_refuse

SOURCE = Source("paper#p0", "paper", "Rain fell.", 2.0, 0.4)
SEEN = Seen(
    query="Where did rain fall?",
    sources=(SOURCE,),
    ranking="proximity",
    idf={"rain": 2.0, "fall": 1.0},
    nearest_distance=0.4,
)


def with_score(score: float) -> Seen:
    return replace(SEEN, sources=(replace(SOURCE, score=score),))


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        (SEEN, None),
        (replace(SEEN, idf={}), "no content"),
        (replace(SEEN, sources=()), "nothing found"),
        (with_score(1.15), None),
        (with_score(1.149), "not in the corpus"),
        (replace(with_score(0.02), ranking="rrf"), None),
        (replace(SEEN, nearest_distance=0.7), None),
        (replace(SEEN, nearest_distance=0.71), "not in the corpus"),
        (replace(SEEN, nearest_distance=0.9, idf={"rain": 2.0, "fall": 1.0, "spring": 3.0}), None),
        (replace(SEEN, nearest_distance=None), None),
    ],
)
def test_reasons(seen: Seen, reason: Reason | None) -> None:
    assert reason_to_refuse(seen, Thresholds()) == reason


def test_thresholds_can_be_set() -> None:
    assert reason_to_refuse(SEEN, Thresholds(score=2.1)) == "not in the corpus"
    assert reason_to_refuse(SEEN, Thresholds(distance=0.3)) == "not in the corpus"


@pytest.mark.parametrize(
    ("score", "lead", "expected"),
    [
        (2.0, 0.3, "high"),
        (2.0, 0.29, "medium"),
        (2.0, 0.1, "medium"),
        (2.0, 0.09, "low"),
        (1.39, 0.5, "low"),
    ],
)
def test_confidence(score: float, lead: float, expected: Confidence) -> None:
    picked = [Picked(SOURCE, 0, 10, "Rain fell.", score + 1, 0.0, lead)]
    assert confidence(with_score(score), picked) == expected


def test_confidence_is_low_where_nothing_was_measured() -> None:
    picked = [Picked(SOURCE, 0, 10, "Rain fell.", 3.0, 0.0, 0.5)]
    assert confidence(SEEN, []) == "low"
    assert confidence(replace(SEEN, ranking="blend"), picked) == "low"
    assert confidence(replace(SEEN, sources=()), picked) == "low"


def test_more_confidence_is_more_often_right() -> None:
    assert RIGHT["high"] > RIGHT["medium"] > RIGHT["low"]
