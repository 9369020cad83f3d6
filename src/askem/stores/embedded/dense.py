"""The dense leg: exact cosine search over the vector file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from askem.errors import BackendUnavailable, CorruptStore
from askem.models import DenseHits, Filters, Vector
from askem.stores.embedded.access import Access, Snapshot
from askem.stores.embedded.filtering import where
from askem.stores.embedded.vectors import window_slots
from askem.stores.scoring import TIE, nearest

_SCAN_SHARE = 0.2
"""Above this share of all vectors, scanning everything and masking beats gathering."""
_CACHED_FILTERS = 64
_ATTEMPTS = 5


class EmbeddedDense:
    def __init__(self, access: Access) -> None:
        self._access = access
        # Keyed by snapshot version too, so that a write makes the cached answer unreachable.
        self._slots_of = lru_cache(maxsize=_CACHED_FILTERS)(self._filtered_slots)

    def search(
        self,
        vector: Vector,
        top_k: int,
        filters: Filters,
        within: Sequence[str] | None = None,
    ) -> DenseHits:
        """The `top_k` passages nearest to `vector`; ties by passage id."""
        norm = float(np.linalg.norm(vector))
        # A zero vector is at distance 1 from everything, as in Weaviate.
        unit = np.asarray(vector / norm if norm > 0 else vector, dtype=np.float32)
        for attempt in range(_ATTEMPTS):
            generation = self._access.generation()
            try:
                if within is None:
                    found = self._everywhere(unit, top_k, filters)
                else:
                    found = self._among(unit, top_k, filters, within)
            except CorruptStore:
                if self._access.generation() == generation or attempt == _ATTEMPTS - 1:
                    raise
            else:
                # A compaction meanwhile moved the vectors: slots may be those of the other file.
                if self._access.generation() == generation:
                    return found
        raise BackendUnavailable("dense index", "the vectors are being moved again and again")

    def _everywhere(self, unit: Vector, top_k: int, filters: Filters) -> DenseHits:
        snapshot = self._access.snapshot()
        if filters.is_empty:
            rows, similarities = self._scan(snapshot, unit, top_k, None)
        else:
            slots = self._slots_of(snapshot.version, filters)
            slots = slots[slots < snapshot.slots]
            if len(slots) > _SCAN_SHARE * snapshot.slots:
                rows, similarities = self._scan(snapshot, unit, top_k, slots)
            else:
                vectors = self._access.vectors(snapshot.generation, snapshot.slots)
                scores = vectors[slots] @ unit
                rows, similarities = _best_rows(snapshot.row_of_slot[slots], scores, top_k)
        names = self._names(rows.tolist())
        found = [
            (names[r], s) for r, s in zip(rows.tolist(), similarities, strict=True) if r in names
        ]
        return nearest([name for name, _ in found], np.array([s for _, s in found]), top_k)

    def _among(
        self, unit: Vector, top_k: int, filters: Filters, within: Sequence[str]
    ) -> DenseHits:
        if not within:
            return nearest([], np.empty(0), top_k)
        condition, values = where(filters)
        db = self._access.db
        # One transaction, so that slots and generation belong together.
        db.execute("BEGIN")
        try:
            generation = self._access.generation()
            found = db.execute(
                "SELECT passage_id, first_slot, windows FROM passages "
                "JOIN sources USING (source_id) "
                f"WHERE passage_id IN (SELECT value FROM json_each(?)) AND {condition}",
                [json.dumps(list(within)), *values],
            ).fetchall()
        finally:
            db.execute("COMMIT")
        if not found:
            return nearest([], np.empty(0), top_k)
        first = np.array([slot for _, slot, _ in found], dtype=np.int64)
        windows = np.array([n for *_, n in found], dtype=np.int64)
        slots = window_slots(first, windows)
        vectors = self._access.vectors(generation, int(slots.max()) + 1)
        starts = np.cumsum(windows) - windows
        similarities = np.maximum.reduceat(vectors[slots] @ unit, starts)
        return nearest([passage_id for passage_id, *_ in found], similarities, top_k)

    def _scan(
        self, snapshot: Snapshot, unit: Vector, top_k: int, slots: NDArray[np.int64] | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Rows and similarities of the best, out of all slots or out of `slots`."""
        vectors = self._access.vectors(snapshot.generation, snapshot.slots)
        scores = vectors[: snapshot.slots] @ unit
        if slots is not None:
            return _best_rows(snapshot.row_of_slot[slots], scores[slots], top_k)
        return _best_rows(snapshot.row_of_slot, scores, top_k)

    def _filtered_slots(self, version: int, filters: Filters) -> NDArray[np.int64]:
        """Every slot of the passages that pass the filters, ascending."""
        condition, values = where(filters)
        found = self._access.db.execute(
            "SELECT first_slot, windows FROM passages JOIN sources USING (source_id) "
            f"WHERE {condition} ORDER BY first_slot",
            values,
        ).fetchall()
        if not found:
            return np.empty(0, dtype=np.int64)
        first, windows = np.array(found, dtype=np.int64).T
        return window_slots(first, windows)

    def _names(self, rows: list[int]) -> dict[int, str]:
        return dict(
            self._access.db.execute(
                "SELECT row_id, passage_id FROM passages "
                "WHERE row_id IN (SELECT value FROM json_each(?))",
                (json.dumps(rows),),
            )
        )


def _best_rows(
    rows: NDArray[np.int64], scores: NDArray[np.float32], top_k: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The best `top_k` distinct rows by their best score, those tied with the last included;
    dead slots (row -1) left out."""
    live = np.where(rows >= 0, scores, -np.inf)
    take = min(len(live), 2 * top_k + 8)
    while take:
        chosen = np.argpartition(live, len(live) - take)[len(live) - take :]
        # Every slot tied with the worst chosen one, so that ties are broken by id and not by
        # where a passage happens to stand in the file.
        worst = max(live[chosen].min() - TIE, np.finfo(np.float32).min)
        chosen = np.flatnonzero(live >= worst)
        chosen = chosen[np.argsort(-live[chosen], kind="stable")]
        best, first = np.unique(rows[chosen], return_index=True)
        if len(best) >= top_k or take == len(live):
            order = np.argsort(first)
            return best[order], live[chosen[first[order]]]
        take = min(len(live), 4 * take)
    return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
