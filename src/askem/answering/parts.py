"""A question that asks two things, as the questions it is made of."""

from __future__ import annotations

import re

from askem.text.analysis import question_terms

MOST = 3
_LEAST_TERMS = 2
"""Of a part that can be searched for by itself: "and how does it work?" says not of what."""
_SEAM = re.compile(
    r"\?\s+(?=\w)|[,;]?\s+(?:and|or|but)\s+(?:also\s+)?"
    r"(?=(?:(?:in|at|on|by|to|for|from|with|of|since|until|under) )?"
    r"(?:what|how|why|when|where|who|whom|whose|which)\b)",
    re.IGNORECASE,
)
_OPENS = re.compile(
    r"(?:what|how|why|when|where|who|whom|whose|which|is|are|was|were|do|does|did|has|have|had|can"
    r"|could|will|would|should|in|at|on|by|to|for|from|with|of|since|until|under)\b",
    re.IGNORECASE,
)


def parts_of(question: str) -> tuple[str, ...]:
    """The questions that a question is made of, in order, each with a question mark; empty where
    it asks one thing, or where a part names too little to be asked alone."""
    pieces = [piece.strip(" ?,;") for piece in _SEAM.split(question)]
    pieces = [piece for piece in pieces if piece]
    alone = all(len(set(question_terms(piece))) >= _LEAST_TERMS for piece in pieces)
    if not alone or not 2 <= len(pieces) <= MOST or not all(map(_OPENS.match, pieces)):
        return ()
    return tuple(f"{piece}?" for piece in pieces)
