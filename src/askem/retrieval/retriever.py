"""The way of a question: screen, encode and steer, search, rank. Pure orchestration over ports."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace

import numpy as np

from askem.errors import BackendUnavailable
from askem.models import DenseHits, Hit, Question, Repair, Screened, SearchResult, Vector
from askem.ports import DenseIndex, Encoder, PassageReader, SparseIndex
from askem.retrieval.clock import Clock
from askem.retrieval.ranking import rank
from askem.retrieval.repair import Reading, readings, repaired, respelt, surface
from askem.retrieval.steering import move_away_from, move_to
from askem.text.analysis import question_terms


class Retriever:
    """Answers questions with passages. Thread-safe where its ports are; methods block."""

    def __init__(
        self,
        *,
        encoder: Encoder,
        sparse: SparseIndex,
        dense: DenseIndex,
        reader: PassageReader,
        executor: Executor | None = None,
    ) -> None:
        """`executor`, where given, encodes the question while the sparse leg screens; it must
        not be the one that runs this object's methods."""
        self._encoder = encoder
        self._sparse = sparse
        self._dense = dense
        self._reader = reader
        self._executor = executor

    def vector(self, question: Question) -> SearchResult:
        """Dense search: the passages nearest to the (steered) question; score = 1 - distance."""
        clock = Clock()
        with clock.stage("encode"):
            vector = self.steered_vector(question)
        with clock.stage("dense"):
            found = self._dense.search(vector, question.top_k, question.filters)
        with clock.stage("rank"):
            hits = self._nearest(found, question)
        return SearchResult(
            hits=hits, timings_ms=clock.finish(), nearest_distance=_first_distance(found)
        )

    def hybrid(self, question: Question) -> SearchResult:
        """Keyword screening, then dense search and ranking within what was screened.

        A question without any content word cannot be screened: it is answered by distance over
        the whole corpus, and `screened` is None. Where the question allows it, one leg answers
        alone while the other's engine cannot: by distance, or by BM25 without distances, to which
        no cut of distance applies.

        Words that the corpus does not have are read as others, where the question allows it, and
        looked for once more; the vector is then that of the text with the words it was read as.
        """
        terms = question_terms(question.text)
        if not terms:
            return self.vector(question)
        clock = Clock()
        encoding = self._executor.submit(self._timed_vector, question) if self._executor else None
        try:
            terms, screened, read = self._screen(question, terms, clock)
        except BackendUnavailable as error:
            if not question.allow_degraded:
                raise
            return replace(self.vector(question), degraded=(error.backend,))
        if read:
            # What was begun beside the screening has its misspelt words.
            vector, spent = self._timed_vector(replace(question, text=respelt(question.text, read)))
        else:
            vector, spent = encoding.result() if encoding else self._timed_vector(question)
        clock.add("encode", spent)
        ids = screened.passage_ids
        degraded: tuple[str, ...] = ()
        nearest: float | None = None
        try:
            with clock.stage("dense"):
                found = self._dense.search(vector, max(len(ids), 1), question.filters, within=ids)
            if question.nearest:
                with clock.stage("nearest"):
                    nearest = _first_distance(self._dense.search(vector, 1, question.filters))
        except BackendUnavailable as error:
            if not question.allow_degraded:
                raise
            degraded = (error.backend,)
            with clock.stage("rank"):
                hits = self._by_bm25(question, screened)
        else:
            with clock.stage("rank"):
                hits = self._ranked(question, screened, found)
        return SearchResult(
            hits=hits,
            timings_ms=clock.finish(),
            screened=len(ids),
            terms=tuple(terms),
            unknown_terms=_unknown(terms, screened),
            idf=tuple(screened.idf.tolist()),
            repairs=_repairs(question.text, read, hits),
            nearest_distance=nearest,
            score_scale=float(screened.idf.sum()),
            degraded=degraded,
        )

    def _screen(
        self, question: Question, terms: list[str], clock: Clock
    ) -> tuple[list[str], Screened, list[Reading]]:
        """The terms that were looked for in the end, what they found, and how words were read."""
        limit, filters = question.screening_top_k, question.filters
        with clock.stage("sparse"):
            screened = self._sparse.screen(terms, limit, filters)
        unknown = _unknown(terms, screened)
        if not (question.repair and unknown):
            return terms, screened, []
        with clock.stage("repair"):
            read = readings(question.text, unknown, self._sparse.vocabulary)
            if read:
                terms = repaired(terms, read)
                screened = self._sparse.screen(terms, limit, filters)
        return terms, screened, read

    def steered_vector(self, question: Question) -> Vector:
        """The question's vector, moved by its steering; shape (dimension,), not renormalised."""
        steering = question.steering
        vector = self._encoder.encode_question(question.text)
        if steering.move_to and steering.move_to_weight > 0:
            target = self._encoder.encode_question(steering.move_to)
            vector = move_to(vector, target, steering.move_to_weight)
        if steering.move_away_from and steering.move_away_from_weight > 0:
            target = self._encoder.encode_question(steering.move_away_from)
            vector = move_away_from(vector, target, steering.move_away_from_weight)
        return vector

    def _timed_vector(self, question: Question) -> tuple[Vector, float]:
        start = time.perf_counter()
        vector = self.steered_vector(question)
        return vector, (time.perf_counter() - start) * 1e3

    def _nearest(self, found: DenseHits, question: Question) -> list[Hit]:
        places = [
            _Place(passage_id, 1.0 - float(distance), float(distance), dense_rank=i + 1)
            for i, (passage_id, distance) in enumerate(
                zip(found.passage_ids, found.distances, strict=True)
            )
        ]
        return self._fetch(places, question)

    def _ranked(self, question: Question, screened: Screened, found: DenseHits) -> list[Hit]:
        """Screened passages that the dense leg knows too, best first; ties by distance, then id."""
        row_of = {passage_id: row for row, passage_id in enumerate(screened.passage_ids)}
        rows = np.array([row_of[passage_id] for passage_id in found.passage_ids], dtype=np.intp)
        scores = rank(question.ranking, screened, rows, found.distances)
        places = [
            _Place(
                passage_id=found.passage_ids[i],
                score=float(scores[i]),
                distance=float(found.distances[i]),
                bm25=float(screened.bm25[row]),
                sparse_rank=int(row) + 1,
                dense_rank=i + 1,
            )
            for i, row in enumerate(rows)
        ]
        places.sort(key=lambda place: (-place.score, place.distance, place.passage_id))
        return self._fetch(places, question)

    def _by_bm25(self, question: Question, screened: Screened) -> list[Hit]:
        """The sparse leg's own order; score = BM25."""
        places = [
            _Place(passage_id, float(bm25), None, bm25=float(bm25), sparse_rank=row + 1)
            for row, (passage_id, bm25) in enumerate(
                zip(screened.passage_ids, screened.bm25, strict=True)
            )
        ]
        return self._fetch(places, question)

    def _fetch(self, places: list[_Place], question: Question) -> list[Hit]:
        limit = np.inf if question.max_distance is None else question.max_distance + _SLACK
        near = [p for p in places if p.distance is None or p.distance <= limit]
        kept = near[: question.top_k]
        passages = self._reader.passages([place.passage_id for place in kept])
        return [
            Hit(
                passage=passages[place.passage_id],
                score=place.score,
                distance=place.distance,
                bm25=place.bm25,
                sparse_rank=place.sparse_rank,
                dense_rank=place.dense_rank,
            )
            # A passage deleted since the legs were asked is no longer an answer.
            for place in kept
            if place.passage_id in passages
        ]


def _unknown(terms: Sequence[str], screened: Screened) -> tuple[str, ...]:
    return tuple(t for t, n in zip(terms, screened.document_frequency, strict=True) if n == 0)


def _first_distance(found: DenseHits) -> float | None:
    return float(found.distances[0]) if len(found.distances) else None


def _repairs(text: str, read: Sequence[Reading], hits: Sequence[Hit]) -> tuple[Repair, ...]:
    """In words that a reader knows again: as the hits write them, where they do."""
    passages = [hit.passage.text for hit in hits]
    return tuple(Repair(text[r.start : r.end], surface(r, passages)) for r in read)


_SLACK = 1e-6
"""Thresholds on distance are inclusive, as Weaviate's are, with its tolerance."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A hit before its passage is fetched."""

    passage_id: str
    score: float
    distance: float | None
    bm25: float | None = None
    sparse_rank: int | None = None
    dense_rank: int | None = None
