"""Why a passage stands where it stands for a question, or why it is not there at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from askem.errors import NotFound
from askem.models import DenseHits, Filters, Passage, Question, Screened, Vector
from askem.ports import DenseIndex, PassageReader, SparseIndex
from askem.retrieval.placing import by_ranking, is_within, rows_of
from askem.retrieval.ranking import RRF_K, Weights, min_max_of, term_proximity

EVERYTHING = 10_000
"""How deep a passage beyond the screening is looked for."""


@dataclass(frozen=True, slots=True)
class TermShare:
    """One term's share of a passage's BM25: idf tf / (tf + norm)."""

    term: str
    tf: int
    document_frequency: int
    idf: float
    share: float


@dataclass(frozen=True, slots=True)
class SparseView:
    """The passage in the sparse leg."""

    bm25: float
    """The sum of the terms' shares."""
    terms: tuple[TermShare, ...]
    length: int
    """Content tokens of the passage; 0 where it has none of the terms."""
    norm: float
    """k1 (1 - b + b length / mean length), in every term's denominator."""
    rank: int | None
    """By BM25 under the filters, from 1; None beyond the first 10,000 and without any term."""
    screened: bool
    """Whether the screening handed it on."""
    last_screened: float | None
    """BM25 of the last passage that was handed on: what had to be reached."""


@dataclass(frozen=True, slots=True)
class DenseView:
    """The passage in the dense leg. Distances are cosine distances, 0..2."""

    distance: float
    """To the steered question."""
    unsteered: float
    """To the question as it was asked."""
    rank: int | None
    """By distance among what was ranked, from 1."""
    joined: bool
    """Whether it was ranked without having been screened, as one of the nearest."""


@dataclass(frozen=True, slots=True)
class RankingView:
    """The ranking's arithmetic: `parts` in words and figures, which give the score."""

    ranking: str
    score: float
    rank: int
    """From 1, among what was ranked, the cut of distance aside."""
    parts: dict[str, float]


@dataclass(frozen=True, slots=True)
class Explanation:
    passage: Passage
    excluded_by: tuple[str, ...]
    """Fields of the filters that keep the passage out."""
    beyond_distance: bool
    """Whether the cut of distance keeps it out."""
    sparse: SparseView | None
    """None for a question without content words, which is not screened."""
    dense: DenseView
    ranking: RankingView | None
    """None where the passage was neither screened nor joined."""


@dataclass(frozen=True, slots=True)
class AsRead:
    """The question as both legs were asked, misspelt words read as others."""

    terms: Sequence[str]
    screened: Screened
    candidates: Screened
    """What was ranked: `screened` and, after it, what joined by its distance."""
    vector: Vector
    unsteered: Vector


def explain(
    question: Question,
    passage_id: str,
    reading: AsRead,
    *,
    sparse: SparseIndex,
    dense: DenseIndex,
    reader: PassageReader,
    weights: Weights,
) -> Explanation:
    """Blocks; some three to six searches. Raises NotFound, BackendUnavailable."""
    passage = reader.passages([passage_id]).get(passage_id)
    if passage is None:
        raise NotFound("no passage has this id")
    screened, candidates = reading.screened, reading.candidates
    ids = candidates.passage_ids
    near = dense.search(reading.vector, max(len(ids), 1), question.filters, within=ids)
    distance = _distance(dense, reading.vector, passage_id)
    view = _sparse_view(question, passage_id, reading.terms, screened, sparse)
    return Explanation(
        passage=passage,
        excluded_by=excluded_by(passage, question.filters),
        beyond_distance=not is_within(distance, question.max_distance),
        sparse=view if reading.terms else None,
        dense=DenseView(
            distance=distance,
            unsteered=_distance(dense, reading.unsteered, passage_id),
            rank=_place(near.passage_ids, passage_id),
            joined=passage_id in ids[len(screened.passage_ids) :],
        ),
        ranking=_ranking_view(question, passage_id, reading, near, weights),
    )


