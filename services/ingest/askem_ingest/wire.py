"""What travels between the ingest service and its callers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
)

from askem.http.answers import AnswerModel
from askem.http.fields import NULLABLE, PaperId, RequestModel, TopicName, WholeNumber
from askem.ingestion.files import MAX_FILE_BYTES
from askem.ingestion.receipts import Status
from askem.models import COSMOS_OBJECT_ID_PATTERN, DocType

MAX_TOPICS = 20
JobState = Literal["queued", "running", "done", "failed"]
PreprocessorName = Literal["papers-v1", "paragraphs-v1", "figures-v1", "markdown-v1"]


def _at_least_one(values: tuple[str, ...]) -> tuple[str, ...]:
    if not values:
        raise ValueError("give at least one")
    return values


def _not_empty(schema: dict[str, Any]) -> None:
    schema["minItems"] = 1


class PaperIn(RequestModel):
    """One source: a paper's text, one figure's, or a handbook's page in markdown."""

    paper_id: PaperId
    text: str = Field(
        min_length=1,
        max_length=MAX_FILE_BYTES,
        description="At most 10 MiB as UTF-8. Mended as a file would be.",
    )
    # Not `min_length`: pydantic counts only the items that are right, and would complain twice.
    topics: Annotated[
        tuple[TopicName, ...],
        Field(
            strict=False,
            max_length=MAX_TOPICS,
            json_schema_extra=_not_empty,
            description="Case does not matter; aliases are resolved.",
        ),
        AfterValidator(_at_least_one),
    ]
    doc_type: Annotated[DocType, NULLABLE] = "paragraph"
    cosmos_object_id: Annotated[
        str | None,
        Field(
            pattern=COSMOS_OBJECT_ID_PATTERN,
            validate_default=True,
            description="The figure's object id; required for figures, refused otherwise.",
        ),
    ] = None
    preprocessor: PreprocessorName | None = Field(
        default=None,
        description="Without it: papers-v1, figures-v1 for figures, markdown-v1 for sections.",
    )

    @field_validator("text")
    @classmethod
    def _small_enough(cls, text: str) -> str:
        if len(text.encode()) > MAX_FILE_BYTES:
            raise ValueError(f"must have at most {MAX_FILE_BYTES} bytes as UTF-8")
        return text

    @field_validator("cosmos_object_id")
    @classmethod
    def _of_figures(cls, object_id: str | None, info: ValidationInfo) -> str | None:
        doc_type = info.data.get("doc_type")
        if doc_type == "figure" and object_id is None:
            raise ValueError("required for figures")
        if doc_type in ("paragraph", "section") and object_id is not None:
            raise ValueError("only figures have one")
        return object_id


class Progress(AnswerModel):
    """How many of the job's sources have a receipt."""

    total: int
    done: int
    failed: int = Field(description="Those of `done` whose receipt says `failed`.")


class JobOut(AnswerModel):
    """A job: files that were taken together. Times are UTC, ISO 8601."""

    id: str
    state: JobState = Field(
        description="`done`: every source has a receipt, be it a failed one. `failed`: the job "
        "itself could not be carried out; `error` says why."
    )
    doc_type: DocType
    preprocessor: str
    topics: tuple[str, ...]
    progress: Progress
    created_at: str
    started_at: str | None
    finished_at: str | None
    error: str | None


class ReceiptOut(AnswerModel):
    """What became of one source; `failed` always has a `reason`."""

    paper_id: str
    doc_type: DocType
    cosmos_object_id: str | None
    status: Status
    source: str = Field(description="The file's name.")
    passages: int
    split_passages: int = Field(description="Passages encoded in several windows.")
    repairs: dict[str, int] = Field(description="What decoding had to mend, by kind.")
    topics: tuple[str, ...]
    topics_added: tuple[str, ...] = Field(
        default=(), description="Of `topics`, those that an `unchanged` text did not have before."
    )
    reason: str | None


class JobDetail(JobOut):
    """A job and a page of its receipts, in the order in which they were written."""

    receipts: tuple[ReceiptOut, ...]


class JobsPage(AnswerModel):
    """Jobs, the newest first."""

    jobs: tuple[JobOut, ...]
    next: str | None = Field(description="Give as `after` for the next page; null on the last.")


class Deleted(AnswerModel):
    paper_id: str
    sources: int = Field(description="How many sources (paragraphs, single figures, pages) went.")


JOB_ID_PATTERN = r"^[0-9a-f]{32}$"


class JobsQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    limit: Annotated[int, WholeNumber(1, 1000, text=True)] = Field(
        default=100, description="Jobs a page."
    )
    after: str | None = Field(
        default=None, pattern=JOB_ID_PATTERN, description="`next` of the page before."
    )


class JobQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    limit: Annotated[int, WholeNumber(1, 1000, text=True)] = Field(
        default=100, description="Receipts a page."
    )
    offset: Annotated[int, WholeNumber(0, 1_000_000, text=True)] = Field(
        default=0, description="Receipts left out at the beginning."
    )
