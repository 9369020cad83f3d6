"""When not to answer, and how much to trust an answer; `docs/answers.md` has the measurements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from askem.answering.models import Confidence, Reason, Seen, Source
from askem.answering.passage_units import is_section
from askem.answering.picking import Picked
from askem.answering.picking_scores import PASSAGES, codes_of
from askem.answering.sentence_kinds import kind_of

EVERYDAY_TERMS = 2
"""Content words of a question ("What time is it?") that may all occur where nothing answers it."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What a search must reach to be answered from."""

    score: float = 1.15
    """Least score of the best passage under the `proximity` ranking, the only one that puts all
    questions on one scale; under others it is not looked at."""
    distance: float = 0.70
    """Largest cosine distance, 0..2, of the nearest passage of the corpus to a question of one or
    two content words; of longer ones the score tells enough."""


SECTION_EASE = 0.1
"""How much less is asked of a section of a handbook: it is shorter than a paper's paragraph."""


def reason_to_refuse(seen: Seen, thresholds: Thresholds) -> Reason | None:
    """Why the first search for a question gives nothing to answer from; None where it does.

    A degraded search, which knows no distances, is judged by what it has. A code of the question
    (QM-4021, A-7) that stands in a section is answered from, however short the question.
    """
    if seen.scale == 0:
        return "no content"
    if not seen.sources:
        return "nothing found"
    if _holds_code(seen):
        return None
    far = seen.nearest_distance is not None and seen.nearest_distance > thresholds.distance
    if far and len(seen.idf) <= EVERYDAY_TERMS:
        return "not in the corpus"
    if seen.ranking == "proximity" and not any(_reaches(s, thresholds) for s in seen.sources):
        return "not in the corpus"
    return None


def _holds_code(seen: Seen) -> bool:
    asked = {code for code in codes_of(seen.query) if any(map(str.isalpha, code))}
    sections = [source.text for source in seen.sources[:PASSAGES] if is_section(source.text)]
    return any(not asked.isdisjoint(codes_of(text)) for text in sections)


def _reaches(source: Source, thresholds: Thresholds) -> bool:
    return source.score >= thresholds.score - (SECTION_EASE if is_section(source.text) else 0.0)


SCORE_OF_LOW = 1.4
"""A best passage below this score gives low confidence, whatever the sentences say."""
LEAD_OF_MEDIUM = 0.1
LEAD_OF_HIGH = 0.3
"""How far the first sentence must stand out; its lead tells right from wrong (AUROC .77)."""
FIT_OF_HIGH = 0.6
"""What the first sentence must have of what is asked for."""
RIGHT: dict[Confidence, float] = {"high": 0.9, "medium": 0.7, "low": 0.55}
"""Share of answers of each step that showed the right words, as measured over papers' paragraphs
(COVID-QA); few answers over sections were measured, and more of them were right."""


def confidence(seen: Seen, picked: Sequence[Picked]) -> Confidence:
    """How often answers like this one are right, in three steps; `RIGHT` has their shares.

    `seen` is the question's own search, `picked` what `pick` chose, whoever writes the answer.
    An answer without the number, the steps or the command that is asked for is medium at most.
    Low under a ranking other than `proximity`, for which nothing was measured.
    """
    if not picked or not seen.sources or seen.ranking != "proximity":
        return "low"
    # Not the first: a reranker may have put another one there.
    if (
        max(source.score for source in seen.sources) < SCORE_OF_LOW
        or picked[0].lead < LEAD_OF_MEDIUM
    ):
        return "low"
    return "high" if picked[0].lead >= LEAD_OF_HIGH and _is_apt(seen, picked[0]) else "medium"


def _is_apt(seen: Seen, first: Picked) -> bool:
    """Whether the first sentence has what is asked for where that shows: a number, and of a
    section steps or a command."""
    kind = kind_of(seen.query)
    shows = kind in ("quantity", "value") or (kind == "procedure" and is_section(first.source.text))
    return first.fit >= FIT_OF_HIGH or not shows
