"""What travels between the agent and its callers."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator

from askem.answering.models import Confidence, Reason, Verdict
from askem.http.answers import AnswerModel, PassageOut, RepairOut
from askem.http.fields import Clean
from askem.http.wire import HybridRequest

Limit = Literal["model calls", "searches", "tokens", "cost", "time", "length"]
"""What a run may use up; length is that of what the model wrote, and of the whole answer."""
AskedBy = Literal["question", "model"]
"""Who chose a search: the server, with the question itself, or the model."""

_Name = Annotated[str, Field(min_length=1, max_length=200), Clean]


class ReactRequest(HybridRequest):
    """A question to be answered from the literature; the other fields hold for every search."""

    retriever_endpoint: Annotated[
        str | None,
        Field(
            max_length=2000,
            description="Which of the server's configured endpoints to search, letter by letter; "
            "anything else is refused. Absent: the first of them.",
        ),
        Clean,
    ] = None
    model_name: Annotated[
        _Name | None,
        Field(description="One of the server's configured models. Absent: its default."),
    ] = None
    openai_model_name: Annotated[
        _Name | None,
        Field(description="Old name of `model_name`.", json_schema_extra={"deprecated": True}),
    ] = None

    @field_validator("openai_model_name")
    @classmethod
    def _agrees(cls, name: str | None, info: ValidationInfo) -> str | None:
        if name is not None and info.data.get("model_name") not in (None, name):
            raise ValueError("is the old name of model_name: give one of them, or the same twice")
        return name


class CitationOut(AnswerModel):
    """Where in a passage a sentence stands."""

    passage_id: str
    quote: str = Field(description="As the passage has it.")
    start: int = Field(ge=0, description="The passage's text[start:end] is the quote.")
    end: int = Field(ge=0)


class SentenceOut(AnswerModel):
    """A sentence of the answer, and what was found of it in the passages it cites."""

    text: str
    citations: tuple[CitationOut, ...]
    verdict: Verdict = Field(
        description="Whether its words, numbers and names are in the source; not whether it is "
        "true."
    )
    missing: tuple[str, ...] = Field(description="What is not in the source.")


class StepOut(AnswerModel):
    """One search of the run."""

    number: int = Field(ge=1)
    query: str
    asked_by: AskedBy
    hits: int = Field(ge=0)
    new: int = Field(ge=0, description="Hits that no earlier search of the run had brought.")
    ms: float = Field(ge=0, description="Wall time in milliseconds; 0 where nothing was asked.")
    repeated: bool = Field(description="Asked before: the earlier result was given again.")
    note: str | None = Field(default=None, description="What was unusual about it.")


class UsageOut(AnswerModel):
    """What the run used."""

    model_calls: int
    searches: int
    input_tokens: int | None = Field(description="Null where no language model was used.")
    output_tokens: int | None
    cost: float | None = Field(
        description="In the currency of the configured prices; null where there are none."
    )


class ReactResponse(AnswerModel):
    """An answer whose every sentence was looked up in its source; or a refusal."""

    answer: str = Field(
        description="Each sentence with markers: [1] is the first of `used_docs`. In a refusal, "
        "what there is to say about it."
    )
    used_docs: tuple[PassageOut, ...] = Field(
        description="The passages that are cited, in the order of their first citation."
    )
    sentences: tuple[SentenceOut, ...]
    refused: bool
    reason: Reason | None = Field(description="Why; null where the question was answered.")
    found_instead: tuple[PassageOut, ...] = Field(
        description="In a refusal the nearest passages, at most three."
    )
    confidence: Confidence | None = Field(
        description="Null in a refusal, and where a language model wrote the answer."
    )
    confidence_basis: str | None = Field(
        description="How often answers of this confidence were right where it was measured."
    )
    stopped: Limit | None = Field(
        description="The limit that ended the run before it was done; the answer is the best one "
        "from what had been seen."
    )
    dropped: int = Field(
        description="Sentences that were left out, since their source does not have them."
    )
    repairs: tuple[RepairOut, ...]
    steps: tuple[StepOut, ...]
    usage: UsageOut
    timings: dict[str, float] = Field(description="Wall time in milliseconds per kind of work.")
    model: str = Field(
        description="Which model wrote the answer; `extractive` where it was picked from the "
        "passages. In a refusal, the model that would have."
    )


class StepEvent(AnswerModel):
    """Event `step`: a search begins."""

    number: int
    query: str
    asked_by: AskedBy


class SeenPassage(AnswerModel):
    passage_id: str
    paper_id: str


class ObservationEvent(AnswerModel):
    """Event `observation`: a search has ended."""

    step: StepOut
    passages: tuple[SeenPassage, ...]


class TokenEvent(AnswerModel):
    """Event `token`: a piece of the answer. All of them, joined, are the answer."""

    text: str


class CitationEvent(CitationOut):
    """Event `citation`: the source of a sentence that was sent."""

    sentence: int = Field(description="Index into `sentences` of the final answer.")
    marker: int = Field(description="As it stands in the text.")
    paper_id: str
