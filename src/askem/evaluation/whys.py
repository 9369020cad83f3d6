"""What `/explain` would say of a question that went wrong: where its gold stands, and why."""

from __future__ import annotations

from collections.abc import Mapping

from askem.errors import NotFound
from askem.evaluation.gold import GoldIds
from askem.evaluation.running import Record
from askem.evaluation.sets import EvalSet
from askem.evaluation.systems import Explain
from askem.retrieval.explain import Explanation

WORST = 25


def whys(
    labelled: EvalSet,
    gold: GoldIds,
    records: Mapping[str, Record],
    values: Mapping[str, float],
    explain: Explain,
) -> dict[str, tuple[str, ...]]:
    """For the worst questions, a line for each gold entry; empty where labels name papers."""
    if labelled.unit == "paper":
        return {}
    wrong = sorted((q for q in labelled.answerable if values[q.id] < 1), key=lambda q: values[q.id])
    return {
        q.id: tuple(
            _explained(explain, q.question, _best(right, records[q.id]))
            for right in gold[q.id]
            if right
        )
        for q in wrong[:WORST]
    }


def _best(right: frozenset[str], record: Record) -> str:
    """Of the right passages the one that was found first, else the first by name."""
    return next((name for name in record.ids if name in right), min(right))


def _explained(explain: Explain, question: str, passage_id: str) -> str:
    try:
        return _line(explain(question, passage_id))
    except NotFound:
        return "the passage is not in this index: the preprocessor tears the gold apart"


def _line(why: Explanation) -> str:
    parts = [why.passage.passage_id]
    if why.sparse is None:
        parts.append("the question has no content word")
    elif not why.sparse.screened:
        reached = why.sparse.last_screened
        last = "" if reached is None else f", the last screened {reached:.2f}"
        parts.append(f"not screened (BM25 {why.sparse.bm25:.2f}{last})")
    else:
        shares = ", ".join(f"{t.term} {t.share:.2f}" for t in why.sparse.terms if t.tf)
        parts.append(f"BM25 {why.sparse.bm25:.2f}, rank {why.sparse.rank}: {shares}")
    parts.append(f"distance {why.dense.distance:.3f}, rank {why.dense.rank or '-'}")
    if why.ranking is not None:
        parts.append(f"score {why.ranking.score:.3f}, rank {why.ranking.rank}")
    return "; ".join(parts)
