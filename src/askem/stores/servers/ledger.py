"""The ledger of the server store: an index of its own, which all ingesters share."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import elasticsearch as es

from askem.models import SourceKey
from askem.ports import LedgerEntry
from askem.stores.servers.bulk import Action, Bulk
from askem.stores.servers.elastic import Elastic, whole
from askem.stores.servers.names import Names, source_text

_PAGE = 1_000
_ORDER = [{"paper_id": "asc"}, {"doc_type": "asc"}, {"cosmos_object_id": "asc"}]


class ElasticLedger:
    def __init__(self, elastic: Elastic, bulk: Bulk, names: Names) -> None:
        self._elastic = elastic
        self._bulk = bulk
        self._index = names.ledger

    def get(self, key: SourceKey) -> LedgerEntry | None:
        """As last recorded, by any process."""

        def work(client: es.Elasticsearch) -> Any:
            try:
                return client.get(index=self._index, id=source_text(key))["_source"]
            except es.NotFoundError:
                # No such entry, or no ledger as nothing was ever ingested.
                return None

        source = self._elastic.write(work)
        return None if source is None else _entry(source)

    def record(self, entries: Sequence[LedgerEntry]) -> None:
        """Inserts or overwrites, durably. An outage in between leaves some entries unwritten: it
        is raised, and recording again puts it right."""
        self._bulk.run([_action(self._index, entry) for entry in entries])

    def forget(self, keys: Sequence[SourceKey]) -> None:
        self._bulk.run([Action(self._index, source_text(key)) for key in keys])

    def entries(self, paper_id: str | None = None) -> Iterator[LedgerEntry]:
        """All entries, or one paper's, by key."""
        query = {"term": {"paper_id": {"value": paper_id}}} if paper_id else {"match_all": {}}
        after = None
        self._elastic.write(_quietly_refreshed(self._index))
        while True:
            hits = self._page(query, after)
            yield from (_entry(hit["_source"]) for hit in hits)
            if len(hits) < _PAGE:
                return
            after = hits[-1]["sort"]

    def _page(self, query: dict[str, Any], after: Any) -> list[dict[str, Any]]:
        answer = self._elastic.write(
            lambda client: client.search(
                index=self._index,
                query=query,
                sort=_ORDER,
                size=_PAGE,
                search_after=after,
                ignore_unavailable=True,
            )
        )
        hits: list[dict[str, Any]] = whole(answer.body)["hits"]["hits"]
        return hits


def _quietly_refreshed(index: str) -> Any:
    return lambda client: client.indices.refresh(index=index, ignore_unavailable=True)


def _action(index: str, entry: LedgerEntry) -> Action:
    fields = asdict(entry)
    fields |= fields.pop("key")
    return Action(index, source_text(entry.key), json.dumps(fields).encode(), alias=False)


def _entry(source: dict[str, Any]) -> LedgerEntry:
    fields = dict(source)
    key = SourceKey(fields.pop("paper_id"), fields.pop("doc_type"), fields.pop("cosmos_object_id"))
    return LedgerEntry(key=key, **{**fields, "topics": tuple(fields["topics"])})
