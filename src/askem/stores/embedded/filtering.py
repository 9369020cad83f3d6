"""Filters as SQL over `passages JOIN sources`."""

from __future__ import annotations

import json

from askem.models import Filters


def where(filters: Filters) -> tuple[str, list[str]]:
    """A condition and its values; `1` for no filter. Values match whole and exactly."""
    conditions: list[str] = []
    values: list[str] = []
    for column in ("doc_type", "preprocessor_id"):
        value = getattr(filters, column)
        if value is not None:
            conditions.append(f"sources.{column} = ?")
            values.append(value)
    if filters.topic is not None:
        conditions.append("source_id IN (SELECT source_id FROM source_topics WHERE topic = ?)")
        values.append(filters.topic)
    if filters.paper_ids:
        conditions.append("sources.paper_id IN (SELECT value FROM json_each(?))")
        values.append(json.dumps(filters.paper_ids))
    if filters.paragraph_terms:
        conditions.append(
            "row_id IN (SELECT row_id FROM passage_terms "
            "WHERE term IN (SELECT value FROM json_each(?)))"
        )
        values.append(json.dumps(filters.paragraph_terms))
    return " AND ".join(conditions) or "1", values
