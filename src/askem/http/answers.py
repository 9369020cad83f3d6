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
    cosmos_object_id: str | None = Field(description="The figure's object id; null for paragraphs.")
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
