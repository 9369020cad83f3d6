"""Writing to Weaviate: in bounded requests, every object's answer read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeVar

import numpy as np
import weaviate
from numpy.typing import NDArray
from weaviate.classes.query import Filter

from askem.breaker import patiently
from askem.stores.servers import object_requests
from askem.stores.servers.documents import Window
from askem.stores.servers.names import Names
from askem.stores.servers.object_requests import MOST, PAGE
from askem.stores.servers.ours import our_object
from askem.stores.servers.weaviate import Weaviate

T = TypeVar("T")
_BATCH = 200
_ORDERS = 1_000
_KEYS = 64
_NOBODYS = "00000000-0000-0000-0000-000000000000"
"""The id of no object."""


class Objects:
    def __init__(self, client: Weaviate, names: Names, dimension: int) -> None:
        self._weaviate = client
        self._any_vector = [1.0] * dimension
        self._alias = names.collection_alias

    def write(self, windows: Sequence[Window], collection: str | None = None) -> dict[str, str]:
        """Writes all, each under its own id, so that writing again is harmless.

        Returns the reasons of those that were refused, by source. Raises BackendUnavailable.
        """
        refused: dict[str, str] = {}
        for start in range(0, len(windows), _BATCH):
            part = windows[start : start + _BATCH]
            answer = self._again(partial(object_requests.insert, collection or self._alias, part))
            for place, reason in answer.items():
                refused.setdefault(part[place].properties["source"], reason)
        return refused

    def delete_stale(
        self, sources: Sequence[str], revisions: Sequence[str], collection: str | None = None
    ) -> None:
        """Deletes these sources' objects but for those of the revisions."""
        for start in range(0, len(sources), _KEYS):
            part = list(sources[start : start + _KEYS])
            kept = Filter.by_property("source").contains_any(part)
            for revision in revisions[start : start + _KEYS]:
                kept = kept & Filter.by_property("revision").not_equal(revision)
            # At most 10,000 a request.
            while self._again(partial(object_requests.delete, collection or self._alias, kept)):
                continue

    def check_writable(self) -> None:
        """Raises BackendUnavailable where the API key may not write: before anything is written
        elsewhere."""
        self.delete_windows([_NOBODYS])

    def settle(self, windows: Sequence[Window]) -> None:
        """Writes anew those of `windows`, just written, that no search finds.

        Weaviate stores an object, then what finds it: filters, the vector index. Killed in between,
        it comes back with an object that is not found, and skips it when it is written again,
        for nothing in it has changed (1.35.2, shard_write_put.go, compareObjsForInsertStatus).
        """
        if not windows:
            # Sources without passages; a filter by no source at all is an error.
            return
        held = self.passages(sorted({w.properties["source"] for w in windows}))
        lost = [w for w in windows if not _is_whole(w.properties, held)]
        self.delete_windows([w.uuid for w in lost])
        self.write(lost)

    def delete_windows(self, uuids: Sequence[str]) -> None:
        """One by one and by id: a filter does not find what was half written."""
        for uuid in uuids:
            self._again(partial(object_requests.delete_by_id, self._alias, uuid))

    def delete_passages(self, passage_ids: Sequence[str]) -> None:
        """Deletes these passages' objects, whatever their source."""
        for start in range(0, len(passage_ids), _BATCH):
            part = list(passage_ids[start : start + _BATCH])
            chosen = Filter.by_property("passage_id").contains_any(part)
            while self._again(partial(object_requests.delete, self._alias, chosen)):
                continue

    def everything(self) -> tuple[dict[str, tuple[str, str, int, int]], list[str]]:
        """As `passages`, of all sources, those that no search finds without windows; and the ids
        of objects that are not ours."""
        rows, foreign = [], []
        for uuid, row, _ in self.walk(vectors=False):
            if our_object(uuid, row):
                rows.append(row)
            else:
                foreign.append(uuid)
        sources = sorted({row["source"] for row in rows})
        found = {
            key: (source, revision, 0, due)
            for key, (source, revision, _, due) in _by_passage(rows).items()
        }
        for start in range(0, len(sources), _KEYS):
            found |= self.passages(sources[start : start + _KEYS])
        return found, foreign

    def walk(
        self, *, vectors: bool, collection: str | None = None
    ) -> Iterator[tuple[str, dict[str, Any], list[float]]]:
        """Each object's id, properties and, where asked for, its vector; in no order."""
        after: str | None = None
        while True:
            page = self._again(
                partial(object_requests.page, collection or self._alias, vectors, after)
            )
            for item in page:
                vector = item.vector.get("default", [])
                yield str(item.uuid), dict(item.properties), [float(x) for x in vector]
            if len(page) < PAGE:
                return
            after = str(page[-1].uuid)

    def counts(self, sources: Sequence[str]) -> dict[str, int]:
        """Passages with all their windows, by source."""
        found: Counter[str] = Counter()
        for start in range(0, len(sources), _KEYS):
            found += self._counted(list(sources[start : start + _KEYS]))
        return found

    def passages(self, sources: Sequence[str]) -> dict[str, tuple[str, str, int, int]]:
        """Source, revision, windows held and windows due of each passage, by passage id.

        Found by searching: an engine that was killed may have an object, and not have it in its
        vector index.
        """
        return _by_passage(_own(self._rows(list(sources))))

    def vectors(self, source: str) -> list[NDArray[np.float32]] | None:
        """One array a passage, in order; None where not all windows of one revision are there."""
        rows = sorted(_own(self._rows([source], vectors=True)), key=itemgetter("order", "window"))
        passages = [list(group) for _, group in groupby(rows, key=itemgetter("order"))]
        whole = all(
            passage[0]["order"] == order
            and [row["window"] for row in passage] == list(range(int(passage[0]["windows"])))
            for order, passage in enumerate(passages)
        )
        if not whole or len({row["revision"] for row in rows}) != 1:
            return None
        return [
            np.array([row["vector"] for row in passage], dtype=np.float32) for passage in passages
        ]

    def _counted(self, sources: list[str]) -> Counter[str]:
        passages = self.passages(sources).values()
        return Counter(source for source, _, held, due in passages if held == due)

    def _rows(self, sources: list[str], *, vectors: bool = False) -> list[dict[str, Any]]:
        if not sources:
            # The client refuses a filter of no values.
            return []
        chosen = Filter.by_property("source").contains_any(sources)
        rows = self._again(partial(self._fetch, chosen, vectors))
        if len(rows) < MOST:
            return rows
        if len(sources) > 1:
            half = len(sources) // 2
            return self._rows(sources[:half]) + self._rows(sources[half:])
        return self._by_order(chosen, vectors)

    def _by_order(self, chosen: Any, vectors: bool) -> list[dict[str, Any]]:
        """All of a source that has more objects than one request returns."""
        rows: list[dict[str, Any]] = []
        order = Filter.by_property("order")
        for first in range(0, 1_000_000, _ORDERS):
            part = chosen & order.greater_or_equal(first) & order.less_than(first + _ORDERS)
            found = self._again(partial(self._fetch, part, vectors))
            if not found:
                break
            rows += found
        return rows

    def _fetch(
        self, chosen: Any, vectors: bool, client: weaviate.WeaviateClient
    ) -> list[dict[str, Any]]:
        answer = client.collections.use(self._alias).query.near_vector(
            near_vector=self._any_vector,
            filters=chosen,
            limit=MOST,
            return_properties=["passage_id", "source", "revision", "windows", "order", "window"],
            include_vector=vectors,
        )
        return [
            {**item.properties, "uuid": str(item.uuid), "vector": item.vector.get("default")}
            for item in answer.objects
        ]

    def _again(self, work: Callable[[weaviate.WeaviateClient], T]) -> T:
        return patiently(lambda: self._weaviate.write(work))


def _is_whole(properties: dict[str, Any], held: dict[str, tuple[str, str, int, int]]) -> bool:
    """Whether all windows of the passage are found, in this revision."""
    due = int(properties["windows"])
    wanted = (properties["source"], properties["revision"], due, due)
    return held.get(properties["passage_id"]) == wanted


def _own(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if our_object(row["uuid"], row)]


def _by_passage(rows: Sequence[dict[str, Any]]) -> dict[str, tuple[str, str, int, int]]:
    held = Counter(row["passage_id"] for row in rows)
    return {
        row["passage_id"]: (
            row["source"],
            row["revision"],
            held[row["passage_id"]],
            int(row["windows"]),
        )
        for row in rows
    }
