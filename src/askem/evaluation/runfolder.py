"""A full run on disk, of searching or of answering: what came back by question, times apart, and
of a search TREC's format for other tools.

`run.json` says what was run, so that it can be run again. Unlike result files these hold the
questions' texts, and stay in the cache.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from askem.errors import InvalidInput
from askem.evaluation.config import AnswersConfig, RunConfig
from askem.evaluation.gold import GoldIds
from askem.evaluation.running import Record, Run
from askem.evaluation.sets import EvalSet, LabelledQuestion

DEPTH = 10
"""Hits kept beside a question; `run.trec` has them all."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One question of a run: labels, values, and the best hits with their scores."""

    id: str
    question: str
    kind: str
    cluster: str
    unanswerable: bool
    gold: tuple[tuple[str, ...], ...]
    measures: dict[str, float]
    hits: tuple[tuple[str, float], ...]
    score_scale: float | None
    whys: tuple[str, ...] = ()
    """Of a question that went wrong, where its gold stands and why."""


@dataclass(frozen=True, slots=True)
class RunFolder:
    """What `write_run` or `write_answers` wrote."""

    suite: Path
    config: RunConfig | AnswersConfig
    asked: dict[str, Asked]

    @property
    def searching(self) -> RunConfig:
        """Raises InvalidInput for a run of answers."""
        if isinstance(self.config, AnswersConfig):
            raise InvalidInput(
                self.config.name, "is a run of answers; give one of `askem eval run`"
            )
        return self.config


_CONFIG: TypeAdapter[RunConfig | AnswersConfig] = TypeAdapter(RunConfig | AnswersConfig)


def write_run(
    folder: Path,
    suite: Path,
    done: Run,
    labelled: EvalSet,
    gold: GoldIds,
    why: Mapping[str, tuple[str, ...]],
) -> None:
    """The same run gives the same files, `timings.json` aside. `why`: by question."""
    folder.mkdir(parents=True, exist_ok=True)
    write_head(folder, suite, done.config)
    with (folder / "run.trec").open("w", encoding="utf-8") as file:
        file.writelines(_trec(record, done.config.name) for record in done.records)
    questions = {question.id: question for question in labelled.questions}
    asked = (
        replace(_asked(questions[i], record, done, gold), whys=why.get(i, ()))
        for record in done.records
        for i in [record.question_id]
    )
    write_lines(folder / "questions.jsonl", map(asdict, asked))
    write_timings(folder, done.milliseconds)


def write_head(folder: Path, suite: Path, config: RunConfig | AnswersConfig) -> None:
    """`run.json`: what was run, so that it can be run again."""
    content = {"suite": str(suite.resolve()), "config": config.model_dump(mode="json")}
    _json(folder / "run.json", content)


def write_timings(folder: Path, milliseconds: Mapping[str, float]) -> None:
    _json(folder / "timings.json", {q: round(ms, 3) for q, ms in milliseconds.items()})


def write_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """A JSON object a line."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def read_run(folder: Path) -> RunFolder:
    """Raises InvalidInput where the folder does not hold a run."""
    try:
        head = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        lines = (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
        asked = [Asked(**json.loads(line)) for line in lines]
        config = _CONFIG.validate_python(head["config"])
        return RunFolder(Path(head["suite"]), config, {one.id: one for one in asked})
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidInput(str(folder), f"holds no run of `askem eval run` ({error})") from error


def _asked(question: LabelledQuestion, record: Record, done: Run, gold: GoldIds) -> Asked:
    return Asked(
        id=question.id,
        question=question.question,
        kind=question.kind,
        cluster=question.group,
        unanswerable=question.unanswerable,
        gold=tuple(tuple(sorted(ids)) for ids in gold.get(question.id, ())),
        measures={
            name: round(of[question.id], 4)
            for name, of in done.measures.items()
            if question.id in of
        },
        hits=tuple(zip(record.ids, record.scores, strict=True))[:DEPTH],
        score_scale=record.score_scale,
    )


def _trec(record: Record, name: str) -> str:
    places = enumerate(zip(record.ids, record.scores, strict=True), start=1)
    return "".join(
        f"{record.question_id} Q0 {found} {rank} {score:.6f} {name}\n"
        for rank, (found, score) in places
    )


def _json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def ranks(asked: Asked) -> list[int | None]:
    """For each gold entry the rank, from 1, of the first right hit among those kept."""
    names = [name for name, _ in asked.hits]
    return [_first(names, set(right)) for right in asked.gold]


def _first(names: Iterable[str], right: set[str]) -> int | None:
    return next((rank for rank, name in enumerate(names, start=1) if name in right), None)
