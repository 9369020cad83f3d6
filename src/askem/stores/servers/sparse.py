"""The sparse leg: Elasticsearch proposes by BM25, exact BM25 decides.

The engine rounds passages' lengths and counts deleted ones until it merges. Its best are scored
again with exact statistics, counted in the same request; the embedded store does the same, so that
both give the same figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from askem.models import Filters, Screened
from askem.stores.scoring import candidates, find_terms, idf_of, screened
from askem.stores.servers.elastic import Elastic, whole
from askem.stores.servers.mappings import WINDOW
from askem.stores.servers.names import Names
from askem.stores.servers.terms import number, unpack, word

_ANSWER = [
    "responses.hits.hits.fields",
    "responses.hits.total",
    "responses.aggregations",
    "responses.timed_out",
    "responses._shards.failed",
    "responses.error.type",
    "responses.status",
]


class ElasticSparse:
    def __init__(self, elastic: Elastic, names: Names) -> None:
        self._elastic = elastic
        self._names = names

    def screen(self, terms: Sequence[str], top_k: int, filters: Filters) -> Screened:
        """The `top_k` passages with the highest BM25; ties by passage id."""
        if not terms:
            return _nothing()
        limit = min(candidates(top_k), WINDOW)
        header = {"index": self._names.base}
        searches = [
            header,
            _best(terms, filters, limit),
            header,
            _frequencies(terms),
            header,
            _CORPUS,
        ]
        answer = self._elastic.read(
            lambda client: client.msearch(searches=searches, filter_path=_ANSWER)
        )
        best, counted, corpus = map(whole, answer["responses"])
        frequencies = np.array(_counts(counted, len(terms)), dtype=np.int64)
        passages = corpus["hits"]["total"]["value"]
        mean_length = corpus["aggregations"]["length"]["value"] / max(passages, 1)
        fields = [hit["fields"] for hit in best.get("hits", {}).get("hits", [])]
        tokens, lengths = unpack(field["token_numbers"][0] for field in fields)
        asked = np.array([number(term) for term in terms], dtype=np.int64)
        return screened(
            ids=[field["passage_id"][0] for field in fields],
            lengths=lengths,
            hits=find_terms(tokens, lengths, asked),
            idf=idf_of(frequencies, passages),
            frequencies=frequencies,
            mean_length=mean_length,
            top_k=top_k,
        )

    def vocabulary(self, terms: Sequence[str]) -> Mapping[str, int]:
        """Counted in one request; the engine's own suggester counts deleted passages too."""
        if not terms:
            return {}
        searches = [{"index": self._names.base}, _frequencies(terms)]
        answer = self._elastic.read(
            lambda client: client.msearch(searches=searches, filter_path=_ANSWER)
        )
        (counted,) = map(whole, answer["responses"])
        counts = zip(terms, _counts(counted, len(terms)), strict=True)
        return {term: n for term, n in counts if n}


def _counts(counted: dict[str, Any], terms: int) -> list[int]:
    """What `_frequencies` of so many terms found, in their order."""
    buckets = counted["aggregations"]["terms"]["buckets"]
    return [int(buckets[str(i)]["doc_count"]) for i in range(terms)]


def _best(terms: Sequence[str], filters: Filters, limit: int) -> dict[str, Any]:
    """Column values alone: the stored fields, which hold the text, are not opened."""
    return {
        "query": {
            "bool": {
                "should": [_term(term) for term in terms],
                "minimum_should_match": 1,
                "filter": conditions(filters),
            }
        },
        "size": limit,
        "track_total_hits": False,
        "_source": False,
        "stored_fields": "_none_",
        "docvalue_fields": ["passage_id", "token_numbers"],
    }


def _frequencies(terms: Sequence[str]) -> dict[str, Any]:
    named = {str(i): _term(term) for i, term in enumerate(terms)}
    return {
        "size": 0,
        "track_total_hits": False,
        "aggs": {"terms": {"filters": {"filters": named}}},
    }


# The same for every question: the engine answers it from its cache until the index changes.
_CORPUS = {
    "size": 0,
    "track_total_hits": True,
    "aggs": {"length": {"sum": {"field": "length"}}},
}


def _term(term: str) -> dict[str, Any]:
    return {"term": {"tokens": {"value": word(term)}}}


def conditions(filters: Filters) -> list[dict[str, Any]]:
    """What all must hold; values match whole and exactly."""
    found: list[dict[str, Any]] = []
    singles = {
        "topics": filters.topic,
        "doc_type": filters.doc_type,
        "preprocessor_id": filters.preprocessor_id,
    }
    for name, value in singles.items():
        if value is not None:
            found.append({"term": {name: {"value": value}}})
    if filters.paper_ids:
        found.append({"terms": {"paper_id": list(filters.paper_ids)}})
    if filters.paragraph_terms:
        found.append({"terms": {"paragraph_terms": list(filters.paragraph_terms)}})
    return found


def _nothing() -> Screened:
    floats, whole_numbers = np.empty(0), np.empty(0, dtype=np.int32)
    return Screened(
        passage_ids=[],
        bm25=floats,
        idf=floats,
        document_frequency=np.empty(0, dtype=np.int64),
        hit_rows=whole_numbers,
        hit_positions=whole_numbers,
        hit_terms=whole_numbers,
    )
