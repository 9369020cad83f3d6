"""Does confidence tell right answers from wrong ones, and what does answering less buy?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from askem.evaluation.refusal import area_under_roc

LEVELS = (None, "low", "medium", "high")
"""Of confidence, by rising number; None is a refusal."""


@dataclass(frozen=True, slots=True)
class Told:
    """One question, answerable or not, as the system judged itself."""

    answerable: bool
    right: bool
    """An unanswerable question is right only where it was refused."""
    level: int
    """Index into LEVELS."""
    score: float

    @property
    def refused(self) -> bool:
        return self.level == 0


@dataclass(frozen=True, slots=True)
class Point:
    """What is shown from one level of confidence on."""

    level: int
    coverage: float
    """Of all questions, 0..1."""
    risk: float
    """Wrong ones among them, 0..1."""


@dataclass(frozen=True, slots=True)
class Selective:
    """Everything about refusing and confidence; None where one kind of question is missing."""

    refusal_precision: float | None
    refusal_recall: float | None
    auroc_answerable: tuple[float | None, float | None]
    """By confidence (a refusal is the least), and by the best passage's score."""
    auroc_right: tuple[float | None, float | None]
    """The same among answerable questions that were answered."""
    points: tuple[Point, ...]
    area: float | None
    """Under the risk-coverage curve (Geifman et al. 2019): mean risk over all numbers of answers
    shown, the most confident first."""


def selective(questions: Sequence[Told]) -> Selective:
    refused = [q for q in questions if q.refused]
    absent = [q for q in questions if not q.answerable]
    kept = [q for q in questions if q.answerable and not q.refused]
    return Selective(
        refusal_precision=_share([not q.answerable for q in refused]),
        refusal_recall=_share([q.refused for q in absent]),
        auroc_answerable=_aurocs(questions, [q.answerable for q in questions]),
        auroc_right=_aurocs(kept, [q.right for q in kept]),
        points=risk_coverage(questions),
        area=area(questions),
    )


def risk_coverage(questions: Sequence[Told]) -> tuple[Point, ...]:
    """A point for each level that occurs, the highest first; refusals are never shown."""
    points = []
    for level in range(len(LEVELS) - 1, 0, -1):
        shown = [q for q in questions if q.level >= level]
        if any(q.level == level for q in shown):
            risk = sum(not q.right for q in shown) / len(shown)
            points.append(Point(level, len(shown) / len(questions), risk))
    return tuple(points)


def area(questions: Sequence[Told]) -> float | None:
    """By confidence, then by score; among equals as many wrong as they have on average."""
    shown = sorted((q for q in questions if not q.refused), key=_strength, reverse=True)
    wrong_before, before = 0, 0
    risks: list[float] = []
    for _, group in groupby(shown, key=_strength):
        equals = list(group)
        wrong = sum(not q.right for q in equals)
        risks += [
            (wrong_before + wrong * k / len(equals)) / (before + k)
            for k in range(1, len(equals) + 1)
        ]
        wrong_before, before = wrong_before + wrong, before + len(equals)
    return sum(risks) / len(risks) if risks else None


def _strength(question: Told) -> tuple[int, float]:
    return question.level, question.score


def _aurocs(
    questions: Sequence[Told], positive: Sequence[bool]
) -> tuple[float | None, float | None]:
    pairs = list(zip(questions, positive, strict=True))
    good = [q for q, yes in pairs if yes]
    bad = [q for q, yes in pairs if not yes]
    if not good or not bad:
        return None, None
    return (
        area_under_roc([float(q.level) for q in good], [float(q.level) for q in bad]),
        area_under_roc([q.score for q in good], [q.score for q in bad]),
    )


def _share(flags: Sequence[bool]) -> float | None:
    return sum(flags) / len(flags) if flags else None
