"""Does a passage say what a sentence says? A comparison of words, numbers and names."""

from __future__ import annotations

from collections.abc import Sequence

from askem.answering.models import CheckedSentence, Source
from askem.answering.weights import Weight


def check(sentence: str, sources: Sequence[Source], weight: Weight) -> CheckedSentence:
    """A sentence of an answer, without markers, against the passages that it cites."""
    raise NotImplementedError