def excluded_by(passage: Passage, filters: Filters) -> tuple[str, ...]:
    """The fields of `filters` that the passage does not pass."""
    passes = {
        "topic": filters.topic is None or filters.topic in passage.topics,
        "doc_type": filters.doc_type in (None, passage.doc_type),
        "preprocessor_id": filters.preprocessor_id in (None, passage.preprocessor_id),
        "paragraph_terms": not filters.paragraph_terms
        or bool(set(filters.paragraph_terms) & set(passage.paragraph_terms)),
        "paper_ids": not filters.paper_ids or passage.paper_id in filters.paper_ids,
    }
    return tuple(f.name for f in fields(filters) if not passes[f.name])


def _distance(dense: DenseIndex, vector: Vector, passage_id: str) -> float:
    found = dense.search(vector, 1, Filters(), within=[passage_id])
    if not found.passage_ids:
        raise NotFound("this passage has no vector: `askem verify --repair` mends it")
    return float(found.distances[0])


def _sparse_view(
    question: Question,
    passage_id: str,
    terms: Sequence[str],
    screened: Screened,
    sparse: SparseIndex,
) -> SparseView:
    alone = sparse.screen(terms, 1, Filters(), within=[passage_id])
    counts = np.bincount(alone.hit_terms, minlength=len(terms))
    norm = float(alone.norms[0]) if alone.passage_ids else 0.0
    shares = tuple(
        TermShare(
            term=term,
            tf=int(tf),
            document_frequency=int(df),
            idf=float(idf),
            share=float(idf * tf / (tf + norm)) if tf else 0.0,
        )
        for term, tf, df, idf in zip(
            terms, counts, alone.document_frequency, alone.idf, strict=True
        )
    )
    row = _place(screened.passage_ids, passage_id)
    if row is None and alone.passage_ids:
        deeper = sparse.screen(terms, EVERYTHING, question.filters)
        rank_found = _place(deeper.passage_ids, passage_id)
    else:
        rank_found = row
    return SparseView(
        bm25=float(alone.bm25[0]) if alone.passage_ids else 0.0,
        terms=shares,
        length=int(alone.lengths[0]) if alone.passage_ids else 0,
        norm=norm,
        rank=rank_found,
        screened=row is not None,
        last_screened=float(screened.bm25[-1]) if len(screened.bm25) else None,
    )


def _ranking_view(
    question: Question, passage_id: str, reading: AsRead, near: DenseHits, weights: Weights
) -> RankingView | None:
    handed_on = len(reading.screened.passage_ids)
    places = by_ranking(question.ranking, reading.candidates, handed_on, near, weights)
    found = ((at, place) for at, place in enumerate(places, 1) if place.passage_id == passage_id)
    at, place = next(found, (0, None))
    if place is None:
        return None
    return RankingView(
        ranking=question.ranking,
        score=place.score,
        rank=at,
        parts=_parts(question.ranking, reading.candidates, near, passage_id, weights),
    )


def _parts(
    ranking: str, screened: Screened, near: DenseHits, passage_id: str, weights: Weights
) -> dict[str, float]:
    """The named quantities that the ranking's formula puts together for the passage."""
    row, at = screened.passage_ids.index(passage_id), near.passage_ids.index(passage_id)
    cosine = 1.0 - float(near.distances[at])
    bm25 = float(screened.bm25[row])
    if ranking == "proximity":
        clusters, pairs = term_proximity(screened, weights.kernel_width)
        return {
            "bm25": bm25,
            "cluster": float(clusters[row]),
            "pairs": float(pairs[row]),
            "pair_weight": weights.pair,
            "scale": float(screened.idf.sum()),
            "cosine": cosine,
            "cosine_weight": weights.cosine,
        }
    if ranking == "blend":
        rows = rows_of(screened, near)
        return {
            "bm25": bm25,
            "bm25_normalised": float(min_max_of(screened.bm25[rows])[at]),
            "cosine": cosine,
            "cosine_normalised": float(min_max_of(-near.distances)[at]),
            "dense_weight": weights.blend_dense,
        }
    if ranking == "rrf":
        return {"sparse_rank": row + 1.0, "dense_rank": at + 1.0, "k": float(RRF_K)}
    return {"cosine": cosine}


def _place(ids: Sequence[str], passage_id: str) -> int | None:
    return ids.index(passage_id) + 1 if passage_id in ids else None
