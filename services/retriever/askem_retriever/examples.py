"""Examples of requests and answers in the OpenAPI document."""

from __future__ import annotations

from typing import Any

from askem.http.wire import SEARCH_MEDIA_TYPE

_QUESTION = "What is SIDARTHE model?"

VECTOR: dict[str, Any] = {
    "The five nearest passages": {"question": _QUESTION},
    "Steered, and only what is near": {
        "question": "how do interventions change transmission",
        "top_k": 10,
        "distance": 0.6,
        "move_to": "school closures",
        "move_to_weight": 0.3,
    },
}
HYBRID: dict[str, Any] = {
    "With the defaults": {"question": _QUESTION},
    "Within a topic and some papers": {
        "question": _QUESTION,
        "top_k": 3,
        "screening_top_k": 200,
        "ranking": "proximity",
        "topic": "covid-19",
        "doc_type": "paragraph",
        "paper_ids": ["sidarthe-lombardy"],
        "paragraph_terms": ["SIDARTHE"],
    },
}
EXPLAIN: dict[str, Any] = {
    "With the defaults": {"question": _QUESTION, "passage_id": "sidarthe-lombardy#p0"},
}
SEARCH: dict[str, Any] = {
    "Hybrid": {"question": _QUESTION, "top_k": 3},
    "Dense only": {"question": _QUESTION, "mode": "vector"},
}

PASSAGE: dict[str, Any] = {
    "paper_id": "sidarthe-lombardy",
    "doc_type": "paragraph",
    "text": "The SIDARTHE model has eight stages of infection.",
    "cosmos_object_id": None,
    "article_terms": [],
    "paragraph_terms": ["SIDARTHE"],
    "passage_id": "sidarthe-lombardy#p0",
    "topics": ["covid-19"],
    "preprocessor_id": "papers-v1",
    "order": 0,
}
_HIT = {**PASSAGE, "distance": 0.21, "score": 2.43}
HITS = [_HIT]
SEARCH_RESPONSE: dict[str, Any] = {
    "hits": [{**_HIT, "bm25": 6.1, "sparse_rank": 1, "dense_rank": 1, "rerank_score": None}],
    "mode": "hybrid",
    "ranking": "proximity",
    "filters": {
        "topic": None,
        "doc_type": None,
        "preprocessor_id": None,
        "paragraph_terms": [],
        "paper_ids": [],
    },
    "max_distance": None,
    "steering": {
        "move_to": None,
        "move_to_weight": 0.0,
        "move_away_from": None,
        "move_away_from_weight": 0.0,
    },
    "screened": 100,
    "nearest_top_k": 0,
    "joined": 0,
    "rerank_top_k": 0,
    "reranked": 0,
    "terms": ["sidarth", "model"],
    "idf": [5.9, 2.0],
    "unknown_terms": [],
    "repairs": [],
    "score_scale": 7.9,
    "nearest_distance": 0.21,
    "timings_ms": {
        "sparse": 0.7,
        "encode": 2.9,
        "dense": 0.3,
        "nearest": 0.4,
        "rank": 0.9,
        "total": 4.6,
    },
    "snapshot": {
        "papers": 1200,
        "passages": 98304,
        "digest": "b7c1f6a0",
        "encoder_id": "minilm-int8-4f2a",
    },
}
EXPLANATION: dict[str, Any] = {
    "passage": PASSAGE,
    "excluded_by": [],
    "beyond_distance": False,
    "sparse": {
        "bm25": 6.1,
        "terms": [
            {"term": "sidarth", "tf": 2, "document_frequency": 3, "idf": 6.4, "share": 4.6},
            {"term": "model", "tf": 1, "document_frequency": 900, "idf": 2.9, "share": 1.5},
        ],
        "length": 31,
        "norm": 0.87,
        "rank": 1,
        "screened": True,
        "last_screened": 1.2,
    },
    "dense": {"distance": 0.21, "unsteered": 0.21, "rank": 1, "joined": False},
    "ranking": {
        "ranking": "proximity",
        "score": 2.43,
        "rank": 1,
        "parts": {
            "bm25": 6.1,
            "cluster": 8.8,
            "pairs": 3.1,
            "pair_weight": 0.5,
            "scale": 9.3,
            "cosine": 0.79,
            "cosine_weight": 1.1,
        },
    },
}
TOPICS = [{"topic": "covid-19", "papers": 1200, "passages": 98304}]
_PAPER = {
    "paper_id": "sidarthe-lombardy",
    "topics": ["covid-19"],
    "paragraphs": 41,
    "figures": 3,
    "sections": 0,
    "preprocessor_ids": ["papers-v1"],
    "updated_at": "2026-01-31T12:00:00Z",
}
PAPERS: dict[str, Any] = {"papers": [_PAPER], "next": "sidarthe-lombardy"}
PAPER: dict[str, Any] = {**_PAPER, "passages": [PASSAGE]}


EXPANDED: dict[str, Any] = {"schema": {"$ref": "#/components/schemas/SearchResponse"}}
HYBRID_HEADERS: dict[str, Any] = {
    "Vary": {"schema": {"type": "string", "const": "Accept"}},
    "Askem-Repairs": {
        "description": "Where words were read as others: `word=read_as`, commas between, "
        "percent-encoded UTF-8.",
        "schema": {"type": "string"},
    },
    "Askem-Reranked": {
        "description": "Where a reranker has read passages: how many.",
        "schema": {"type": "integer"},
    },
}


ANSWERS: dict[str, Any] = {
    "vector": HITS,
    "hybrid": HITS,
    f"hybrid {SEARCH_MEDIA_TYPE}": SEARCH_RESPONSE,
    "search": SEARCH_RESPONSE,
    "explain": EXPLANATION,
    "explain_search": EXPLANATION,
    "topics": TOPICS,
    "papers": PAPERS,
    "paper": PAPER,
    "passage": PASSAGE,
}
"""Operation id, and media type where it is not JSON, to answer."""
