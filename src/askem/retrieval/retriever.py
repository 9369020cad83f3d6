"""The way of a question: screen, encode and steer, search, rank. Pure orchestration over ports."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace

from askem.errors import BackendUnavailable, InvalidInput
from askem.models import DenseHits, Hit, Question, Repair, Screened, SearchResult, Vector
from askem.ports import DenseIndex, Encoder, PassageReader, SparseIndex
from askem.retrieval.clock import Clock
from askem.retrieval.explain import AsRead, Explanation, explain
from askem.retrieval.placing import Place, by_bm25, by_distance, by_ranking, within
from askem.retrieval.ranking import DEFAULT_WEIGHTS, Weights
from askem.retrieval.repair import Reading, readings, repaired, respelt, surface
from askem.retrieval.reranking import Reranking
from askem.retrieval.steering import move_away_from, move_to
from askem.retrieval.widening import Candidates, with_nearest
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
        weights: Weights = DEFAULT_WEIGHTS,
        reranking: Reranking | None = None,
    ) -> None:
        """`executor`, where given, encodes the question while the sparse leg screens; it must
        not be the one that runs this object's methods. Without `reranking`, questions that want
        it raise InvalidInput."""
        self._encoder = encoder
        self._sparse = sparse
        self._dense = dense
        self._reader = reader
        self._executor = executor
        self._weights = weights
        self._reranking = reranking

    def vector(self, question: Question) -> SearchResult:
        """Dense search: the passages nearest to the (steered) question; score = 1 - distance."""
        clock = Clock()
        with clock.stage("encode"):
            vector = self.steered_vector(question)
        with clock.stage("dense"):
            found = self._dense.search(vector, question.top_k, question.filters)
        with clock.stage("rank"):
            hits = self._fetch(by_distance(found), question, question.top_k)
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

        With `nearest_top_k`, the nearest passages are ranked beside the screened ones. With
        `rerank_top_k`, a model puts the best in its own order; scores stay the ranking's.
        """
        self._check(question)
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
        found = self._ranked(question, terms, vector, screened, clock)
        hits, reranked = found.hits, 0
        if self._reranking and question.rerank_top_k:
            with clock.stage("rerank"):
                text = respelt(question.text, read)
                hits, reranked = self._reranking.reordered(text, hits, question.rerank_top_k)
        hits = hits[: question.top_k]
        return SearchResult(
            hits=hits,
            timings_ms=clock.finish(),
            screened=found.candidates.handed_on,
            joined=found.candidates.joined,
            terms=tuple(terms),
            unknown_terms=_unknown(terms, screened),
            idf=tuple(screened.idf.tolist()),
            repairs=_repairs(question.text, read, hits),
            nearest_distance=found.nearest,
            score_scale=float(screened.idf.sum()),
            reranked=reranked,
            degraded=found.degraded,
        )

    def explain(self, question: Question, passage_id: str) -> Explanation:
        """Where `hybrid` puts a passage for `question`, and why. Raises NotFound for an unknown
        passage, BackendUnavailable."""
        terms, screened, read = self._screen(question, question_terms(question.text), Clock())
        text = respelt(question.text, read)
        vector = self.steered_vector(replace(question, text=text))
        candidates = Candidates.of(screened)
        if terms and question.nearest_top_k:
            candidates = self._widened(question, terms, vector, screened)
        reading = AsRead(
            terms=terms,
            screened=screened,
            candidates=candidates.both,
            vector=vector,
            unsteered=self._encoder.encode_question(text),
        )
        return explain(
            question,
            passage_id,
            reading,
            sparse=self._sparse,
            dense=self._dense,
            reader=self._reader,
            weights=self._weights,
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

    def _ranked(
        self,
        question: Question,
        terms: list[str],
        vector: Vector,
        screened: Screened,
        clock: Clock,
    ) -> _Ranked:
        """The dense leg's part, and the ranking of both."""
        depth = max(question.top_k, question.rerank_top_k)
        try:
            candidates = Candidates.of(screened)
            if question.nearest_top_k:
                with clock.stage("widen"):
                    candidates = self._widened(question, terms, vector, screened)
            ids = candidates.both.passage_ids
            with clock.stage("dense"):
                found = self._dense.search(vector, max(len(ids), 1), question.filters, within=ids)
            nearest = candidates.nearest
            if question.nearest and not question.nearest_top_k:
                with clock.stage("nearest"):
                    nearest = _first_distance(self._dense.search(vector, 1, question.filters))
        except BackendUnavailable as error:
            if not question.allow_degraded:
                raise
            with clock.stage("rank"):
                hits = self._fetch(by_bm25(screened), question, depth)
            return _Ranked(hits, Candidates.of(screened), None, (error.backend,))
        with clock.stage("rank"):
            places = by_ranking(
                question.ranking, candidates.both, candidates.handed_on, found, self._weights
            )
            hits = self._fetch(places, question, depth)
        return _Ranked(hits, candidates, nearest)

    def _widened(
        self, question: Question, terms: list[str], vector: Vector, screened: Screened
    ) -> Candidates:
        return with_nearest(
            screened,
            terms,
            vector,
            question.nearest_top_k,
            question.filters,
            sparse=self._sparse,
            dense=self._dense,
        )

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

    def _check(self, question: Question) -> None:
        if question.rerank_top_k and self._reranking is None:
            raise InvalidInput(
                "rerank_top_k", "there is no reranker here: leave the field out, or send 0"
            )

    def _fetch(self, places: list[Place], question: Question, depth: int) -> list[Hit]:
        """The best `depth` within the question's cut of distance."""
        kept = within(places, question.max_distance)[:depth]
        passages = self._reader.passages([place.passage_id for place in kept])
        # A passage deleted since the legs were asked is no longer an answer.
        return [
            place.hit(passages[place.passage_id]) for place in kept if place.passage_id in passages
        ]


def _unknown(terms: Sequence[str], screened: Screened) -> tuple[str, ...]:
    return tuple(t for t, n in zip(terms, screened.document_frequency, strict=True) if n == 0)


def _first_distance(found: DenseHits) -> float | None:
    return float(found.distances[0]) if len(found.distances) else None


def _repairs(text: str, read: Sequence[Reading], hits: Sequence[Hit]) -> tuple[Repair, ...]:
    """In words that a reader knows again: as the hits write them, where they do."""
    passages = [hit.passage.text for hit in hits]
    return tuple(Repair(text[r.start : r.end], surface(r, passages)) for r in read)


@dataclass(frozen=True, slots=True)
class _Ranked:
    """The best candidates, a reranker's part still to come."""

    hits: list[Hit]
    candidates: Candidates
    nearest: float | None
    degraded: tuple[str, ...] = ()
