"""What we wrote, told from what somebody else put beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from askem.models import DOC_TYPES
from askem.stores.servers.names import is_source_text, window_id

_TEXTS = ("passage_id", "paper_id", "preprocessor_id", "text", "revision", "content_hash")
_LISTS = ("topics", "paragraph_terms")
_KEPT = ("passage_id", "source", "revision")


def our_document(key: str, held: Mapping[str, Any]) -> bool:
    """Whether a document of Elasticsearch is a passage as we write it, under its own id."""
    return (
        held.get("passage_id") == key
        and our_passage(held)
        and all(isinstance(held.get(name), str) for name in (*_TEXTS, "updated_at"))
        and is_source_text(held.get("source"))
        and isinstance(held.get("windows"), int)
    )


def our_passage(held: Mapping[str, Any]) -> bool:
    """Whether it has all that a passage is made of."""
    return (
        all(isinstance(held.get(name), str) for name in _TEXTS[:4])
        and all(isinstance(held.get(name), list) for name in _LISTS)
        and isinstance(held.get("cosmos_object_id"), str)
        and held.get("doc_type") in DOC_TYPES
        and isinstance(held.get("order"), int)
    )


def our_object(uuid: str, held: Mapping[str, Any]) -> bool:
    """Whether an object of Weaviate is a window as we write it, under its own id; of its
    properties those of `Objects.passages` are enough."""
    return (
        all(isinstance(held.get(name), str) for name in _KEPT)
        and is_source_text(held["source"])
        # Weaviate's numbers come as floats.
        and all(isinstance(held.get(name), int | float) for name in ("order", "window", "windows"))
        and uuid == window_id(held["passage_id"], int(held["window"]))
    )
