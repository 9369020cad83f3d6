"""One model over a suite's questions, through a server, into files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from askem.evaluation.answers.asking import (
    Answered,
    CorpusChanged,
    ServerReader,
    ask_all,
    snapshot_of,
)
from askem.evaluation.answers.client import ReactClient
from askem.evaluation.answers.folder import Kept, write_answers
from askem.evaluation.answers.results import (
    PREFIX,
    AnswersResult,
    manifest_of,
    result_of,
    write_answers_result,
)
from askem.evaluation.answers.serving import served
from askem.evaluation.config import AnswersConfig, Suite
from askem.evaluation.gold import resolve
from askem.evaluation.indexing import open_index
from askem.evaluation.results import labels_of, write_labels
from askem.evaluation.sets import EvalSet
from askem.http.client import AskemClient

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Target:
    """A running server."""

    url: str
    key: str


@dataclass(frozen=True, slots=True)
class Places:
    """Where a suite's files go."""

    suite: Path
    """The suite's own file."""
    results: Path
    cache: Path

    def run_folder(self, suite: Suite, config: AnswersConfig) -> Path:
        return self.cache / "runs" / suite.name / f"{PREFIX}{config.name}"


@dataclass(frozen=True, slots=True)
class AnswersRun:
    """What was measured, what was said, and how long it took."""

    result: AnswersResult
    kept: list[Kept]
    milliseconds: list[float]
    """By question, with as many at a time as were asked together."""
    folder: Path


@contextmanager
def own_server(suite: Suite, base: Path, cache: Path, line: Say) -> Iterator[Target]:
    """A server over the index of the suite's default, made where the cache has none.

    Raises as `open_index` does, and NotServed.
    """
    config = next(run for run in suite.runs if run.name == suite.default)
    with open_index(suite.corpus, base, config, cache, line) as index:
        folder = index.folder
    line("starting a server")
    with served(folder, config.encoder) as (url, key):
        yield Target(url, key)


def run_answers(
    target: Target,
    suite: Suite,
    labelled: EvalSet,
    config: AnswersConfig,
    places: Places,
    *,
    workers: int,
    line: Say,
) -> AnswersRun:
    """Asks every question; nothing is written unless all were answered.

    Raises MissingGold, NotAnswered, WrongModel, BrokenCitation, CorpusChanged, ClientError.
    """
    first = labelled.questions[0].question
    with (
        AskemClient(target.url, target.key) as client,
        ReactClient(target.url, target.key) as agent,
    ):
        before = snapshot_of(client, first)
        gold = resolve(labelled, ServerReader(client))
        answered = ask_all(
            labelled.questions,
            lambda question: agent.react(question, config.model),
            model=config.model,
            workers=workers,
            progress=lambda done, total: line(f"asked {done} of {total}"),
        )
        if snapshot_of(client, first) != before:
            raise CorpusChanged(f"{target.url}: its corpus changed during the run: run it again")
    labels = labels_of(labelled)
    manifest = manifest_of(before, labels, _stopped(answered))
    result = result_of(config, labelled, gold, answered, manifest)
    write_labels(places.results / suite.name, labels)
    write_answers_result(places.results / suite.name, result)
    folder = places.run_folder(suite, config)
    kept = write_answers(folder, places.suite, config, labelled, gold, answered)
    return AnswersRun(result, kept, [one.milliseconds for one in answered], folder)


def _stopped(answered: list[Answered]) -> int:
    return sum(one.answer.stopped is not None for one in answered)
