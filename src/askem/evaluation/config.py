"""What is run on what, as YAML: one suite, its corpus and questions, a configuration a row."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from askem.errors import InvalidInput
from askem.models import DocType, Ranking

Leg = Literal["sparse", "dense"]
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]{0,63}$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CorpusPart(_Strict):
    """Files to ingest: a folder as `askem ingest` takes it, or a BEIR corpus."""

    folder: Path | None = None
    """Its subfolders are topics where it has some; a folder of sections is taken whole."""
    beir: Path | None = None
    """`corpus.jsonl`: each document a paper of one paragraph, title first."""
    doc_type: DocType = "paragraph"
    preprocessor: str | None = None
    """Absent: the kind's usual one; `paragraphs-v1` for BEIR."""

    @model_validator(mode="after")
    def _one_place(self) -> CorpusPart:
        if (self.folder is None) == (self.beir is None):
            raise ValueError("give folder or beir")
        return self


class Unanswerable(_Strict):
    """A file like `queries.jsonl`, of questions that the corpus does not answer."""

    file: Path
    where: dict[str, str] = {}
    """Fields and the values they must have; other records are left out."""


class Questions(_Strict):
    """A golden set in YAML, or a BEIR folder with queries and qrels."""

    golden: tuple[Path, ...] = ()
    """One file, or a list of them."""
    beir: Path | None = None
    unit: Literal["passage", "paper"] = "passage"
    pages_under: str | None = None
    """Where qrels name files of markdown: the folder in front of their paths that was ingested."""
    cluster: str = "paper_id"
    """Field of `queries.jsonl` whose equal values are drawn together."""
    unanswerable: tuple[Unanswerable, ...] = ()

    @field_validator("golden", mode="before")
    @classmethod
    def _listed(cls, given: object) -> object:
        return (given,) if isinstance(given, str) else given

    @model_validator(mode="after")
    def _one_place(self) -> Questions:
        if bool(self.golden) == (self.beir is not None):
            raise ValueError("give golden or beir")
        if self.pages_under is not None and self.unit != "paper":
            raise ValueError("pages_under: files are papers; say unit: paper")
        return self


class RunConfig(_Strict):
    """One way of searching. Defaults are Askem's."""

    name: Name
    label: str = Field(min_length=1)
    """How tables call it."""
    legs: tuple[Leg, ...] = ("sparse", "dense")
    ranking: Ranking = "proximity"
    screening_top_k: int = Field(default=100, ge=1, le=10_000)
    screen_by: Literal["passage", "paper"] = "passage"
    """`paper`: the papers of the best passages, and all passages of them (the original's way);
    `screening_top_k` then counts papers."""
    nearest_top_k: int = Field(default=0, ge=0, le=1_000)
    """How many of the nearest passages join those that were screened."""
    cosine_weight: float | None = None
    pair_weight: float | None = None
    kernel_width: float | None = None
    blend_dense_weight: float | None = None
    encoder: str = "minilm-int8"
    """As ASKEM_ENCODER, or `hash`: a bag of hashed words, the floor any model has to pass."""
    preprocessor: str | None = None
    """In place of the one every part of the corpus names for paragraphs."""
    tears: bool = False
    """Whether it may tear gold quotes apart: they then count as never found. Without it, gold that
    is not in the corpus fails the run."""
    title: bool = True
    """Whether a BEIR document's title is part of its text."""
    heading_path: bool = True
    """Whether a section begins with the path of headings to it."""
    rerank_top_k: int = Field(default=0, ge=0, le=100)
    """How many of the best the reranker of ASKEM_RERANKER puts in its own order, however long it
    takes; the row is left out where none is configured."""
    option: bool = False
    """A row that costs more than the default may: it may be better without failing the check."""

    @model_validator(mode="after")
    def _has_a_leg(self) -> RunConfig:
        if not self.legs:
            raise ValueError("legs: a retriever without a leg finds nothing; name sparse or dense")
        if self.legs != ("sparse", "dense") and self.ranking != "proximity":
            raise ValueError("ranking: only both legs together are ranked")
        return self


class AnswersConfig(_Strict):
    """Who answers the questions of a suite."""

    name: Name
    model: str = Field(min_length=1)
    """As the server names it."""
    elsewhere: bool = False
    """Whether a server of the caller's was asked: its corpus need not be the suite's."""


class Suite(_Strict):
    """Everything one table says."""

    name: Name
    title: str
    corpus: tuple[CorpusPart, ...] = Field(min_length=1)
    questions: Questions
    needs: str | None = None
    """An environment variable with the folder that relative paths of this suite start from;
    where it is not set the suite is skipped with a message. Absent: the suite's own folder."""
    default: Name = "default"
    runs: tuple[RunConfig, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _default_is_there(self) -> Suite:
        names = [run.name for run in self.runs]
        if len(set(names)) < len(names):
            raise ValueError("runs: every name once")
        if self.default not in names:
            raise ValueError(f"runs: none is called {self.default!r}, the default")
        return self


def read_suite(path: Path) -> Suite:
    """Raises InvalidInput naming the field."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
        return Suite.model_validate(content)
    except (OSError, yaml.YAMLError) as error:
        raise InvalidInput(str(path), f"cannot be read ({error})") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InvalidInput(str(path), f"{where}: {first['msg']}") from error
