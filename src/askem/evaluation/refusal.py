"""When to refuse: what every threshold on the best passage's score would cost, and a choice.

A question is refused where nothing came back, or the best score lies below the threshold. Too
high a threshold refuses questions that the corpus answers, too low a one answers those it cannot.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from askem.errors import InvalidInput

STEPS = 200
_Z = 1.959964
"""Two-sided 95 %."""
NOTHING = -math.inf
"""The score of a question to which nothing came back: always refused."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A question's best score, and whether the corpus answers it."""

    question_id: str
    cluster: str
    score: float
    answerable: bool


@dataclass(frozen=True, slots=True)
class Point:
    """What one threshold does; shares are 0..1."""

    threshold: float
    wrongly_refused: float
    """Of the answerable questions."""
    wrongly_answered: float
    """Of the unanswerable ones."""


@dataclass(frozen=True, slots=True)
class Share:
    """k of n with Wilson's 95 % interval (1927)."""

    k: int
    n: int
    low: float
    high: float

    @property
    def value(self) -> float:
        return self.k / self.n


@dataclass(frozen=True, slots=True)
class Calibration:
    """A threshold chosen on one half of the questions, and what it does on the other."""

    threshold: float
    budget: float
    chosen_on: tuple[Point, ...]
    """The sweep of the first half."""
    held_out: tuple[Point, ...]
    """The sweep of the second."""
    wrongly_refused: Share
    refused: Share
    """Unanswerable questions refused; this and the one above on the held-out half."""
    auroc: float
    """On all questions: how often an answerable one scores above an unanswerable one."""


def sweep(questions: Sequence[Scored], thresholds: Iterable[float]) -> tuple[Point, ...]:
    """Both errors at each threshold. Raises InvalidInput where one kind of question is missing."""
    good = _scores(questions, answerable=True)
    bad = _scores(questions, answerable=False)
    return tuple(
        Point(float(t), float((good < t).mean()), float((bad >= t).mean())) for t in thresholds
    )


def calibrate(questions: Sequence[Scored], budget: float) -> Calibration:
    """The highest threshold that refuses at most `budget` (0..1) of the answerable questions of
    one half; halves are drawn by cluster, by a hash, so that they are the same every time.

    Raises InvalidInput where a half lacks answerable or unanswerable questions.
    """
    halves: tuple[list[Scored], list[Scored]] = ([], [])
    for question in questions:
        halves[_half(question.cluster)].append(question)
    finite = [q.score for q in questions if math.isfinite(q.score)]
    top = max(finite, default=0.0)
    thresholds = [round(top * step / STEPS, 4) for step in range(STEPS + 1)]
    first, second = (sweep(half, thresholds) for half in halves)
    allowed = [point for point in first if point.wrongly_refused <= budget]
    if not allowed:
        raise InvalidInput(
            "budget", f"even no threshold refuses more than {budget:.0%}: nothing came back"
        )
    threshold = allowed[-1].threshold
    good = _scores(halves[1], answerable=True)
    bad = _scores(halves[1], answerable=False)
    return Calibration(
        threshold=threshold,
        budget=budget,
        chosen_on=first,
        held_out=second,
        wrongly_refused=wilson(int((good < threshold).sum()), len(good)),
        refused=wilson(int((bad < threshold).sum()), len(bad)),
        auroc=auroc(questions),
    )


def auroc(questions: Sequence[Scored]) -> float:
    """The share of pairs in which the answerable question scores higher, ties half."""
    return area_under_roc(_scores(questions, answerable=True), _scores(questions, answerable=False))


def area_under_roc(positive: ArrayLike, negative: ArrayLike) -> float:
    """The share of pairs in which the positive is greater, ties half (Mann-Whitney); both of at
    least one value."""
    bad = np.sort(np.asarray(negative))
    below = np.searchsorted(bad, np.asarray(positive), side="left")
    up_to = np.searchsorted(bad, np.asarray(positive), side="right")
    return float((below + up_to).mean() / 2 / len(bad))


def wilson(k: int, n: int) -> Share:
    middle = (k + _Z**2 / 2) / (n + _Z**2)
    reach = _Z / (n + _Z**2) * math.sqrt(k * (n - k) / n + _Z**2 / 4)
    return Share(k, n, max(0.0, middle - reach), min(1.0, middle + reach))


def _scores(questions: Sequence[Scored], *, answerable: bool) -> np.ndarray:
    scores = [q.score for q in questions if q.answerable == answerable]
    if not scores:
        kind = "answerable" if answerable else "unanswerable"
        raise InvalidInput("questions", f"there is no {kind} one (in each half, to calibrate)")
    return np.array(scores)


def _half(cluster: str) -> int:
    return hashlib.sha256(cluster.encode()).digest()[0] & 1
