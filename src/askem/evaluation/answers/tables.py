"""The answers' part of a suite's table, and a run's figures for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from askem.evaluation.answers.measures import NAMES, mean
from askem.evaluation.answers.results import AnswersResult
from askem.evaluation.answers.running import AnswersRun
from askem.evaluation.answers.selective import LEVELS, Selective, selective
from askem.evaluation.refusal import Share, wilson
from askem.evaluation.results import Labels
from askem.evaluation.tables import figure

_Row = Callable[[AnswersResult, Selective], Sequence[str]]


def answers_section(labels: Labels, results: Sequence[AnswersResult]) -> list[str]:
    """Lines of markdown; none without results."""
    if not results:
        return []
    told = [(result, selective(result.told())) for result in results]
    lines = ["", "## Answers", "", _what_on(labels, results[0]), ""]
    lines += _table(NAMES, told, _measures)
    lines += ["", "Refusing, and confidence:", "", *_table(REFUSING, told, refusing)]
    lines += _by_kind(labels, results)
    return lines


REFUSING = (
    "answerable refused",
    "unanswerable refused",
    "refusal P",
    "AUROC answerable: confidence / score",
    "AUROC right: confidence / score",
    "risk at coverage: high, medium, low",
    "area",
)


def refusing(result: AnswersResult, found: Selective) -> list[str]:
    """A cell for each of REFUSING."""
    refused = sum(level == 0 for level in result.levels)
    absent = sum(level == 0 for level in result.absent_levels)
    steps = [f"{figure(p.risk)} at {figure(p.coverage)}" for p in found.points]
    return [
        share(refused, len(result.levels)),
        share(absent, len(result.absent_levels)),
        figure(found.refusal_precision),
        " / ".join(map(figure, found.auroc_answerable)),
        " / ".join(map(figure, found.auroc_right)),
        ", ".join(steps) or "-",
        figure(found.area),
    ]


def share(k: int, n: int) -> str:
    """With Wilson's interval."""
    if not n:
        return "-"
    found: Share = wilson(k, n)
    return f"{k} of {n}, {figure(found.value)} [{figure(found.low)}, {figure(found.high)}]"


def summary(run: AnswersRun) -> Iterator[str]:
    """What `askem eval answers` prints; the only place, beside the run's folder, with times."""
    result = run.result
    means = ((name, result.mean(name)) for name in NAMES)
    yield ", ".join(f"{name} {value:.4f}" for name, value in means if value is not None)
    cells = refusing(result, selective(result.told()))
    for name, cell in zip(REFUSING, cells, strict=True):
        yield f"  {name}: {cell}"
    right = result.measures[result.right]
    for level in range(len(LEVELS) - 1, 0, -1):
        of_level = [v for v, at in zip(right, result.levels, strict=True) if at == level]
        hits = sum(value == 1.0 for value in of_level)
        yield f"  {LEVELS[level]} confidence, {result.right}: {share(hits, len(of_level))}"
    p50, p99 = np.quantile(run.milliseconds, [0.5, 0.99])
    yield f"  latency: p50 {p50:.0f} ms, p99 {p99:.0f} ms; cut short: {result.manifest['stopped']}"


def _what_on(labels: Labels, result: AnswersResult) -> str:
    return (
        f"{len(labels.ids)} questions with an answer and {len(result.absent_ids)} without, asked "
        "of `/react`; a refusal counts as zero. What the columns mean: docs/evaluation.md."
    )


def _measures(result: AnswersResult, _: Selective) -> list[str]:
    return [figure(result.mean(name)) for name in NAMES]


def _table(
    head: Sequence[str], told: Sequence[tuple[AnswersResult, Selective]], row: _Row
) -> list[str]:
    lines = ["| | " + " | ".join(head) + " |", "|---" * (len(head) + 1) + "|"]
    for result, found in told:
        lines.append(f"| {label(result)} | " + " | ".join(row(result, found)) + " |")
    return lines


def label(result: AnswersResult) -> str:
    """Name, model where it is called otherwise, and whether another corpus answered."""
    name, model = result.config.name, result.config.model
    other = ", on another corpus" if result.other_corpus else ""
    return (name if name == model else f"{name} ({model})") + other


def _by_kind(labels: Labels, results: Sequence[AnswersResult]) -> list[str]:
    kinds = sorted(set(labels.kinds))
    if len(kinds) < 2:
        return []
    counts = [f"{kind} ({labels.kinds.count(kind)})" for kind in kinds]
    lines = ["", "By kind of question:", ""]
    lines += ["| | " + " | ".join(counts) + " |", "|---" * (len(kinds) + 1) + "|"]
    for result in results:
        for name in NAMES:
            values = [figure(_of_kind(labels, result, name, kind)) for kind in kinds]
            lines.append(f"| {label(result)}, {name} | " + " | ".join(values) + " |")
        lines += _refused_by_kind(result, kinds)
    return lines


def _of_kind(labels: Labels, result: AnswersResult, name: str, kind: str) -> float | None:
    pairs = zip(result.measures[name], labels.kinds, strict=True)
    return mean([value for value, of in pairs if of == kind])


def _refused_by_kind(result: AnswersResult, kinds: Sequence[str]) -> list[str]:
    """Of the unanswerable; kinds that no answerable question has are told in a line."""
    levels: dict[str, list[int]] = {}
    for kind, level in zip(result.absent_kinds, result.absent_levels, strict=True):
        levels.setdefault(kind, []).append(level)
    if not levels:
        return []
    counted = {kind: f"{of.count(0)} of {len(of)}" for kind, of in sorted(levels.items())}
    row = " | ".join(counted.pop(kind, "-") for kind in kinds)
    lines = [f"| {label(result)}, unanswerable refused | {row} |"]
    if counted:
        others = ", ".join(f"{kind} {count}" for kind, count in counted.items())
        lines += ["", f"Unanswerable questions of other kinds that were refused: {others}."]
    return lines
