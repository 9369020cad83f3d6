"""Result files of answers: numbers only, beside those of retrieval in the suite's folder.

`answers-<name>.json` holds for each answerable question, in the order of `questions.json`, every
measure (null where labels say nothing), confidence and score; for the unanswerable ones whether
they were refused comes from confidence too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from askem.evaluation.answers.asking import Answered
from askem.evaluation.answers.measures import NAMES, RIGHT, mean, measure
from askem.evaluation.answers.selective import LEVELS, Told
from askem.evaluation.config import AnswersConfig
from askem.evaluation.gold import GoldIds
from askem.evaluation.results import (
    DIGITS,
    Labels,
    StaleResult,
    last_commit,
    read_file,
    write_file,
)
from askem.evaluation.sets import EvalSet
from askem.http.answers import SnapshotOut

PREFIX = "answers-"


@dataclass(frozen=True, slots=True)
class AnswersResult:
    """What one model's answers came to. Sequences are parallel to the labels' questions, those of
    the unanswerable to one another."""

    config: AnswersConfig
    manifest: Mapping[str, Any]
    measures: Mapping[str, Sequence[float | None]]
    levels: Sequence[int]
    """Of confidence, indices into LEVELS; 0 is a refusal."""
    scores: Sequence[float]
    absent_ids: Sequence[str]
    absent_kinds: Sequence[str]
    absent_levels: Sequence[int]
    absent_scores: Sequence[float]
    other_corpus: bool = False
    """Whether a server elsewhere held something else than the suite's searches were of."""

    def mean(self, name: str) -> float | None:
        return mean(self.measures[name])

    @property
    def right(self) -> str:
        """The measure that tells right answers from wrong ones."""
        return next(name for name in RIGHT if None not in self.measures[name])

    def told(self) -> list[Told]:
        """All questions, the answerable first."""
        right = self.measures[self.right]
        answerable = zip(right, self.levels, self.scores, strict=True)
        absent = zip(self.absent_levels, self.absent_scores, strict=True)
        return [
            *(Told(True, value == 1.0, level, score) for value, level, score in answerable),
            *(Told(False, level == 0, level, score) for level, score in absent),
        ]


def result_of(
    config: AnswersConfig,
    labelled: EvalSet,
    gold: GoldIds,
    answered: Sequence[Answered],
    manifest: Mapping[str, Any],
) -> AnswersResult:
    """`answered`: one for each question of the set, in its order."""
    pairs = list(zip(labelled.questions, answered, strict=True))
    there = [(q, one.answer) for q, one in pairs if not q.unanswerable]
    absent = [(q, one.answer) for q, one in pairs if q.unanswerable]
    values = [measure(q, gold, answer, labelled.unit) for q, answer in there]
    return AnswersResult(
        config=config,
        manifest=manifest,
        measures={name: [_rounded(of[name]) for of in values] for name in NAMES},
        levels=[LEVELS.index(answer.confidence) for _, answer in there],
        scores=[round(answer.score, DIGITS) for _, answer in there],
        absent_ids=[q.id for q, _ in absent],
        absent_kinds=[q.kind for q, _ in absent],
        absent_levels=[LEVELS.index(answer.confidence) for _, answer in absent],
        absent_scores=[round(answer.score, DIGITS) for _, answer in absent],
    )


def manifest_of(snapshot: SnapshotOut, labels: Labels, stopped: int) -> dict[str, Any]:
    """`stopped`: how many answers a limit cut short."""
    corpus = snapshot.model_dump(mode="json")
    encoder = corpus.pop("encoder_id")
    return {
        "corpus": corpus,
        "encoder": encoder,
        "questions": labels.digest,
        "stopped": stopped,
        "commit": last_commit(),
    }


def write_answers_result(folder: Path, result: AnswersResult) -> Path:
    path = folder / f"{PREFIX}{result.config.name}.json"
    content = {
        "config": result.config.model_dump(mode="json"),
        "manifest": dict(result.manifest),
        "measures": {name: list(values) for name, values in result.measures.items()},
        "confidence": list(result.levels),
        "score": list(result.scores),
        "unanswerable": {
            "ids": list(result.absent_ids),
            "kinds": list(result.absent_kinds),
            "confidence": list(result.absent_levels),
            "score": list(result.absent_scores),
        },
    }
    write_file(path, content)
    return path


def read_answers_results(folder: Path, labels: Labels, corpus: str) -> list[AnswersResult]:
    """Every result of answers in a suite's folder, by name. `corpus`: the digest of what the
    suite's default searched. Raises StaleResult where one is of another name than its file, of
    other questions, or of another corpus, unless a server elsewhere was asked."""
    return [_read(path, labels, corpus) for path in sorted(folder.glob(f"{PREFIX}*.json"))]


def _read(path: Path, labels: Labels, corpus: str) -> AnswersResult:
    content = read_file(path)
    again = "run `askem eval answers`"
    try:
        absent = content["unanswerable"]
        result = AnswersResult(
            config=AnswersConfig.model_validate(content["config"]),
            manifest=content["manifest"],
            measures=content["measures"],
            levels=content["confidence"],
            scores=content["score"],
            absent_ids=absent["ids"],
            absent_kinds=absent["kinds"],
            absent_levels=absent["confidence"],
            absent_scores=absent["score"],
        )
        questions, searched = content["manifest"]["questions"], content["manifest"]["corpus"]
    except (KeyError, TypeError, ValueError) as error:
        raise StaleResult(f"{path} is not of this version ({error}): {again}") from error
    if path.name != f"{PREFIX}{result.config.name}.json":
        raise StaleResult(f"{path} holds the answers of {result.config.name}: {again}")
    if questions != labels.digest:
        raise StaleResult(f"{path} was measured on other questions: {again}")
    other = searched["digest"] != corpus
    if other and not result.config.elsewhere:
        raise StaleResult(f"{path} was measured on another corpus than the searches: {again}")
    columns = (*result.measures.values(), result.levels, result.scores)
    if set(result.measures) != set(NAMES) or {len(c) for c in columns} != {len(labels.ids)}:
        raise StaleResult(f"{path} does not hold a value for each question: {again}")
    return replace(result, other_corpus=other)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)
