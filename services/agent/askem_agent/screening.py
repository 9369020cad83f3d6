"""Which hits of a retriever are what was asked for: a foreign one may not know every filter."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TypeVar

from askem.http.answers import PassageOut
from askem.http.wire import HybridRequest

MAX_TEXT_CHARS = 100_000
"""As long as a passage can be that Askem took in; its other fields together have no more."""
OTHERS = "left out, since the retriever's filters were not those asked for: {}"
TOO_LONG = "left out for having more than 100,000 characters: {}"
_ROUNDING = 1e-4
_Hit = TypeVar("_Hit", bound=PassageOut)


def screened(
    hits: Iterable[_Hit], request: HybridRequest, topics: Collection[str]
) -> tuple[tuple[_Hit, ...], list[str]]:
    """Distinct hits that pass the request's filters, at most its top_k; and what is to be said of
    the others. `topics`: names of the request's topic; not looked at where it has none."""
    distinct = list({hit.passage_id: hit for hit in hits}.values())[: request.top_k]
    passing = [hit for hit in distinct if _passes(hit, request, topics)]
    short = [hit for hit in passing if _fits(hit)]
    left_out = {OTHERS: len(distinct) - len(passing), TOO_LONG: len(passing) - len(short)}
    return tuple(short), [note.format(count) for note, count in left_out.items() if count]


def _fits(hit: PassageOut) -> bool:
    others = hit.model_dump_json(exclude={"text"})
    return len(hit.text) <= MAX_TEXT_CHARS and len(others) <= MAX_TEXT_CHARS


def _passes(hit: PassageOut, request: HybridRequest, topics: Collection[str]) -> bool:
    far = request.distance is not None and (hit.distance or 0.0) > request.distance + _ROUNDING
    terms = request.paragraph_terms
    return (
        not far
        and (request.topic is None or not set(topics).isdisjoint(hit.topics))
        and request.doc_type in (None, hit.doc_type)
        and request.preprocessor_id in (None, hit.preprocessor_id)
        and (not terms or not set(terms).isdisjoint(hit.paragraph_terms))
        and (not request.paper_ids or hit.paper_id in request.paper_ids)
    )
