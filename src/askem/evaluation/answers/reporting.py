"""The answers' part of the report: each model's figures, its curve, and its worst answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from askem.evaluation.answers.folder import Kept, read_answers
from askem.evaluation.answers.results import PREFIX, AnswersResult
from askem.evaluation.answers.selective import LEVELS, Selective, selective
from askem.evaluation.answers.tables import label, refusing
from askem.evaluation.judge.judging import Judged, read_judged

WORST = 25


@dataclass(frozen=True, slots=True)
class AnswersSection:
    """What the template shows of one result of answers."""

    result: AnswersResult
    found: Selective
    worst: tuple[Kept, ...]
    """Empty where the run is not in the cache, as `judged` is None."""
    judged: Judged | None

    @property
    def label(self) -> str:
        return label(self.result)

    @property
    def refusing(self) -> list[str]:
        return refusing(self.result, self.found)

    @property
    def curve(self) -> list[tuple[str, float, float]]:
        """Least confidence shown, coverage, risk."""
        return [(str(LEVELS[p.level]), p.coverage, p.risk) for p in self.found.points]


def sections(results: Sequence[AnswersResult], runs: Path) -> list[AnswersSection]:
    """`runs`: the cache's folder of the suite's runs. Raises InvalidInput for a run that cannot
    be read."""
    return [_section(result, runs / f"{PREFIX}{result.config.name}") for result in results]


def worst_of(kept: Sequence[Kept], right: str) -> tuple[Kept, ...]:
    """Wrong answers, the most confident first, and unanswerable questions that were answered."""
    wrong = [one for one in kept if _is_wrong(one, right)]
    refused = [one for one in kept if one.refused and not one.unanswerable]
    wrong.sort(key=lambda one: (-LEVELS.index(one.confidence), -one.score, one.id))
    return (*wrong, *sorted(refused, key=lambda one: (-one.score, one.id)))[:WORST]


def _is_wrong(kept: Kept, right: str) -> bool:
    """An unanswerable question has no measures."""
    return not kept.refused and kept.measures.get(right, 0.0) < 1.0


def _section(result: AnswersResult, folder: Path) -> AnswersSection:
    kept = read_answers(folder) if folder.is_dir() else []
    return AnswersSection(
        result=result,
        found=selective(result.told()),
        worst=worst_of(kept, result.right),
        judged=read_judged(folder),
    )
