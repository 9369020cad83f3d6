"""One HTML file of a suite: tables, plots, slices by kind, the worst questions. Nothing remote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from askem.errors import InvalidInput
from askem.evaluation.answers.measures import NAMES
from askem.evaluation.answers.reporting import AnswersSection
from askem.evaluation.answers.tables import REFUSING
from askem.evaluation.calibrating import scored
from askem.evaluation.config import Suite
from askem.evaluation.refusal import Point, calibrate
from askem.evaluation.results import KEPT, Labels, Result
from askem.evaluation.runfolder import Asked, RunFolder, ranks
from askem.evaluation.tables import MAIN, mean_of_kind, rows_of
from askem.evaluation.whys import WORST

_WIDTH, _HEIGHT = 640, 220


def render(
    suite: Suite,
    labels: Labels,
    results: Sequence[Result],
    default_run: RunFolder | None,
    answers: Sequence[AnswersSection] = (),
) -> str:
    """The page as text; `default_run` gives the worst questions and the sweep, where it is kept."""
    environment = Environment(
        loader=PackageLoader("askem.evaluation", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    template = environment.get_template("report.html")
    kinds = sorted(set(labels.kinds))
    asked = list(default_run.asked.values()) if default_run else []
    return template.render(
        suite=suite,
        labels=labels,
        measures=KEPT,
        main=MAIN,
        rows=rows_of(suite, labels, results),
        kinds=[(kind, labels.kinds.count(kind)) for kind in kinds],
        by_kind=[[mean_of_kind(labels, r, kind) for kind in kinds] for r in results],
        manifest=results[0].manifest,
        worst=_worst(asked),
        ranks=ranks,
        right_ids=lambda one: {name for right in one.gold for name in right},
        sweep=_sweep(default_run),
        answers=answers,
        answer_measures=NAMES,
        refusing_columns=REFUSING,
        width=_WIDTH,
        height=_HEIGHT,
    )


def _worst(asked: Sequence[Asked]) -> list[Asked]:
    """Answerable questions by rising value, those answered perfectly left out."""
    judged = [one for one in asked if one.measures and one.measures[MAIN] < 1.0]
    return sorted(judged, key=lambda one: (one.measures[MAIN], one.id))[:WORST]


def _sweep(run: RunFolder | None) -> dict[str, Any] | None:
    """Both error curves as SVG points, and the threshold that a budget of 5 % gives."""
    if run is None or not any(asked.unanswerable for asked in run.asked.values()):
        return None
    try:
        found = calibrate(scored(run), 0.05)
    except InvalidInput:
        return None  # too few questions for two halves; the rest of the page stands
    top = found.held_out[-1].threshold or 1.0

    def line(points: Sequence[Point], name: str) -> str:
        return " ".join(
            f"{p.threshold / top * _WIDTH:.1f},{(1 - getattr(p, name)) * _HEIGHT:.1f}"
            for p in points
        )

    return {
        "found": found,
        "top": top,
        "at": found.threshold / top * _WIDTH,
        "refused": line(found.held_out, "wrongly_refused"),
        "answered": line(found.held_out, "wrongly_answered"),
    }
