"""Papers, passages and topics, read from Elasticsearch; passages also from Weaviate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import elasticsearch as es

from askem.errors import BackendUnavailable
from askem.models import CorpusSnapshot, PaperSummary, Passage, TopicCount
from askem.stores.servers.dense import WeaviateDense
from askem.stores.servers.elastic import Elastic, whole
from askem.stores.servers.mappings import WINDOW
from askem.stores.servers.names import Names
from askem.stores.servers.ours import our_passage

_FIELDS = [
    "passage_id",
    "paper_id",
    "doc_type",
    "cosmos_object_id",
    "preprocessor_id",
    "topics",
    "paragraph_terms",
    "order",
    "text",
]
_PRECISION = 40_000
"""Papers up to which counting them is exact but for rare collisions; above, within about 1 %."""
_MOST_TOPICS = 10_000
_MASK = (1 << 32) - 1


class ServerReader:
    def __init__(self, elastic: Elastic, dense: WeaviateDense, names: Names) -> None:
        self._elastic = elastic
        self._dense = dense
        self._names = names

    def passages(self, passage_ids: Sequence[str]) -> dict[str, Passage]:
        """From Elasticsearch; from Weaviate where Elasticsearch cannot answer."""
        ids = list(dict.fromkeys(passage_ids))
        if not ids:
            return {}
        try:
            answer = self._elastic.read(lambda client: self._get(client, ids))
        except BackendUnavailable as unavailable:
            try:
                return self._dense.passages(ids)
            except BackendUnavailable as error:
                raise error from unavailable
        found = {doc["_id"]: doc["_source"] for doc in answer if doc.get("found")}
        # What somebody else put there is no passage.
        return {key: passage_of(held) for key, held in found.items() if our_passage(held)}

    def _get(self, client: es.Elasticsearch, ids: list[str]) -> list[dict[str, Any]]:
        # Not in real time: as searches see it.
        answer = client.mget(
            index=self._names.base, ids=ids, source_includes=_FIELDS, realtime=False
        )
        docs: list[dict[str, Any]] = answer["docs"]
        for doc in docs:
            if "error" in doc:
                whole(doc)
        return docs

    def paper(self, paper_id: str) -> PaperSummary | None:
        found = self._summaries([{"term": {"paper_id": {"value": paper_id}}}], None, 1)
        return found[0] if found else None

    def papers(self, *, topic: str | None, after: str | None, limit: int) -> list[PaperSummary]:
        if topic is None:
            return self._summaries([], after, limit)
        condition = {"term": {"topics": {"value": topic}}}
        answer = self._search({**_grouped(after, limit), "query": condition})
        ids = [bucket["key"]["paper_id"] for bucket in answer["aggregations"]["papers"]["buckets"]]
        # All of these papers' passages, not only those of the topic.
        return self._summaries([{"terms": {"paper_id": ids}}], None, limit) if ids else []

    def paper_passages(self, paper_id: str, *, limit: int, offset: int) -> list[Passage]:
        """Paragraphs in reading order, figures after them; the first 25,000 of a paper."""
        limit = min(limit, WINDOW - offset)
        if limit <= 0:
            return []
        order = [{"doc_type": "desc"}, {"cosmos_object_id": "asc"}, {"order": "asc"}]
        answer = self._search(
            {
                "query": {"term": {"paper_id": {"value": paper_id}}},
                "from": offset,
                "size": limit,
                "sort": order,
                "_source": _FIELDS,
                "track_total_hits": False,
            }
        )
        found = (hit["_source"] for hit in answer["hits"]["hits"])
        return [passage_of(held) for held in found if our_passage(held)]

    def topics(self) -> list[TopicCount]:
        """The 10,000 topics with the most passages, by name."""
        topics = {
            "terms": {"field": "topics", "size": _MOST_TOPICS},
            "aggs": {"papers": _papers()},
        }
        answer = self._search({"size": 0, "aggs": {"topics": topics}})
        found = [
            TopicCount(bucket["key"], bucket["papers"]["value"], bucket["doc_count"])
            for bucket in answer["aggregations"]["topics"]["buckets"]
        ]
        return sorted(found, key=lambda count: count.topic)

    def snapshot(self) -> CorpusSnapshot:
        """Counted by the engine, which keeps the answer until the index changes."""
        sums = {f"digest_{i}": {"sum": {"field": f"digest_{i}"}} for i in range(4)}
        answer = self._search(
            {
                "size": 0,
                "track_total_hits": True,
                "aggs": {
                    "papers": _papers(),
                    "first": {"filter": {"term": {"order": 0}}, "aggs": sums},
                    "encoder": {"terms": {"field": "encoder_id", "size": 1}},
                },
            }
        )
        found = answer["aggregations"]
        encoders = found["encoder"]["buckets"]
        return CorpusSnapshot(
            papers=found["papers"]["value"],
            passages=answer["hits"]["total"]["value"],
            digest=_digest(found["first"]),
            encoder_id=encoders[0]["key"] if encoders else "",
        )

    def _summaries(
        self, conditions: list[dict[str, Any]], after: str | None, limit: int
    ) -> list[PaperSummary]:
        # Without it they are nothing of ours.
        query = {"bool": {"filter": [*conditions, {"exists": {"field": "updated_at"}}]}}
        answer = self._search({**_grouped(after, limit), "query": query})
        return list(map(_summary, answer["aggregations"]["papers"]["buckets"]))

    def _search(self, body: dict[str, Any]) -> dict[str, Any]:
        answer = self._elastic.read(
            lambda client: client.search(index=self._names.base, **_arguments(body))
        )
        return whole(answer.body)


def passage_of(source: dict[str, Any]) -> Passage:
    return Passage(
        passage_id=source["passage_id"],
        paper_id=source["paper_id"],
        doc_type=source["doc_type"],
        preprocessor_id=source["preprocessor_id"],
        order=source["order"],
        text=source["text"],
        topics=tuple(sorted(source["topics"])),
        cosmos_object_id=source["cosmos_object_id"] or None,
        paragraph_terms=tuple(source["paragraph_terms"]),
    )


def _arguments(body: dict[str, Any]) -> dict[str, Any]:
    names = {"from": "from_", "_source": "source"}
    return {names.get(name, name): value for name, value in body.items()}


def _papers() -> dict[str, Any]:
    return {"cardinality": {"field": "paper_id", "precision_threshold": _PRECISION}}


def _grouped(after: str | None, limit: int) -> dict[str, Any]:
    """Passages by paper, by ascending paper id."""
    source = [{"paper_id": {"terms": {"field": "paper_id"}}}]
    composite: dict[str, Any] = {"size": limit, "sources": source}
    if after is not None:
        composite["after"] = {"paper_id": after}
    parts = {
        "topics": {"terms": {"field": "topics", "size": 1000}},
        "types": {"terms": {"field": "doc_type", "size": 10}},
        "preprocessors": {"terms": {"field": "preprocessor_id", "size": 100}},
        "updated": {"max": {"field": "updated_at"}},
    }
    return {"size": 0, "aggs": {"papers": {"composite": composite, "aggs": parts}}}


def _summary(bucket: dict[str, Any]) -> PaperSummary:
    types = {found["key"]: found["doc_count"] for found in bucket["types"]["buckets"]}
    updated = datetime.fromtimestamp(bucket["updated"]["value"] / 1000, UTC)
    return PaperSummary(
        paper_id=bucket["key"]["paper_id"],
        topics=tuple(sorted(_keys(bucket["topics"]))),
        paragraphs=types.get("paragraph", 0),
        figures=types.get("figure", 0),
        sections=types.get("section", 0),
        preprocessor_ids=tuple(sorted(_keys(bucket["preprocessors"]))),
        updated_at=updated.isoformat(timespec="seconds"),
    )


def _keys(aggregation: dict[str, Any]) -> Iterator[str]:
    return (bucket["key"] for bucket in aggregation["buckets"])


def _digest(first: dict[str, Any]) -> str:
    """Of all sources, in any order: their digests' parts added up, and how many there are.

    Sums of 32-bit numbers are exact in the engine's doubles up to two million sources.
    """
    parts = [int(first[f"digest_{i}"]["value"]) & _MASK for i in range(4)]
    return "".join(f"{part:08x}" for part in parts)
