"""Wire models to the library's values and back: pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Literal, TypeVar
from urllib.parse import quote

from pydantic import TypeAdapter

from askem.http import wire
from askem.models import (
    CorpusSnapshot,
    Filters,
    Hit,
    PaperSummary,
    Passage,
    Question,
    Ranking,
    SearchResult,
    Steering,
    TopicCount,
)
from askem.retrieval.explain import Explanation
from askem_retriever.settings import RetrieverSettings

HITS = TypeAdapter(list[wire.PassageOut])
TOPICS = TypeAdapter(list[wire.TopicOut])

_Value = TypeVar("_Value")


def to_question(
    request: wire.VectorRequest, settings: RetrieverSettings, *, nearest: bool = False
) -> Question:
    """`request` with the configured defaults filled in and its topic made canonical.

    `nearest`: whether the answer tells the nearest passage's distance.
    """
    return Question(
        text=request.question,
        top_k=request.top_k,
        filters=Filters(
            topic=None if request.topic is None else settings.canonical_topic(request.topic),
            doc_type=request.doc_type,
            preprocessor_id=request.preprocessor_id,
            paragraph_terms=tuple(dict.fromkeys(request.paragraph_terms)),
            paper_ids=tuple(dict.fromkeys(request.paper_ids)),
        ),
        steering=Steering(
            move_to=request.move_to,
            move_to_weight=_weight(request.move_to, request.move_to_weight),
            move_away_from=request.move_away_from,
            move_away_from_weight=_weight(request.move_away_from, request.move_away_from_weight),
        ),
        max_distance=settings.max_distance if request.distance is None else request.distance,
        nearest=nearest,
        **(_hybrid_fields(request, settings) if isinstance(request, wire.HybridRequest) else {}),
    )


def _hybrid_fields(request: wire.HybridRequest, settings: RetrieverSettings) -> dict[str, Any]:
    """What a question asks of `/hybrid` alone."""
    return {
        "screening_top_k": request.screening_top_k,
        "nearest_top_k": _or(request.nearest_top_k, settings.nearest_top_k),
        "rerank_top_k": _or(
            request.rerank_top_k, settings.rerank_top_k if settings.reranker else 0
        ),
        "ranking": _or(request.ranking, settings.ranking),
        "allow_degraded": request.allow_degraded,
        "repair": _or(request.repair, settings.repair),
    }


def _or(asked: _Value | None, configured: _Value) -> _Value:
    return configured if asked is None else asked


def _weight(concept: str | None, weight: float | None) -> float:
    if concept is None:
        return 0.0
    return wire.DEFAULT_WEIGHT if weight is None else weight


def stored(passage: Passage) -> wire.StoredPassage:
    return wire.StoredPassage.model_construct(**_passage_fields(passage))


def hits_json(result: SearchResult) -> bytes:
    """The bare list that `/vector` and `/hybrid` answer."""
    return HITS.dump_json(
        [
            wire.PassageOut.model_construct(
                **_passage_fields(hit.passage), distance=hit.distance, score=hit.score
            )
            for hit in result.hits
        ]
    )


def search_json(
    mode: wire.Mode, question: Question, result: SearchResult, snapshot: CorpusSnapshot | None
) -> bytes:
    """What `/search` answers, and `/hybrid` where it is asked to tell more."""
    # Values come from our own types: checking them again would cost more than the rest.
    answer = wire.SearchResponse.model_construct(
        hits=tuple(_search_hit(hit) for hit in result.hits),
        mode=mode,
        ranking=_ranking(question, result),
        filters=_filters_out(question.filters),
        max_distance=question.max_distance,
        steering=_steering_out(question.steering),
        screened=result.screened,
        nearest_top_k=question.nearest_top_k if mode == "hybrid" else 0,
        joined=result.joined,
        rerank_top_k=question.rerank_top_k if mode == "hybrid" else 0,
        reranked=result.reranked,
        terms=result.terms,
        idf=result.idf,
        unknown_terms=result.unknown_terms,
        repairs=tuple(wire.RepairOut(word=r.word, read_as=r.read_as) for r in result.repairs),
        score_scale=result.score_scale,
        nearest_distance=result.nearest_distance,
        timings_ms={stage: round(spent, 3) for stage, spent in result.timings_ms.items()},
        snapshot=None if snapshot is None else _snapshot_out(snapshot),
        degraded=result.degraded,
    )
    return answer.model_dump_json().encode()


def explanation_json(found: Explanation) -> bytes:
    """What `/explain` answers."""
    view = asdict(found) | {"passage": _passage_fields(found.passage)}
    return wire.ExplanationOut.model_validate(view).model_dump_json().encode()


def headers(result: SearchResult) -> dict[str, str]:
    """Server-Timing; Askem-Degraded where an engine could not answer; Askem-Repairs where words
    were read as others: `word=read_as`, commas between, percent-encoded UTF-8; Askem-Reranked
    where a reranker has read that many passages."""
    timing = ", ".join(f"{stage};dur={ms:.3f}" for stage, ms in result.timings_ms.items())
    degraded = {"Askem-Degraded": ", ".join(result.degraded)} if result.degraded else {}
    repairs = ", ".join(f"{_ascii(r.word)}={_ascii(r.read_as)}" for r in result.repairs)
    repaired = {"Askem-Repairs": repairs} if repairs else {}
    reranked = {"Askem-Reranked": str(result.reranked)} if result.reranked else {}
    return {"Server-Timing": timing, **degraded, **repaired, **reranked}


def _ascii(text: str) -> str:
    return quote(text, safe="")


def _ranking(question: Question, result: SearchResult) -> Ranking | Literal["bm25"]:
    if result.screened is None:
        return "distance"
    # The dense leg was asked last: only its engine can be out of a screened answer.
    without_distances = result.degraded and all(hit.distance is None for hit in result.hits)
    return "bm25" if without_distances else question.ranking


def _snapshot_out(snapshot: CorpusSnapshot) -> wire.SnapshotOut:
    return wire.SnapshotOut(
        papers=snapshot.papers,
        passages=snapshot.passages,
        digest=snapshot.digest,
        encoder_id=snapshot.encoder_id,
    )


def paper_out(paper: PaperSummary) -> wire.PaperOut:
    return wire.PaperOut.model_construct(**_paper_fields(paper))


def paper_detail(paper: PaperSummary, passages: Sequence[Passage]) -> wire.PaperDetail:
    found = tuple(stored(passage) for passage in passages)
    return wire.PaperDetail.model_construct(**_paper_fields(paper), passages=found)


def topics_json(topics: Sequence[TopicCount]) -> bytes:
    return TOPICS.dump_json(
        [wire.TopicOut(topic=t.topic, papers=t.papers, passages=t.passages) for t in topics]
    )


def _search_hit(hit: Hit) -> wire.SearchHit:
    return wire.SearchHit.model_construct(
        **_passage_fields(hit.passage),
        distance=hit.distance,
        score=hit.score,
        bm25=hit.bm25,
        sparse_rank=hit.sparse_rank,
        dense_rank=hit.dense_rank,
        rerank_score=hit.rerank_score,
    )


def _passage_fields(passage: Passage) -> dict[str, Any]:
    return {
        "paper_id": passage.paper_id,
        "doc_type": passage.doc_type,
        "text": passage.text,
        "cosmos_object_id": passage.cosmos_object_id,
        "article_terms": (),
        "paragraph_terms": passage.paragraph_terms,
        "passage_id": passage.passage_id,
        "topics": passage.topics,
        "preprocessor_id": passage.preprocessor_id,
        "order": passage.order,
    }


def _paper_fields(paper: PaperSummary) -> dict[str, Any]:
    return {
        "paper_id": paper.paper_id,
        "topics": paper.topics,
        "paragraphs": paper.paragraphs,
        "figures": paper.figures,
        "sections": paper.sections,
        "preprocessor_ids": paper.preprocessor_ids,
        "updated_at": paper.updated_at,
    }


def _filters_out(filters: Filters) -> wire.FiltersOut:
    return wire.FiltersOut(
        topic=filters.topic,
        doc_type=filters.doc_type,
        preprocessor_id=filters.preprocessor_id,
        paragraph_terms=filters.paragraph_terms,
        paper_ids=filters.paper_ids,
    )


def _steering_out(steering: Steering) -> wire.SteeringOut:
    return wire.SteeringOut(
        move_to=steering.move_to,
        move_to_weight=steering.move_to_weight,
        move_away_from=steering.move_away_from,
        move_away_from_weight=steering.move_away_from_weight,
    )
