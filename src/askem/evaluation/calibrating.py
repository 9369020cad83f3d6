"""The threshold of refusal for somebody's own corpus and questions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from dotenv import set_key

from askem.errors import InvalidInput
from askem.evaluation.refusal import NOTHING, Scored, Share, calibrate, wilson
from askem.evaluation.runfolder import RunFolder

SETTING = "ASKEM_REFUSE_SCORE"


def scored(run: RunFolder) -> list[Scored]:
    """The run's questions with their best scores. Raises InvalidInput where the ranking's scores
    are not on one scale for all questions."""
    config = run.searching
    if config.ranking != "proximity" or config.legs != ("sparse", "dense"):
        raise InvalidInput(
            config.name,
            "only `proximity` over both legs puts all questions on one scale",
        )
    return [
        Scored(
            question_id=asked.id,
            cluster=asked.cluster,
            score=asked.hits[0][1] if asked.hits else NOTHING,
            answerable=not asked.unanswerable,
        )
        for asked in run.asked.values()
    ]


def calibrate_run(run: RunFolder, budget: float, write: Path | None) -> Iterator[str]:
    """Lines that say what was chosen and what it does; the setting goes into `write`."""
    questions = scored(run)
    found = calibrate(questions, budget)
    yield f"{SETTING}={found.threshold}"
    yield f"AUROC {found.auroc:.3f}"
    yield f"answerable questions refused, other half: {_share(found.wrongly_refused)}"
    yield f"unanswerable questions refused, other half: {_share(found.refused)}"
    yield from _by_kind(run, questions, found.threshold)
    if write is not None:
        set_key(write, SETTING, str(found.threshold), quote_mode="never")
        yield f"written to {write}"


def _by_kind(run: RunFolder, questions: Sequence[Scored], threshold: float) -> Iterator[str]:
    refused: dict[str, list[bool]] = defaultdict(list)
    for question in questions:
        kind = run.asked[question.question_id].kind
        side = "answerable" if question.answerable else "unanswerable"
        refused[f"{side}, {kind}"].append(question.score < threshold)
    if len(refused) > 2:
        yield "refused, both halves, by kind:"
        for name, values in sorted(refused.items()):
            yield f"  {name}: {_share(wilson(sum(values), len(values)))}"


def _share(share: Share) -> str:
    return f"{share.k} of {share.n}, {share.value:.1%} [{share.low:.1%}, {share.high:.1%}]"
