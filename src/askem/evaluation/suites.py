"""A whole suite: every configuration over its questions, into files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection
from pathlib import Path

from askem.errors import ConfigurationError
from askem.evaluation.config import RunConfig, Suite, read_suite
from askem.evaluation.gold import resolve
from askem.evaluation.indexing import Index, open_index
from askem.evaluation.results import labels_of, manifest_of, write_labels, write_result
from askem.evaluation.running import Run, run
from askem.evaluation.sets import EvalSet, read_beir, read_golden
from askem.evaluation.systems import make_search

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
    if questions.golden is not None:
        return read_golden(base / questions.golden)
    assert questions.beir is not None  # noqa: S101 - the model has checked it
    return read_beir(base / questions.beir, unit=questions.unit, cluster=questions.cluster)


def run_suite(
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
        line = progress(f"{suite.name}/{config.name}")
        with open_index(suite.corpus, base, config, cache, line) as index:
            done = _run(config, labelled, index, line)
            write_result(results / suite.name, done, manifest_of(index, labels))
        _write_run(cache / "runs" / suite.name / config.name, done, labelled)
        line("")
        say(f"{suite.name}/{config.name}: " + _summary(done))


def _run(config: RunConfig, labelled: EvalSet, index: Index, line: Say) -> Run:
    gold = resolve(labelled, index.store.reader)
    return run(
        config,
        labelled,
        gold,
        make_search(index, config),
        lambda done, total: line(f"asked {done} of {total}"),
    )


def _summary(done: Run) -> str:
    means = {m: sum(v.values()) / len(v) for m, v in done.measures.items()}
    spent = sorted(done.milliseconds.values())
    return (
        ", ".join(f"{m} {value:.4f}" for m, value in means.items())
        + f"; p50 {spent[len(spent) // 2]:.1f} ms"
    )


def _write_run(folder: Path, done: Run, labelled: EvalSet) -> None:
    """The run in TREC's format, what came back by question, and the times, apart."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "run.trec").open("w", encoding="utf-8") as file:
        for record in done.records:
            for rank, (name, score) in enumerate(
                zip(record.ids, record.scores, strict=True), start=1
            ):
                file.write(
                    f"{record.question_id} Q0 {name} {rank} {score:.6f} {done.config.name}\n"
                )
    texts = {q.id: q.question for q in labelled.questions}
    with (folder / "questions.jsonl").open("w", encoding="utf-8") as file:
        for record in done.records:
            values = {
                m: of[record.question_id]
                for m, of in done.measures.items()
                if record.question_id in of
            }
            line = {
                "id": record.question_id,
                "question": texts[record.question_id],
                "score_scale": record.score_scale,
                "measures": values,
                "hits": list(zip(record.ids, record.scores, strict=True))[:10],
            }
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    times = {q: round(ms, 3) for q, ms in done.milliseconds.items()}
    (folder / "timings.json").write_text(json.dumps(times, indent=1) + "\n", encoding="utf-8")
