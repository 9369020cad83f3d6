"""Two runs side by side, question by question, as text for a reader."""

from __future__ import annotations

from collections.abc import Iterator

from askem.errors import InvalidInput
from askem.evaluation.answers.measures import RIGHT
from askem.evaluation.compare import Difference, holm, paired
from askem.evaluation.runfolder import DEPTH, Asked, RunFolder, ranks
from askem.evaluation.running import Run

MAIN = ("nDCG@10", *RIGHT)
"""By what questions are listed: the first that both runs have for all of them."""
_Pair = tuple[Asked, Asked]


def compare_runs(first: RunFolder, second: RunFolder, *, show: int) -> Iterator[str]:
    """Each measure's paired difference, second minus first (bootstrap over clusters,
    randomisation test, Holm over the measures), then the questions that changed most.

    Raises InvalidInput where the runs are not of the same questions, or measure nothing alike.
    """
    pairs = _pairs(first, second)
    measures = [m for m in pairs[0][0].measures if _having(m, pairs)]
    main = next((m for m in MAIN if len(_having(m, pairs)) == len(pairs)), None)
    if main is None:
        raise InvalidInput("compare", "the two runs have no measure in common")
    found = [_difference(m, _having(m, pairs)) for m in measures]
    yield f"{second.config.name} - {first.config.name}, {len(pairs)} questions:"
    for measure, d, p in zip(measures, found, holm([d.p for d in found]), strict=True):
        yield (
            f"  {measure:<10} {d.mean:+.4f} [{d.low:+.4f}, {d.high:+.4f}]  p {p:.4f}  "
            f"better {d.wins}, worse {d.losses}, equal {d.ties}"
        )
    change = sorted(_having(main, pairs), key=lambda pair: _delta(main, pair))
    yield from _listed("worse", main, [p for p in change if _delta(main, p) < 0][:show])
    yield from _listed("better", main, [p for p in reversed(change) if _delta(main, p) > 0][:show])


def changed_since(earlier: RunFolder, now: Run) -> Iterator[str]:
    """Questions whose best hits are not what they were."""
    count = 0
    for record in now.records:
        before = earlier.asked.get(record.question_id)
        if before is None:
            yield f"{record.question_id}: was not asked then"
            continue
        old, new = [name for name, _ in before.hits], list(record.ids[:DEPTH])
        if old != new:
            count += 1
            yield f"{before.id}: {before.question}"
            yield f"  then {' '.join(old)}"
            yield f"  now  {' '.join(new)}"
    yield f"{count} of {len(now.records)} questions have other hits in their first {DEPTH}"


def _pairs(first: RunFolder, second: RunFolder) -> list[_Pair]:
    answerable = [
        {key: asked for key, asked in run.asked.items() if asked.measures}
        for run in (first, second)
    ]
    if answerable[0].keys() != answerable[1].keys() or not answerable[0]:
        raise InvalidInput("compare", "the two runs are not of the same labelled questions")
    return [(asked, answerable[1][key]) for key, asked in answerable[0].items()]


def _having(measure: str, pairs: list[_Pair]) -> list[_Pair]:
    """Labels need not say something about every question."""
    return [(a, b) for a, b in pairs if measure in a.measures and measure in b.measures]


def _difference(measure: str, pairs: list[_Pair]) -> Difference:
    return paired(
        {a.id: a.measures[measure] for a, _ in pairs},
        {b.id: b.measures[measure] for _, b in pairs},
        {a.id: a.cluster for a, _ in pairs},
    )


def _delta(measure: str, pair: _Pair) -> float:
    return pair[1].measures[measure] - pair[0].measures[measure]


def _listed(word: str, measure: str, pairs: list[_Pair]) -> Iterator[str]:
    if pairs:
        yield f"{word}:"
    for before, after in pairs:
        yield f"  {_delta(measure, (before, after)):+.3f}  {before.id}: {before.question}"
        yield f"          gold at {_places(before)} -> {_places(after)}; first {_top(after)}"


def _places(asked: Asked) -> str:
    return ", ".join(str(rank) if rank else f">{DEPTH}" for rank in ranks(asked)) or "-"


def _top(asked: Asked) -> str:
    return asked.hits[0][0] if asked.hits else "nothing"
