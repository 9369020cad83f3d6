"""The retriever's answers, as they travel."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from askem.models import DocType, Ranking

Mode = Literal["hybrid", "vector"]

SEARCH_MEDIA_TYPE = "application/vnd.askem.search+json"
"""What `/hybrid` answers with a SearchResponse as; its bare list is `application/json`."""


class AnswerModel(BaseModel):
    """An answer. Clients accept fields they do not know, so that servers can add some."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class StoredPassage(AnswerModel):
    """A passage as it is stored."""

    paper_id: str
    doc_type: DocType
    text: str
    cosmos_object_id: str | None = Field(description="The figure's object id; null otherwise.")
    article_terms: tuple[str, ...] = Field(default=(), description="Obsolete: always empty.")
    paragraph_terms: tuple[str, ...]
    passage_id: str
    topics: tuple[str, ...]
    preprocessor_id: str
    order: int = Field(ge=0, description="Position within its source, from 0.")


class PassageOut(StoredPassage):
    """A hit."""

    distance: float | None = Field(
        description="Cosine distance to the question, 0 to 2; lower is better. Null only in a "
        "degraded answer by BM25 alone."
    )
    score: float = Field(description="Higher is better; comparable within one ranking only.")


class SearchHit(PassageOut):
    """A hit with each leg's own figures; null where a leg did not reach the passage."""

    bm25: float | None
    sparse_rank: int | None = Field(description="Rank by BM25, from 1.")
    dense_rank: int | None = Field(description="Rank by distance, from 1.")
    rerank_score: float | None = Field(
        default=None,
        description="The reranker's: hits with one come first, in its order. Null where it did "
        "not read the passage.",
    )


class FiltersOut(AnswerModel):
    """The filters in effect; empty ones are null or []."""

    topic: str | None = Field(description="Canonical, aliases resolved.")
    doc_type: DocType | None
    preprocessor_id: str | None
    paragraph_terms: tuple[str, ...]
    paper_ids: tuple[str, ...]


class SteeringOut(AnswerModel):
    """The steering in effect; a weight of 0 means none."""

    move_to: str | None
    move_to_weight: float
    move_away_from: str | None
    move_away_from_weight: float


class SnapshotOut(AnswerModel):
    """What the corpus held when the question was answered."""

    papers: int
    passages: int
    digest: str
    encoder_id: str


class RepairOut(AnswerModel):
    """A word of the question that the corpus does not have, and what it was read as."""

    word: str = Field(description="As it was asked.")
    read_as: str = Field(
        description="As the hits write it; where none does, a word that is one slip away."
    )


class SearchResponse(AnswerModel):
    """Hits, best first, and how they were found."""

    hits: tuple[SearchHit, ...]
    mode: Mode
    ranking: Ranking | Literal["bm25"] = Field(
        description="In effect: `distance` for mode `vector`, and for a question without any "
        "content word, which cannot be screened; `bm25` in a degraded answer without distances."
    )
    filters: FiltersOut
    max_distance: float | None = Field(description="The cut in effect; null: none.")
    steering: SteeringOut
    screened: int | None = Field(description="How many passages the screening handed on.")
    nearest_top_k: int = Field(
        default=0, description="In effect; 0 for mode `vector`, which ranks the nearest alone."
    )
    joined: int = Field(
        default=0,
        description="How many passages were ranked beside them since they are among the "
        "`nearest_top_k` nearest.",
    )
    rerank_top_k: int = Field(default=0, description="In effect; 0 for mode `vector`.")
    reranked: int = Field(
        default=0, description="How many passages the reranker read in the time it has."
    )
    terms: tuple[str, ...] = Field(
        description="The question's content terms, as analysed and repaired."
    )
    idf: tuple[float, ...] = Field(
        default=(),
        description="Parallel to `terms`, those that the corpus does not have included.",
    )
    unknown_terms: tuple[str, ...] = Field(description="Those that the corpus does not have.")
    repairs: tuple[RepairOut, ...] = Field(
        default=(), description="Words that the corpus does not have and what they were read as."
    )
    score_scale: float | None = Field(description="The question's idf mass.")
    nearest_distance: float | None = Field(
        default=None,
        description="Distance of the nearest passage under the same filters, screened or not; "
        "`max_distance` does not apply. Null where no passage passes the filters, and where the "
        "dense engine is out.",
    )
    timings_ms: dict[str, float] = Field(description="Wall time per stage; stages may overlap.")
    snapshot: SnapshotOut | None = Field(description="Null only in a degraded answer.")
    degraded: tuple[str, ...] = Field(
        default=(), description="Engines that could not answer; only with `allow_degraded`."
    )


