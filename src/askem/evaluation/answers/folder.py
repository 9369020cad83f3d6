"""A run of answers on disk: what `compare` reads, and all that was said, for people.

Unlike result files it holds texts, and stays in the cache.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from askem.errors import InvalidInput
from askem.evaluation.answers.asking import Answered
from askem.evaluation.answers.client import Answer
from askem.evaluation.answers.measures import measure
from askem.evaluation.config import AnswersConfig
from askem.evaluation.gold import GoldIds
from askem.evaluation.runfolder import Asked, write_head, write_lines, write_timings
from askem.evaluation.sets import EvalSet, LabelledQuestion

_ANSWERS = "answers.jsonl"


@dataclass(frozen=True, slots=True)
class Kept:
    """One line of `answers.jsonl`: a question, what labels want, and what came back."""

    id: str
    question: str
    kind: str
    unanswerable: bool
    gold_answer: str | None
    gold: tuple[tuple[str, ...], ...]
    measures: dict[str, float]
    """Those that the labels allow; empty for an unanswerable question."""
    answer: str
    refused: bool
    reason: str | None
    confidence: str | None
    score: float
    stopped: str | None
    sentences: tuple[dict[str, Any], ...]
    """text, verdict, citations (passage_id, quote, start, end)."""
    used_docs: tuple[str, ...]
    passages: tuple[str, ...]
    """Texts of `used_docs`."""
    steps: tuple[dict[str, Any], ...]
    usage: dict[str, Any]


def write_answers(
    folder: Path,
    suite: Path,
    config: AnswersConfig,
    labelled: EvalSet,
    gold: GoldIds,
    answered: Sequence[Answered],
) -> list[Kept]:
    """The same answers give the same files, `timings.json` aside."""
    folder.mkdir(parents=True, exist_ok=True)
    write_head(folder, suite, config)
    pairs = list(zip(labelled.questions, answered, strict=True))
    kept = [_kept(q, gold, one.answer, labelled) for q, one in pairs]
    write_lines(folder / _ANSWERS, map(asdict, kept))
    write_lines(folder / "questions.jsonl", map(asdict, map(_asked, kept, pairs)))
    write_timings(folder, {one.question_id: one.milliseconds for one in answered})
    return kept


def read_answers(folder: Path) -> list[Kept]:
    """Raises InvalidInput where the folder does not hold a run of answers."""
    try:
        lines = (folder / _ANSWERS).read_text(encoding="utf-8").splitlines()
        return [Kept(**json.loads(line)) for line in lines]
    except (OSError, ValueError, TypeError) as error:
        raise InvalidInput(
            str(folder), f"holds no run of `askem eval answers` ({error})"
        ) from error


def _kept(question: LabelledQuestion, gold: GoldIds, answer: Answer, labelled: EvalSet) -> Kept:
    values = {} if question.unanswerable else measure(question, gold, answer, labelled.unit)
    return Kept(
        id=question.id,
        question=question.question,
        kind=question.kind,
        unanswerable=question.unanswerable,
        gold_answer=question.answer,
        gold=tuple(tuple(sorted(ids)) for ids in gold.get(question.id, ())),
        measures={name: round(v, 4) for name, v in values.items() if v is not None},
        answer=answer.answer,
        refused=answer.refused,
        reason=answer.reason,
        confidence=answer.confidence,
        score=round(answer.score, 6),
        stopped=answer.stopped,
        sentences=tuple(sentence.model_dump(mode="json") for sentence in answer.sentences),
        used_docs=tuple(doc.passage_id for doc in answer.used_docs),
        passages=tuple(doc.text for doc in answer.used_docs),
        steps=tuple(_timeless(answer)),
        usage=answer.usage,
    )


def _timeless(answer: Answer) -> Iterator[dict[str, Any]]:
    for step in answer.steps:
        yield {name: value for name, value in step.items() if name != "ms"}


def _asked(kept: Kept, pair: tuple[LabelledQuestion, Answered]) -> Asked:
    question, answered = pair
    return Asked(
        id=kept.id,
        question=kept.question,
        kind=kept.kind,
        cluster=question.group,
        unanswerable=kept.unanswerable,
        gold=kept.gold,
        measures=kept.measures,
        hits=tuple((d.passage_id, round(d.score, 6)) for d in answered.answer.used_docs),
        score_scale=None,
    )
