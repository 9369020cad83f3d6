"""The sentences of passages that answer a question, chosen without a language model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from askem.answering.models import Seen, Source


@dataclass(frozen=True, slots=True)
class Picked:
    """A piece of a passage to be shown: `source.text[start:end]` is `text`."""

    source: Source
    start: int
    end: int
    text: str
    score: float
    """Higher is better; one scale for all questions."""
    lead: float
    """How far the score is above that of the next best sentence, picked or not; 0 or more."""


def pick(question: str, seen: Sequence[Seen], limit: int = 3) -> list[Picked]:
    """Up to `limit` sentences that answer the question, in the order to be read.

    `seen` are all searches made for it, the question's own first. Empty where no passage has a
    sentence worth showing.
    """
    return []
