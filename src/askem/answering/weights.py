"""What each word of a sentence counts for when it is looked up in a passage."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable

from askem.text.analysis import tokens

Weight = Callable[[str], float]
"""An analysed term to its weight, > 0; for terms never seen too."""


def uniform(term: str) -> float:
    """Each distinct word counts the same: measured as good as idf (`docs/answers.md`)."""
    return 1.0


def idf_over(texts: Iterable[str]) -> Weight:
    """Smoothed idf over the passages of a run: log(1 + (n + 1) / (max(df, 1) + .5)).

    A term in every passage still weighs more than nothing. One in none weighs as one in a single
    passage: it may be a plain word of the answer's, and ten passages cannot tell.
    """
    frequency: Counter[str] = Counter()
    number = 0
    for text in texts:
        frequency.update(set(tokens(text)))
        number += 1

    def weight(term: str) -> float:
        return math.log(1 + (number + 1) / (max(frequency[term], 1) + 0.5))

    return weight
