"""Retrieval measures by question, by `ir_measures`; the qrels set the denominator."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import ir_measures
from ir_measures import RR, Qrel, R, ScoredDoc, nDCG

Qrels = Mapping[str, Mapping[str, int]]
"""Question id to document id to relevance (> 0 is relevant)."""
Run = Mapping[str, Sequence[str]]
"""Question id to document ids, best first."""

MEASURES = {
    "nDCG@10": nDCG @ 10,
    **{f"R@{k}": R @ k for k in (1, 3, 5, 10, 100)},
    "MRR@10": RR @ 10,
}


def by_question(run: Run, qrels: Qrels) -> dict[str, dict[str, float]]:
    """Measure to question to value, 0..1. A judged question without results counts as 0; a
    question without a relevant document is left out, as there is nothing to find."""
    judged = {q: docs for q, docs in qrels.items() if any(grade > 0 for grade in docs.values())}
    values = {name: dict.fromkeys(judged, 0.0) for name in MEASURES}
    names = {measure: name for name, measure in MEASURES.items()}
    found = ir_measures.iter_calc(list(MEASURES.values()), _qrels(judged), _scored(run, judged))
    for metric in found:
        values[names[metric.measure]][metric.query_id] = float(metric.value)
    return values


def means(values: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """The mean of each measure over all its questions."""
    return {name: sum(of.values()) / len(of) if of else 0.0 for name, of in values.items()}


def _qrels(judged: Qrels) -> list[Qrel]:
    return [Qrel(q, doc, grade) for q, docs in judged.items() for doc, grade in docs.items()]


def _scored(run: Run, judged: Iterable[str]) -> list[ScoredDoc]:
    # Scores from ranks: evaluators break ties in scores their own way.
    return [
        ScoredDoc(q, doc, -float(rank))
        for q in judged
        for rank, doc in enumerate(dict.fromkeys(run.get(q, ())))
    ]
