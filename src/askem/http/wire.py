"""What travels between server and client: the retriever's requests (and, from answers, answers)."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    Field,
    ValidationInfo,
    field_validator,
)

from askem.http.answers import (
    SEARCH_MEDIA_TYPE,
    CheckOut,
    ExplanationOut,
    FiltersOut,
    Mode,
    PaperDetail,
    PaperOut,
    PapersPage,
    PassageOut,
    Readiness,
    RepairOut,
    SearchHit,
    SearchResponse,
    SnapshotOut,
    SteeringOut,
    StoredPassage,
    TopicOut,
)
from askem.http.fields import (
    NULLABLE,
    Clean,
    PaperId,
    PreprocessorId,
    RequestModel,
    Term,
    Text,
    TopicName,
    Weight,
    WholeNumber,
)
from askem.models import DocType, Ranking

__all__ = [
    "DEFAULT_SCREENING_TOP_K",
    "DEFAULT_WEIGHT",
    "SEARCH_MEDIA_TYPE",
    "CheckOut",
    "ExplainRequest",
    "ExplanationOut",
    "FiltersOut",
    "HybridRequest",
    "Mode",
    "PaperDetail",
    "PaperOut",
    "PapersPage",
    "PassageOut",
    "Readiness",
    "RepairOut",
    "SearchHit",
    "SearchRequest",
    "SearchResponse",
    "SnapshotOut",
    "SteeringOut",
    "StoredPassage",
    "TopicOut",
    "VectorRequest",
]

DEFAULT_WEIGHT = 0.5
"""Weight of a steering concept that comes without one."""
DEFAULT_SCREENING_TOP_K = 100


def _at_least_one(values: tuple[str, ...]) -> tuple[str, ...]:
    if not values:
        raise ValueError("give at least one, or leave the field out")
    return values


# Not `min_length`: pydantic counts only the items that are right, and would complain twice.
_NotEmpty = AfterValidator(_at_least_one)


def _not_empty(schema: dict[str, Any]) -> None:
    # The default, [], is what "absent" means inside: nobody may send it.
    schema.pop("default", None)
    schema["minItems"] = 1


_Terms = Annotated[
    tuple[Term, ...],
    Field(strict=False, max_length=100, json_schema_extra=_not_empty),
    _NotEmpty,
]
_PaperIds = Annotated[
    tuple[PaperId, ...],
    Field(strict=False, max_length=1000, json_schema_extra=_not_empty),
    _NotEmpty,
]
_Ignored = Annotated[tuple[Term, ...], Field(strict=False, max_length=1000)]


class VectorRequest(RequestModel):
    """Dense search: the passages nearest to the question."""

    question: Annotated[Text, Field(description="1 to 4,000 characters after stripping.")]
    top_k: Annotated[
        int,
        WholeNumber(1, 100),
        Field(description="How many passages to return at most."),
        NULLABLE,
    ] = 5
    distance: Annotated[
        float | None,
        Field(
            ge=0,
            le=2,
            allow_inf_nan=False,
            description="Largest cosine distance of a hit, 0 to 2, inclusive; "
            "absent: the server's configured cut, which by default is none.",
        ),
    ] = None
    topic: Annotated[
        TopicName | None,
        Field(description="Only papers of this topic; case does not matter, aliases are known."),
    ] = None
    doc_type: Annotated[DocType | None, Field(description="Only passages of this kind.")] = None
    preprocessor_id: Annotated[
        PreprocessorId | None, Field(description="Only passages made by this preprocessor.")
    ] = None
    article_terms: Annotated[
        _Ignored, Field(description="Obsolete: accepted and ignored."), NULLABLE
    ] = ()
    paragraph_terms: Annotated[
        _Terms,
        Field(description="Only passages with at least one of these terms, whole and exact."),
        NULLABLE,
    ] = ()
    paper_ids: Annotated[
        _PaperIds, Field(description="Only passages of these papers."), NULLABLE
    ] = ()
    move_to: Annotated[
        Text | None, Field(description="A concept that the question is pulled towards.")
    ] = None
    move_to_weight: Annotated[
        Weight | None,
        Field(
            description="0 to 1; above 0 it needs `move_to`. Absent: 0.5 where `move_to` is given."
        ),
    ] = None
    move_away_from: Annotated[
        Text | None, Field(description="A concept that the question is pushed away from.")
    ] = None
    move_away_from_weight: Annotated[
        Weight | None,
        Field(
            description="0 to 1; above 0 it needs `move_away_from`. "
            "Absent: 0.5 where `move_away_from` is given."
        ),
    ] = None

    @field_validator("move_to_weight", "move_away_from_weight")
    @classmethod
    def _needs_its_concept(cls, weight: float | None, info: ValidationInfo) -> float | None:
        concept = (info.field_name or "").removesuffix("_weight")
        # A concept that is itself wrong is missing from `data` and has its own error.
        if weight and info.data.get(concept, "") is None:
            raise ValueError(f"give {concept} too")
        return weight


class HybridRequest(VectorRequest):
    """Keyword screening, then dense search and ranking within what was screened."""

    screening_top_k: Annotated[
        int,
        WholeNumber(1, 10_000),
        Field(description="How many passages the keyword screening hands on."),
        NULLABLE,
    ] = DEFAULT_SCREENING_TOP_K
    nearest_top_k: Annotated[
        int | None,
        WholeNumber(0, 1_000),
        Field(
            description="How many of the nearest passages are ranked beside the screened ones, "
            "whatever their words; 0: none. Absent: the server's setting, which by default is 0."
        ),
    ] = None
    ranking: Annotated[
        Ranking | None, Field(description="Absent: the server's configured ranking.")
    ] = None
    rerank_top_k: Annotated[
        int | None,
        WholeNumber(0, 200),
        Field(
            description="How many of the best passages the server's reranker puts in its own "
            "order; 0: none. Absent: the server's setting, 0 where it has no reranker."
        ),
    ] = None
    allow_degraded: Annotated[
        bool,
        Field(
            description="Whether one leg's answer will do while the other's engine is out: by "
            "distance, or by BM25 without distances (and without a cut of distance). The header "
            "`Askem-Degraded` then names the engine."
        ),
        NULLABLE,
    ] = False
    repair: Annotated[
        bool | None,
        Field(
            description="Whether words that the corpus does not have are read as the words they "
            "most likely stand for. Absent: the server's setting, which by default is yes."
        ),
    ] = None


class SearchRequest(HybridRequest):
    """Either search, with everything that is known about how the answer came about."""

    mode: Annotated[
        Mode, Field(description="`vector` ignores screening_top_k and ranking."), NULLABLE
    ] = "hybrid"


class ExplainRequest(HybridRequest):
    """A search by `/hybrid`, and the passage whose place in it is to be explained."""

    passage_id: Annotated[str, Field(min_length=1, max_length=300), Clean]
