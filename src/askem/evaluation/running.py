"""One configuration over one set of questions: what came back, measured."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from askem.evaluation.config import RunConfig
from askem.evaluation.gold import GoldIds, all_found
from askem.evaluation.measures import MEASURES, by_question
from askem.evaluation.sets import EvalSet, LabelledQuestion
from askem.evaluation.systems import Search
from askem.models import Filters, Hit

Progress = Callable[[int, int], None]
SUCCESS_AT = (1, 5)


@dataclass(frozen=True, slots=True)
class Record:
    """What one question brought: ids, best first, with the run's scores."""

    question_id: str
    ids: tuple[str, ...]
    scores: tuple[float, ...]
    score_scale: float | None
    """The question's idf mass; None where the sparse leg was not asked."""


@dataclass(frozen=True, slots=True)
class Run:
    """Everything measured of one configuration; but for the times the same on every repeat."""

    config: RunConfig
    records: tuple[Record, ...]
    """One for each question, unanswerable ones included, in the set's order."""
    measures: dict[str, dict[str, float]]
    """Measure to answerable question to value, 0..1."""
    milliseconds: dict[str, float] = field(compare=False)
    """Question to the wall time of its search."""


def run(
    config: RunConfig, labelled: EvalSet, gold: GoldIds, search: Search, progress: Progress
) -> Run:
    """Asks every question once, one after another. A question without results counts as 0."""
    records, spent = [], {}
    for done, question in enumerate(labelled.questions, start=1):
        start = time.perf_counter()
        found = search(question.question, Filters())
        spent[question.id] = (time.perf_counter() - start) * 1e3
        records.append(_record(question, labelled, found.hits, found.score_scale))
        progress(done, len(labelled.questions))
    return Run(config, tuple(records), measured(labelled, gold, records), spent)


def measured(
    labelled: EvalSet, gold: GoldIds, records: list[Record]
) -> dict[str, dict[str, float]]:
    """Every measure of `measures`, and success@k: whether the first k hold what is needed."""
    ids = {record.question_id: record.ids for record in records}
    qrels = {q.id: {doc: 1 for right in gold[q.id] for doc in right} for q in labelled.answerable}
    values = by_question({q: ids[q] for q in qrels}, qrels)
    for k in SUCCESS_AT:
        values[f"success@{k}"] = {
            q.id: float(all_found(q, gold, ids[q.id][:k])) for q in labelled.answerable
        }
    return {name: values[name] for name in (*MEASURES, *(f"success@{k}" for k in SUCCESS_AT))}


def _record(
    question: LabelledQuestion, labelled: EvalSet, hits: list[Hit], scale: float | None
) -> Record:
    best: dict[str, float] = {}
    for hit in hits:
        name = hit.passage.paper_id if labelled.unit == "paper" else hit.passage.passage_id
        # A paper counts by its best passage.
        best.setdefault(name, hit.score)
    return Record(question.id, tuple(best), tuple(round(s, 6) for s in best.values()), scale)
