"""A run of answers judged: four measures, repeated, with the judge's name and the spread.

Definitions as those of RAGAS (Es et al. 2024): faithfulness, and context precision and recall of
what was cited; correctness is a verdict against the gold answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Literal

from askem.errors import InvalidInput
from askem.evaluation.answers.folder import Kept
from askem.evaluation.judge.asking import Judge, JudgeMalformed, Judgement

FILE = "judged.json"
_WORTH = {"correct": 1.0, "partly": 0.5, "wrong": 0.0}


class Statement(Judgement):
    statement: str
    supported: bool


class Statements(Judgement):
    statements: tuple[Statement, ...]


class Verdict(Judgement):
    verdict: Literal["correct", "partly", "wrong"]


class Useful(Judgement):
    number: int
    useful: bool


class Usefulness(Judgement):
    passages: tuple[Useful, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A measure over the questions it applies to; the spread is that of the repeats' means."""

    measure: str
    mean: float
    low: float
    high: float
    questions: int


@dataclass(frozen=True, slots=True)
class Judged:
    judge: str
    repeats: int
    figures: tuple[Figure, ...]
    by_question: dict[str, dict[str, list[float]]]
    """Question to measure to a value for each repeat, 0..1."""


def faithfulness(judge: Judge, kept: Kept) -> float | None:
    """Share of the answer's statements that its sources hold; None where nothing was said."""
    if kept.refused:
        return None
    found = judge.ask(
        "faithfulness",
        Statements,
        question=kept.question,
        passages=_passages(kept),
        answer=_said(kept),
    )
    return _supported(found)


def correctness(judge: Judge, kept: Kept) -> float | None:
    """1, .5 or 0; a refusal is 0. None without a gold answer."""
    if kept.gold_answer is None or kept.refused:
        return None if kept.gold_answer is None else 0.0
    found = judge.ask(
        "correctness", Verdict, question=kept.question, gold=kept.gold_answer, answer=_said(kept)
    )
    return _WORTH[found.verdict]


def context_precision(judge: Judge, kept: Kept) -> float | None:
    """Average precision of the cited passages in their order; a refusal is 0.

    None without a gold answer. Raises JudgeMalformed where a passage was left out.
    """
    if kept.gold_answer is None or kept.refused:
        return None if kept.gold_answer is None else 0.0
    found = judge.ask(
        "precision",
        Usefulness,
        question=kept.question,
        gold=kept.gold_answer,
        passages=_passages(kept),
    )
    useful = {one.number: one.useful for one in found.passages}
    if set(useful) != set(range(1, len(kept.passages) + 1)):
        raise JudgeMalformed(f"{kept.id}: the judge {judge.model} did not judge every passage once")
    flags = [useful[number] for number in sorted(useful)]
    at = [sum(flags[:k]) / k for k, flag in enumerate(flags, start=1) if flag]
    return fmean(at) if at else 0.0


def context_recall(judge: Judge, kept: Kept) -> float | None:
    """Share of the gold answer's statements that the cited passages hold; a refusal is 0. None
    without a gold answer."""
    if kept.gold_answer is None or kept.refused:
        return None if kept.gold_answer is None else 0.0
    found = judge.ask(
        "recall",
        Statements,
        question=kept.question,
        gold=kept.gold_answer,
        passages=_passages(kept),
    )
    return _supported(found)


MEASURES: dict[str, Callable[[Judge, Kept], float | None]] = {
    "faithfulness": faithfulness,
    "correctness": correctness,
    "context precision": context_precision,
    "context recall": context_recall,
}


def judge_answers(
    judge: Judge, answers: Sequence[Kept], *, repeats: int, progress: Callable[[str], None]
) -> Judged:
    """Every answerable question, `repeats` times, one after another. Raises as `Judge.ask`."""
    asked = [kept for kept in answers if not kept.unanswerable]
    by_question: dict[str, dict[str, list[float]]] = {}
    for done, kept in enumerate(asked, start=1):
        values = by_question.setdefault(kept.id, {})
        for name, measure in MEASURES.items():
            repeated = [measure(judge, kept) for _ in range(repeats)]
            known = [value for value in repeated if value is not None]
            if known:
                values[name] = known
        progress(f"judged {done} of {len(asked)}")
    figures = (figure_of(name, by_question) for name in MEASURES)
    return Judged(judge.model, repeats, tuple(f for f in figures if f), by_question)


def figure_of(name: str, by_question: dict[str, dict[str, list[float]]]) -> Figure | None:
    """None where the measure applies to no question."""
    values = [of[name] for of in by_question.values() if name in of]
    if not values:
        return None
    means = [fmean(repeat) for repeat in zip(*values, strict=True)]
    return Figure(name, fmean(means), min(means), max(means), len(values))


def lines_of(judged: Judged) -> Iterator[str]:
    yield f"judged by {judged.judge}, {judged.repeats} times (mean, least and greatest repeat):"
    for f in judged.figures:
        yield f"  {f.measure}: {f.mean:.3f} [{f.low:.3f}, {f.high:.3f}], {f.questions} questions"


def write_judged(folder: Path, judged: Judged) -> None:
    """Into a run's folder, never among the result files."""
    text = json.dumps(asdict(judged), indent=1, ensure_ascii=False)
    (folder / FILE).write_text(text + "\n", encoding="utf-8")


def read_judged(folder: Path) -> Judged | None:
    """None where the run was not judged. Raises InvalidInput for a file that is no such."""
    path = folder / FILE
    if not path.is_file():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        figures = tuple(Figure(**figure) for figure in content.pop("figures"))
        return Judged(figures=figures, **content)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidInput(str(path), f"holds no judgements ({error})") from error


def _supported(found: Statements) -> float:
    if not found.statements:
        return 0.0
    return sum(one.supported for one in found.statements) / len(found.statements)


def _said(kept: Kept) -> str:
    return " ".join(str(sentence["text"]) for sentence in kept.sentences)


def _passages(kept: Kept) -> str:
    return "\n\n".join(f"[{n}] {text}" for n, text in enumerate(kept.passages, start=1))
