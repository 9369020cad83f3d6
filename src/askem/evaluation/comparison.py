"""Two runs side by side, question by question, as text for a reader."""

from __future__ import annotations

from collections.abc import Iterator

from askem.errors import InvalidInput
from askem.evaluation.compare import holm, paired
from askem.evaluation.runfolder import DEPTH, Asked, RunFolder, ranks
from askem.evaluation.running import Run

MAIN = "nDCG@10"


def compare_runs(first: RunFolder, second: RunFolder, *, show: int) -> Iterator[str]:
    """Each measure's paired difference, second minus first (bootstrap over clusters,
    randomisation test, Holm over the measures), then the questions that changed most.

    Raises InvalidInput where the runs are not of the same questions.
    """
    pairs = _pairs(first, second)
    clusters = {a.id: a.cluster for a, _ in pairs}
    measures = [m for m in pairs[0][0].measures if m in pairs[0][1].measures]
    found = [
        paired(
            {a.id: a.measures[m] for a, _ in pairs},
            {b.id: b.measures[m] for _, b in pairs},
            clusters,
        )
        for m in measures
    ]
    yield f"{second.config.name} - {first.config.name}, {len(pairs)} questions:"
    for measure, d, p in zip(measures, found, holm([d.p for d in found]), strict=True):
        yield (
            f"  {measure:<10} {d.mean:+.4f} [{d.low:+.4f}, {d.high:+.4f}]  p {p:.4f}  "
            f"better {d.wins}, worse {d.losses}, equal {d.ties}"
        )
    change = sorted(pairs, key=lambda pair: pair[1].measures[MAIN] - pair[0].measures[MAIN])
    yield from _listed("worse", [p for p in change if _delta(p) < 0][:show])
    yield from _listed("better", [p for p in reversed(change) if _delta(p) > 0][:show])


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


def _pairs(first: RunFolder, second: RunFolder) -> list[tuple[Asked, Asked]]:
    answerable = [
        {key: asked for key, asked in run.asked.items() if asked.measures}
        for run in (first, second)
    ]
    if answerable[0].keys() != answerable[1].keys() or not answerable[0]:
        raise InvalidInput("compare", "the two runs are not of the same labelled questions")
    return [(asked, answerable[1][key]) for key, asked in answerable[0].items()]


def _delta(pair: tuple[Asked, Asked]) -> float:
    return pair[1].measures[MAIN] - pair[0].measures[MAIN]


def _listed(word: str, pairs: list[tuple[Asked, Asked]]) -> Iterator[str]:
    if pairs:
        yield f"{word}:"
    for before, after in pairs:
        yield f"  {_delta((before, after)):+.3f}  {before.id}: {before.question}"
        yield f"          gold at {_places(before)} -> {_places(after)}; first {_top(after)}"


def _places(asked: Asked) -> str:
    return ", ".join(str(rank) if rank else f">{DEPTH}" for rank in ranks(asked)) or "-"


def _top(asked: Asked) -> str:
    return asked.hits[0][0] if asked.hits else "nothing"
