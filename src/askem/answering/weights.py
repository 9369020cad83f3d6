"""What each word of a sentence counts for when it is looked up in a passage."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable

from askem.text.analysis import tokens

Weight = Callable[[str], float]
"""An analysed term to its weight, > 0; for terms never seen too."""


def idf_over(texts: Iterable[str]) -> Weight:
    """Smoothed idf over the passages of a run: log(1 + (n + 1) / (df + .5)).

    A term in no passage weighs most, one in every passage still more than nothing.
    """
    frequency: Counter[str] = Counter()
    number = 0
    for text in texts:
        frequency.update(set(tokens(text)))
        number += 1

    def weight(term: str) -> float:
        return math.log(1 + (number + 1) / (frequency[term] + 0.5))

    return weight
