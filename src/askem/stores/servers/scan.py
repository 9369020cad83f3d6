"""All documents of an index as they stand at one moment."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import elasticsearch as es

from askem.errors import BackendUnavailable
from askem.stores.servers.elastic import Elastic, whole
from askem.stores.servers.names import Names

_PAGE = 1_000
_KEEP = "5m"


def scan(
    elastic: Elastic,
    names: Names,
    *,
    index: str | None = None,
    query: dict[str, Any] | None = None,
    fields: list[str] | None = None,
) -> Iterator[dict[str, Any]]:
    """Each document's id, as `_id`, and source, as `_source`; of the alias's index, or of `index`;
    all fields that are kept, or `fields`. Raises BackendUnavailable."""
    target = index or names.base
    opened = elastic.write(lambda c: c.open_point_in_time(index=target, keep_alive=_KEEP))
    point = opened["id"]
    after: Any = None
    try:
        while True:

            def page(client: es.Elasticsearch, after: Any = after) -> list[dict[str, Any]]:
                answer = client.search(
                    pit={"id": point, "keep_alive": _KEEP},
                    query=query or {"match_all": {}},
                    sort=[{"_shard_doc": "asc"}],
                    size=_PAGE,
                    search_after=after,
                    track_total_hits=False,
                    source_includes=fields,
                )
                hits: list[dict[str, Any]] = whole(answer.body)["hits"]["hits"]
                return hits

            hits = elastic.write(page)
            yield from hits
            if len(hits) < _PAGE:
                return
            after = hits[-1]["sort"]
    finally:
        # Closed to spare the engine; left open it ends by itself, and what went wrong before this
        # is what counts.
        with suppress(BackendUnavailable):
            elastic.once(lambda client: client.close_point_in_time(id=point))
