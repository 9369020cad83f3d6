"""The dense leg: Weaviate holds one object a window and finds the nearest."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np
import weaviate
from weaviate.classes.query import Filter, MetadataQuery

from askem.models import DenseHits, Filters, Passage, Vector
from askem.stores.scoring import TIE, nearest
from askem.stores.servers.names import Names, window_id
from askem.stores.servers.weaviate import Weaviate

_MOST = 10_000
"""Objects Weaviate returns to one request."""
_CHUNK = 2_000
"""Passage ids of one request; each may have several windows."""


_CHECK_EVERY_S = 30.0
_WINDOWS = 8
"""Windows a passage that one request returns; those with more cost a second one."""


class WeaviateDense:
    def __init__(
        self, client: Weaviate, names: Names, check: Callable[[], object] = lambda: None
    ) -> None:
        """`check` raises where the vectors are another encoder's; asked now and then."""
        self._weaviate = client
        self._names = names
        self._check = check
        self._check_at = 0.0

    def search(
        self,
        vector: Vector,
        top_k: int,
        filters: Filters,
        within: Sequence[str] | None = None,
    ) -> DenseHits:
        """The `top_k` passages nearest to `vector`; ties by passage id.

        Exact under `within` and under filters; without either the engine's graph answers, which
        may miss some of the nearest. Raises BackendUnavailable, and EncoderMismatch where the
        vectors are another encoder's.
        """
        if time.monotonic() >= self._check_at:
            self._check()
            self._check_at = time.monotonic() + _CHECK_EVERY_S
        norm = float(np.linalg.norm(vector))
        unit = (vector / norm if norm > 0 else vector).astype(float).tolist()
        found: dict[str, float] = {}
        chosen = None if within is None else list(dict.fromkeys(within))
        parts = [None] if chosen is None else _chunks(chosen)
        for part in parts:
            condition = where(filters, part)
            # What is screened is wanted whole, and a passage has few windows.
            first = top_k + top_k // 4 + 8 if part is None else _WINDOWS * len(part)
            for passage_id, distance in self._windows(unit, top_k, condition, first):
                found[passage_id] = min(distance, found.get(passage_id, distance))
        similarities = 1.0 - np.array(list(found.values()), dtype=np.float64)
        return nearest(list(found), similarities, top_k)

    def _windows(
        self, unit: list[float], top_k: int, condition: Any, first: int
    ) -> list[tuple[str, float]]:
        """The nearest windows: enough to hold `top_k` passages and all that tie with the last.

        `first`: how many are asked for at first.
        """
        limit = min(first, _MOST)
        while True:
            found = self._weaviate.read(partial(self._near, unit, limit, condition))
            if len(found) < limit or limit == _MOST:
                return found
            passages = list(dict.fromkeys(passage_id for passage_id, _ in found))
            if len(passages) >= top_k:
                last = dict(reversed(found))[passages[top_k - 1]]
                if found[-1][1] > last + TIE:
                    return found
            limit = min(4 * limit, _MOST)

    def _near(
        self,
        unit: list[float],
        limit: int,
        condition: Any,
        client: weaviate.WeaviateClient,
    ) -> list[tuple[str, float]]:
        answer = client.collections.use(self._names.collection_alias).query.near_vector(
            near_vector=unit,
            limit=limit,
            filters=condition,
            return_properties=["passage_id"],
            return_metadata=MetadataQuery(distance=True),
        )
        return [
            (str(item.properties["passage_id"]), float(item.metadata.distance or 0.0))
            for item in answer.objects
        ]

    def passages(self, passage_ids: Sequence[str]) -> dict[str, Passage]:
        """The passages that exist, from the first windows' own properties."""
        found: dict[str, Passage] = {}
        for part in _chunks(list(dict.fromkeys(passage_ids))):
            ids = [window_id(passage_id, 0) for passage_id in part]
            for item in self._weaviate.read(partial(self._fetch, ids)):
                passage = _passage(item)
                found[passage.passage_id] = passage
        return found

    def _fetch(self, ids: list[str], client: weaviate.WeaviateClient) -> list[dict[str, Any]]:
        collection = client.collections.use(self._names.collection_alias)
        answer = collection.query.fetch_objects_by_ids(ids, limit=len(ids))
        return [dict(item.properties) for item in answer.objects]


def where(filters: Filters, passage_ids: Sequence[str] | None) -> Any:
    """What all must hold, None for everything; values match whole and exactly."""
    found = []
    if passage_ids is not None:
        found.append(Filter.by_property("passage_id").contains_any(list(passage_ids)))
    if filters.topic is not None:
        found.append(Filter.by_property("topics").contains_any([filters.topic]))
    if filters.doc_type is not None:
        found.append(Filter.by_property("doc_type").equal(filters.doc_type))
    if filters.preprocessor_id is not None:
        found.append(Filter.by_property("preprocessor_id").equal(filters.preprocessor_id))
    if filters.paper_ids:
        found.append(Filter.by_property("paper_id").contains_any(list(filters.paper_ids)))
    if filters.paragraph_terms:
        terms = list(filters.paragraph_terms)
        found.append(Filter.by_property("paragraph_terms").contains_any(terms))
    return reduce(lambda a, b: a & b, found) if found else None


def _passage(held: dict[str, Any]) -> Passage:
    return Passage(
        passage_id=held["passage_id"],
        paper_id=held["paper_id"],
        doc_type=held["doc_type"],
        preprocessor_id=held["preprocessor_id"],
        order=int(held["order"]),
        text=held["text"],
        topics=tuple(sorted(held["topics"] or ())),
        cosmos_object_id=held["cosmos_object_id"] or None,
        paragraph_terms=tuple(held["paragraph_terms"] or ()),
    )


def _chunks(ids: list[str]) -> list[list[str]]:
    return [ids[start : start + _CHUNK] for start in range(0, len(ids), _CHUNK)]
