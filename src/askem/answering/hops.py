"""The next search of a question that one search does not cover."""

from __future__ import annotations

from collections.abc import Sequence

from askem.answering.models import Seen


def next_query(question: str, seen: Sequence[Seen]) -> str | None:
    """What to search for next; None when the passages seen cover the question.

    `seen` are the searches made so far, the question's own first. Never a query that was asked
    already. Deterministic.
    """
    return None
