"""The identifiers of a text: acronyms, strains, genes, proteins."""

from __future__ import annotations

import re
from collections import Counter

_TOKEN = re.compile(r"[^\W_]+(?:[-\u2010\u2011/.][^\W_]+)*")
_HYPHENS = str.maketrans("\u2010\u2011", "--")


def term_counts(text: str) -> list[tuple[str, int]]:
    """Words with at least two capital letters, and how often each occurs.

    A word is a run of letters and digits with single hyphens, slashes or full stops inside it
    ("SARS-CoV-2", "NW-4021", "B.1.1.7/VOC"); Unicode hyphens count as "-", and a plural "s"
    stays as written. A word of several plain capitalised parts ("Mann-Whitney") counts too.

    Returns:
        (word, count) pairs by falling count, then by word in code point order.
    """
    words = (word for word in _TOKEN.findall(text.translate(_HYPHENS)) if _has_capitals(word))
    return sorted(Counter(words).items(), key=lambda item: (-item[1], item[0]))


def _has_capitals(word: str) -> bool:
    return sum(letter.isupper() for letter in word) > 1
