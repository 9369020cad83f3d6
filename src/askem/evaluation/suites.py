"""A whole suite: every configuration over its questions, into files."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from pathlib import Path

from askem.errors import ConfigurationError
from askem.evaluation.config import RunConfig, Suite, read_suite
from askem.evaluation.gold import GoldIds, resolve
from askem.evaluation.indexing import Index, open_index, reranker_named
from askem.evaluation.results import labels_of, manifest_of, write_labels, write_result
from askem.evaluation.runfolder import write_run
from askem.evaluation.running import Run, run
from askem.evaluation.sets import EvalSet, read_beir, read_golden, with_unanswerable
from askem.evaluation.systems import make_explain, make_search
from askem.evaluation.tables import MAIN
from askem.evaluation.whys import whys

Say = Callable[[str], None]


def place(path: Path) -> tuple[Suite, Path | None]:
    """A suite and the folder its paths start from; None where that is not set here."""
    suite = read_suite(path)
    if suite.needs is None:
        return suite, path.parent
    root = os.environ.get(suite.needs)
    if not root:
        return suite, None
    if not Path(root).is_dir():
        raise ConfigurationError(f"{suite.needs}: {root} is no folder")
    return suite, Path(root)


def read_questions(suite: Suite, base: Path) -> EvalSet:
    questions = suite.questions
    if questions.golden:
        labelled = read_golden(base / path for path in questions.golden)
    else:
        assert questions.beir is not None  # noqa: S101 - the model has checked it
        folder = base / questions.beir
        labelled = read_beir(folder, questions)
    return with_unanswerable(labelled, base, questions.unanswerable)


def run_suite(
    path: Path,
    suite: Suite,
    base: Path,
    results: Path,
    cache: Path,
    *,
    only: Collection[str],
    progress: Callable[[str], Callable[[str], None]],
    say: Say,
) -> None:
    """Runs the configurations named in `only`, all without it; each result is written as soon as
    it is there. Blocks. Raises as `open_index` and `resolve` do."""
    labelled = read_questions(suite, base)
    labels = labels_of(labelled)
    write_labels(results / suite.name, labels)
    for config in suite.runs:
        if only and config.name not in only:
            continue
        if config.rerank_top_k and reranker_named() is None and config.name not in only:
            say(f"{suite.name}/{config.name}: left out, ASKEM_RERANKER is not set")
            continue
        line = progress(f"{suite.name}/{config.name}")
        with open_index(suite.corpus, base, config, cache, line) as index:
            gold = resolve(labelled, index.store.reader, tears=config.tears)
            done = _run(config, labelled, gold, index, line)
            write_result(results / suite.name, done, manifest_of(index, labels))
            why = _whys(config, labelled, gold, index, done)
        write_run(cache / "runs" / suite.name / config.name, path, done, labelled, gold, why)
        line("")
        say(f"{suite.name}/{config.name}: " + _summary(done))


def replay(
    path: Path, config: RunConfig, cache: Path, *, progress: Callable[[str], Callable[[str], None]]
) -> Run:
    """Runs one configuration of a suite again, and writes nothing but indexes.

    Raises ConfigurationError where the suite's data is not here.
    """
    suite, base = place(path)
    if base is None:
        raise ConfigurationError(f"{suite.needs}: is not set, and {path} needs it")
    labelled = read_questions(suite, base)
    line = progress(f"{suite.name}/{config.name}")
    with open_index(suite.corpus, base, config, cache, line) as index:
        done = _run(
            config, labelled, resolve(labelled, index.store.reader, tears=config.tears), index, line
        )
    line("")
    return done


def _run(config: RunConfig, labelled: EvalSet, gold: GoldIds, index: Index, line: Say) -> Run:
    return run(
        config,
        labelled,
        gold,
        make_search(index, config),
        lambda done, total: line(f"asked {done} of {total}"),
    )


def _whys(
    config: RunConfig, labelled: EvalSet, gold: GoldIds, index: Index, done: Run
) -> dict[str, tuple[str, ...]]:
    explain = make_explain(index, config)
    if explain is None:
        return {}
    records = {record.question_id: record for record in done.records}
    return whys(labelled, gold, records, done.measures[MAIN], explain)


def _summary(done: Run) -> str:
    means = {m: sum(v.values()) / len(v) for m, v in done.measures.items()}
    spent = sorted(done.milliseconds.values())
    return (
        ", ".join(f"{m} {value:.4f}" for m, value in means.items())
        + f"; p50 {spent[len(spent) // 2]:.1f} ms"
    )