class TermShareOut(AnswerModel):
    """One term's share of a passage's BM25: idf tf / (tf + norm)."""

    term: str
    tf: int = Field(description="How often the passage has it.")
    document_frequency: int = Field(description="How many passages of the corpus have it.")
    idf: float
    share: float


class SparseViewOut(AnswerModel):
    """The passage in the sparse leg; `bm25` is the sum of the terms' shares."""

    bm25: float
    terms: tuple[TermShareOut, ...]
    length: int = Field(description="Content tokens; 0 where it has none of the terms.")
    norm: float = Field(description="k1 (1 - b + b length / mean length).")
    rank: int | None = Field(description="By BM25 under the filters; null beyond 10,000.")
    screened: bool
    last_screened: float | None = Field(description="BM25 of the last passage handed on.")


class DenseViewOut(AnswerModel):
    """The passage in the dense leg; cosine distances, 0 to 2."""

    distance: float = Field(description="To the steered question.")
    unsteered: float = Field(description="To the question as it was asked.")
    rank: int | None = Field(description="By distance among what was ranked.")
    joined: bool = Field(
        default=False,
        description="Whether it was ranked without having been screened, as one of the nearest.",
    )


class RankingViewOut(AnswerModel):
    """The ranking's arithmetic."""

    ranking: Ranking
    score: float
    rank: int = Field(
        description="Among what was ranked, before the cut of distance and without a reranker."
    )
    parts: dict[str, float] = Field(
        description="proximity: (bm25 + cluster + pair_weight pairs) / scale + cosine_weight "
        "cosine. blend: (1 - dense_weight) bm25_normalised + dense_weight cosine_normalised. "
        "rrf: 1 / (k + sparse_rank) + 1 / (k + dense_rank). distance: cosine."
    )


class ExplanationOut(AnswerModel):
    """Why a passage stands where it stands, or why it is not there."""

    passage: StoredPassage
    excluded_by: tuple[str, ...] = Field(description="Filters that keep it out.")
    beyond_distance: bool = Field(description="Whether the cut of distance keeps it out.")
    sparse: SparseViewOut | None = Field(description="Null for a question without content words.")
    dense: DenseViewOut
    ranking: RankingViewOut | None = Field(description="Null where it was not ranked.")


class TopicOut(AnswerModel):
    topic: str
    papers: int
    passages: int


class PaperOut(AnswerModel):
    """A paper as the stores hold it."""

    paper_id: str
    topics: tuple[str, ...]
    paragraphs: int = Field(description="How many passages of type paragraph.")
    figures: int = Field(description="How many passages of type figure.")
    sections: int = Field(description="How many passages of type section.")
    preprocessor_ids: tuple[str, ...]
    updated_at: str = Field(description="UTC, ISO 8601.")


class PapersPage(AnswerModel):
    papers: tuple[PaperOut, ...]
    next: str | None = Field(description="Give as `after` for the next page; null on the last.")


class PaperDetail(PaperOut):
    """A paper and a page of its passages."""

    passages: tuple[StoredPassage, ...]


class CheckOut(AnswerModel):
    name: str
    ok: bool
    detail: str


class Readiness(AnswerModel):
    ready: bool
    checks: tuple[CheckOut, ...]
