"""Labelled questions: golden sets in YAML and BEIR folders, read and checked."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from askem.errors import InvalidInput
from askem.evaluation.config import Questions, Unanswerable
from askem.ingestion.pages import page_key
from askem.models import DocType

Unit = Literal["passage", "paper"]
"""What labels name, and so what a run is measured in."""


class Gold(BaseModel):
    """Where an answer stands: a passage by its id, or by a run of its words in a paper; or, with
    `paper_id` alone, anywhere in that paper."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    paper_id: str = ""
    doc_type: DocType = "paragraph"
    quote: str = ""
    passage_id: str = ""

    @model_validator(mode="after")
    def _names_something(self) -> Gold:
        if not (self.paper_id or self.passage_id):
            raise ValueError("give paper_id (with a quote, for one passage of it) or passage_id")
        return self


class LabelledQuestion(BaseModel):
    """One question of a golden set."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=r"^\S+$")
    question: str = Field(min_length=1)
    kind: str = "question"
    topic: str | None = None
    any: bool = True
    """Whether any one gold entry suffices; otherwise all are needed."""
    gold: tuple[Gold, ...] = ()
    answer: str | None = None
    unanswerable: bool = False
    near_miss: bool = False
    why: str | None = None
    cluster: str | None = None
    """Questions of one cluster succeed and fail together; absent: the first gold's paper."""

    @model_validator(mode="after")
    def _gold_or_unanswerable(self) -> LabelledQuestion:
        if self.unanswerable == bool(self.gold):
            raise ValueError("an answerable question needs gold, an unanswerable one has none")
        return self

    @property
    def group(self) -> str:
        """What the question is drawn together with when a difference is tested."""
        first = self.gold[0] if self.gold else None
        paper = (first.paper_id or first.passage_id.partition("#")[0]) if first else None
        return self.cluster or paper or self.id


@dataclass(frozen=True, slots=True)
class EvalSet:
    """Questions and their labels; what they are asked of is the configuration's to say."""

    name: str
    questions: tuple[LabelledQuestion, ...]
    unit: Unit

    @property
    def answerable(self) -> tuple[LabelledQuestion, ...]:
        return tuple(q for q in self.questions if not q.unanswerable)


def read_golden(paths: Iterable[Path]) -> EvalSet:
    """Golden sets in YAML (evals/golden/README.md) as one. Raises InvalidInput naming the entry."""
    sets = [(path, _golden(path)) for path in paths]
    questions = tuple(question for _, of_one in sets for question in of_one)
    name = "+".join(path.stem for path, _ in sets)
    return _checked(sets[-1][0], EvalSet(name, questions, "passage"))


def _golden(path: Path) -> list[LabelledQuestion]:
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise InvalidInput(str(path), f"cannot be read ({error})") from error
    entries = content.get("questions") if isinstance(content, dict) else None
    if not isinstance(entries, list) or not entries:
        raise InvalidInput(str(path), "holds no list `questions`")
    return [_labelled(path, entry) for entry in entries]


def read_beir(folder: Path, how: Questions) -> EvalSet:
    """`queries.jsonl` and `qrels.tsv` of a BEIR folder; only grades above 0 are gold, and
    queries without any are left out. Raises InvalidInput."""
    grades: dict[str, list[str]] = {}
    with _opened(folder / "qrels.tsv") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if int(row["score"]) > 0:
                grades.setdefault(row["query-id"], []).append(_named(row["corpus-id"], how))
    with _opened(folder / "queries.jsonl") as file:
        questions = [
            _from_beir(record, gold, how)
            for record in map(json.loads, file)
            if (gold := grades.pop(str(record["_id"]), None))
        ]
    if grades:
        raise InvalidInput(
            str(folder), f"qrels name queries that are not there: {_some(list(grades))}"
        )
    return _checked(folder, EvalSet(folder.name, tuple(questions), how.unit))


def with_unanswerable(labelled: EvalSet, base: Path, more: Sequence[Unanswerable]) -> EvalSet:
    """The set and the questions of further files, which the corpus does not answer; their ids get
    their file's name in front. Raises InvalidInput."""
    questions = [q for source in more for q in _unanswerable(base / source.file, source.where)]
    return _checked(base, replace(labelled, questions=(*labelled.questions, *questions)))


def _unanswerable(path: Path, where: Mapping[str, str]) -> Iterator[LabelledQuestion]:
    with _opened(path) as file:
        for record in map(json.loads, file):
            if all(str(record.get(field)) == value for field, value in where.items()):
                yield LabelledQuestion(
                    id=f"{path.parent.name}.{path.stem}.{record['_id']}",
                    question=record["text"],
                    unanswerable=True,
                    kind=str(record.get("kind", path.stem)),
                )


def _named(corpus_id: str, how: Questions) -> str:
    if how.pages_under is None:
        return corpus_id
    return page_key(corpus_id.removeprefix(f"{how.pages_under}/")).paper_id


def _from_beir(record: dict[str, Any], gold: list[str], how: Questions) -> LabelledQuestion:
    field = "passage_id" if how.unit == "passage" else "paper_id"
    return LabelledQuestion(
        id=str(record["_id"]),
        question=record["text"],
        gold=tuple(Gold(**{field: name}) for name in gold),
        answer=record.get("answer"),
        cluster=str(record[how.cluster]) if how.cluster in record else None,
    )


def _labelled(path: Path, entry: object) -> LabelledQuestion:
    try:
        return LabelledQuestion.model_validate(entry)
    except ValidationError as error:
        name = entry.get("id") if isinstance(entry, dict) else entry
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InvalidInput(str(path), f"question {name!r}: {where} {first['msg']}") from error


def _checked(path: Path, labelled: EvalSet) -> EvalSet:
    seen: set[str] = set()
    for question in labelled.questions:
        if question.id in seen:
            raise InvalidInput(str(path), f"question {question.id!r} is there twice")
        seen.add(question.id)
    if not labelled.questions:
        raise InvalidInput(str(path), "holds no question with a label")
    return labelled


def _opened(path: Path) -> Any:
    try:
        return path.open(encoding="utf-8", newline="")
    except OSError as error:
        raise InvalidInput(str(path), f"cannot be read ({error.strerror})") from error


def _some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
