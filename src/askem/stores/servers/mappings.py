"""How passages lie in Elasticsearch and in Weaviate."""

from __future__ import annotations

from typing import Any

from weaviate.classes.config import Configure, DataType, Property, Tokenization, VectorDistances

from askem.stores.scoring import K1, B
from askem.text.analysis import ANALYZER_ID

WINDOW = 25_000
"""Most passages a search returns: twice the most that a request may screen, and some."""
FLAT_SEARCH_CUTOFF = 200_000
"""Searches that filters leave fewer objects than this compare every one: exact."""

_KEYWORD = {"type": "keyword"}
_STORED = {"type": "keyword", "index": False, "doc_values": False}
_LONG = {"type": "long", "index": False}


def settings() -> dict[str, Any]:
    return {
        "number_of_shards": 1,  # statistics are then one shard's, which is all of them
        "auto_expand_replicas": "0-1",  # yellow on one node otherwise
        # Writers refresh when they are done.
        "refresh_interval": "5s",
        "max_result_window": WINDOW,
        "similarity": {"passages": {"type": "BM25", "k1": K1, "b": B}},
    }


def passages(meta: dict[str, Any]) -> dict[str, Any]:
    """The mapping. Tokens come analysed, joined by spaces: one analyzer for all stores."""
    return {
        "dynamic": "strict",
        "_meta": {**meta, "analyzer_id": ANALYZER_ID},
        # Both come from the text again, should the index be copied.
        "_source": {"excludes": ["tokens", "token_numbers"]},
        "properties": {
            "passage_id": _KEYWORD,
            "paper_id": _KEYWORD,
            "doc_type": _KEYWORD,
            "cosmos_object_id": _KEYWORD,
            "preprocessor_id": _KEYWORD,
            "encoder_id": _KEYWORD,
            "topics": _KEYWORD,
            "paragraph_terms": _KEYWORD,
            "source": _KEYWORD,
            "revision": _KEYWORD,
            "content_hash": _STORED,
            "text": _STORED,
            "order": {"type": "integer"},
            "windows": {"type": "integer"},
            "length": {"type": "integer", "index": False},
            "updated_at": {"type": "date"},
            "tokens": {
                "type": "text",
                "analyzer": "whitespace",
                "similarity": "passages",
                "index_options": "freqs",
            },
            "token_numbers": {"type": "binary", "doc_values": True},
            # The digest of the source, in four parts that add up over sources; on order 0 alone.
            **{f"digest_{i}": _LONG for i in range(4)},
        },
    }


def ledger() -> dict[str, Any]:
    names = (
        "paper_id doc_type cosmos_object_id state content_hash preprocessor_id encoder_id topics"
    )
    return {
        "dynamic": "strict",
        "properties": {
            **dict.fromkeys(names.split(), _KEYWORD),
            "passages": {"type": "integer", "index": False},
            "windows": {"type": "integer", "index": False},
            "updated_at": _STORED,
            "error": _STORED,
        },
    }


def lease() -> dict[str, Any]:
    return {"dynamic": "strict", "properties": {"owner": _KEYWORD, "turn": {"type": "long"}}}


def properties() -> list[Property]:
    """Weaviate's: ids match whole (`field`), nothing is searched by words."""

    def exact(name: str, kind: DataType = DataType.TEXT) -> Property:
        return Property(
            name=name,
            data_type=kind,
            tokenization=Tokenization.FIELD,
            index_filterable=True,
            index_searchable=False,
        )

    def number(name: str) -> Property:
        return Property(name=name, data_type=DataType.INT, index_filterable=True)

    def stored(name: str) -> Property:
        return Property(
            name=name, data_type=DataType.TEXT, index_filterable=False, index_searchable=False
        )

    return [
        *map(exact, ("passage_id", "paper_id", "doc_type", "preprocessor_id", "source")),
        exact("revision"),
        exact("topics", DataType.TEXT_ARRAY),
        exact("paragraph_terms", DataType.TEXT_ARRAY),
        *map(number, ("order", "window", "windows")),
        # On window 0, so that `/vector` can answer without Elasticsearch.
        *map(stored, ("text", "cosmos_object_id")),
    ]


def vectors() -> Any:
    """Own vectors, cosine, unquantised."""
    return Configure.Vectors.self_provided(
        vector_index_config=Configure.VectorIndex.hnsw(
            distance_metric=VectorDistances.COSINE,
            ef_construction=256,
            max_connections=32,
            dynamic_ef_min=200,
            dynamic_ef_max=1000,
            dynamic_ef_factor=10,
            flat_search_cutoff=FLAT_SEARCH_CUTOFF,
            quantizer=Configure.VectorIndex.Quantizer.none(),
        )
    )
