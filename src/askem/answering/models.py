"""What was seen and what was made of it, as immutable values. No I/O, no HTTP, no frameworks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["found in source", "partly found", "not found"]
"""What a comparison of words, numbers and names can honestly say of a sentence; never "true"."""

Confidence = Literal["high", "medium", "low"]

Reason = Literal["no content", "nothing found", "not in the corpus", "no support"]
"""Why there is no answer: the question has no content word; no passage came back; the best one is
too far from the question; nothing of what was written stands in its source."""


@dataclass(frozen=True, slots=True)
class Source:
    """A passage as a search brought it."""

    passage_id: str
    paper_id: str
    text: str
    score: float
    """Of the ranking that was in effect; `proximity` puts all questions on one scale."""
    distance: float | None
    """Cosine distance to the question, 0..2; None in a degraded search."""


@dataclass(frozen=True, slots=True)
class Repair:
    """A word of the question that the corpus does not know, and what it was read as."""

    word: str
    read_as: str


@dataclass(frozen=True, slots=True)
class Seen:
    """One search: what was asked, what came back, best first, and the question's measures."""

    query: str
    sources: tuple[Source, ...]
    ranking: str
    """In effect; thresholds on scores hold for `proximity` alone."""
    idf: dict[str, float]
    """The question's analysed terms, after repair, in order; those the corpus lacks included."""
    unknown_terms: tuple[str, ...] = ()
    nearest_distance: float | None = None
    """Distance to the nearest passage under the same filters, screened or not; 0..2."""
    repairs: tuple[Repair, ...] = ()

    @property
    def scale(self) -> float:
        """T, the question's idf mass; 0 for a question without content words."""
        return sum(self.idf.values())


@dataclass(frozen=True, slots=True)
class Citation:
    """Where in a passage a sentence stands: text[start:end] of the passage is `quote`."""

    passage_id: str
    quote: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class CheckedSentence:
    """A sentence of an answer with what was found of it in the passages it names."""

    text: str
    """Without markers."""
    citations: tuple[Citation, ...]
    verdict: Verdict
    missing: tuple[str, ...] = ()
    """What is not in the source, in words for a reader: "12 % is not in the passage"."""
